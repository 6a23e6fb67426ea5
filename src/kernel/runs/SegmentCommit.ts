/**
 * The commit of segments: the dossier and the step log of a durable run.
 *
 * @module
 */
import * as Cells from "../../durable/Cells.ts"
import * as DeclaredPairs from "../../durable/DeclaredPairs.ts"
import { Log } from "../../durable/Log.ts"
import * as Note from "../../durable/Note.ts"
import { CANCELLED, TAKEN_BACK } from "../../durable/RunCode.ts"
import type { Pair } from "../../durable/Pairs.ts"
import * as SentEvent from "../../durable/SentEvent.ts"
import * as Step from "../../durable/Step.ts"
import { COMMIT } from "../../stage/Stage.ts"
import * as Semantics from "../../stage/Semantics.ts"
import { DEAD } from "../../ledger/RunState.ts"
import * as Dossier from "../../operation/Dossier.ts"
import * as Verbs from "../../operation/Verbs.ts"
import * as Requests from "../../reactor/Request.ts"
import type { CapturedSignal, Handling, Waits } from "../model/InFlight.ts"
import type { RunExecutor, RunMerge } from "../beat/RunExecutor.ts"
import type { WaitingRun } from "../model/Signal.ts"
import type { BeatSignals } from "./BeatSignals.ts"
import * as Hearing from "./Hearing.ts"
import { codeOf, oidOf, stepAddress } from "./Segment.ts"

/** A run between two attempts at a segment, with the signals that it hears and that its log does not have. */
interface Between extends Pick<Waits, "begun" | "known" | "oid"> {
  /** Whether this attempt is the first one that declares some of them. */
  readonly isNew: boolean
  readonly run: WaitingRun
}

/** The bodies of a space that wait, and the signals that they may have come to hear. */
interface WaitingBodies {
  readonly signalsOf: (merge: RunMerge) => BeatSignals
  /** Keeps the body until the next segment. */
  readonly keep: (waits: Waits) => void
}

/**
 * Puts the steps of runs that wait into their logs, and keeps their bodies. The first step starts the operation. A run that hears
 * an awaited signal of this beat goes on at once.
 */
export const waitOf = ({ keep, signalsOf }: WaitingBodies): RunExecutor["wait"] => (handling, waits, merge) => {
  const { captured: { ledgers, moment, stage } } = merge
  const { continuation, dues, isAhead, listed, note, oid, segment, step: { document, parts } } = waits
  const address = stepAddress(oid, segment)
  if (segment === 0) continuation.isNew = stage.newest(address.key) === undefined
  if (continuation.isNew) stage.create(address, document, COMMIT)
  else stage.put(address, document, COMMIT)
  putParts(stage, oid, { parts, segment })
  if (isAhead) stage.put(DeclaredPairs.addressOf(oid), undefined, COMMIT)
  Note.leave(stage, oid, note)
  if (segment === 0 && !isKnown(stage, oid)) start(handling, oid, ledgers)
  const isHeard = Hearing.begin(handling, waits, { moment, signals: signalsOf(merge), stage })
  keep(waits)
  // After the signals, since the entry of the beat has its changes in this order.
  adopt(handling, merge)
  return { oid, dues: isHeard ? [{ beat: handling.beat, moment: undefined }] : dues, ...listed }
}

const putParts = (
  stage: RunMerge["captured"]["stage"],
  oid: string,
  { parts, segment }: Pick<Step.StoredStep, "parts"> & Pick<Waits, "segment">
): void => parts.forEach((part, number) => stage.put(stepAddress(oid, segment, number), part, COMMIT))

const start = ({ flight, key }: Handling, oid: string, ledgers: RunMerge["captured"]["ledgers"]): void => {
  const target = `${flight.signal.id} ${key}`
  ledgers.amend((draft) => void Verbs.start(draft, { oid, verb: Cells.VERB, target, mode: "opm:states" }, undefined))
}

/** Whether the operation is there. A rollback may have taken it back. */
const isKnown = (stage: RunMerge["captured"]["stage"], oid: string): boolean => stage.newest(Dossier.address(oid).key) !== undefined

/**
 * Closes the operation of a run that is over, and cancels its open requests. A run of one segment has one if it made requests,
 * or was started anew.
 */
export const finish = (handling: Handling, merging: RunMerge): void => {
  const { captured: { ledgers, stage }, state } = merging
  const oid = oidOf(handling, state.hash)
  if (handling.segment === 0 && handling.draft?.owner === undefined && !Note.isNoted(stage, oid)) return leave(handling, merging)
  Note.leave(stage, oid, undefined)
  state.inbox.runs.forget(oid)
  if (handling.segment === 0 && !isKnown(stage, oid)) start(handling, oid, ledgers)
  if (!isKnown(stage, oid)) return
  ledgers.amend((draft) => {
    if (Semantics.follows(draft.moment, "requestsEndWithRun")) draft.operate([], Requests.ending(oid))
    Verbs.close(draft, { oid, status: "sts:ok", summary: undefined })
  })
}

/** Whether a handling is that of a run which started anew, also if its enzyme is not durable any more. */
export const isAnew = (handling: Handling, { captured: { moment, stage }, state }: RunMerge): boolean =>
  handling.why !== undefined && Semantics.follows(moment, "runsStayDurable") && Note.isNoted(stage, oidOf(handling, state.hash))

/** Drops the signals that a run of one segment heard between its attempts, also for an earlier module that declared them. */
export const leave = (handling: Handling, { captured: { moment, stage }, state }: RunMerge): void => {
  if (Hearing.isNew(handling)) return
  const oid = oidOf(handling, state.hash)
  // Without its enzyme, the run may have heard any signal.
  const hears = handling.entry?.enzyme.hears
  const isSilent = Array.isArray(hears) && hears.length === 0
  const isHearing = Semantics.follows(moment, "attemptsDeclare") && DeclaredPairs.read(oid, (key) => stage.newest(key)).length > 0
  if (isSilent && !isHearing) return
  state.inbox.runs.forget(oid)
  Hearing.drop(oid, stage)
}

/** Cancels the operation of a run that a rollback discarded. */
export const discard = ({ flight, pending: { again } }: CapturedSignal, { captured: { ledgers, stage }, state }: RunMerge): void => {
  if (again === undefined) return
  const oid = Cells.oidOf(flight.signal.id, again.enzyme, state.hash)
  if (again.segment === undefined) return Hearing.drop(oid, stage)
  Note.leave(stage, oid, undefined)
  if (isKnown(stage, oid)) ledgers.amend((draft) => Verbs.close(draft, { oid, status: "sts:cnl", summary: undefined }))
}

/** Puts the module by which a letter goes on into the log, so that the run stays with it. Other handlings have no other module. */
export const adopt = (handling: Handling, { captured: { stage }, state }: RunMerge): void => {
  if (handling.why !== "redelivery" || handling.segment === 0) return
  const oid = oidOf(handling, state.hash)
  const first = stepAddress(oid, 0)
  const step = Step.decode(stage.newest(first.key))
  const { code } = codeOf(handling.entry)
  if (step === undefined || step.code === code) return
  const { code: _, ...rest } = step
  const { document, parts } = Step.encode({ ...rest, ...codeOf(handling.entry) })
  stage.put(first, document, COMMIT)
  putParts(stage, oid, { parts, segment: 0 })
}

/**
 * The run of a handling that is attempted again, if it hears signals that its log does not have: those that this attempt or an
 * earlier one at the segment declares.
 */
export const between = (handling: Handling, { captured: { moment, stage }, state: { hash, host } }: RunMerge): Between | undefined => {
  const isFirst = handling.segment === 0
  const isKept = Semantics.follows(moment, "attemptsDeclare")
  if (!isFirst && !isKept) return undefined
  const oid = oidOf(handling, hash)
  const read = (key: string) => stage.newest(key)
  const first = isFirst ? undefined : Step.decode(read(stepAddress(oid, 0).key))
  const declared = isFirst || isOfToday(handling, first) ? Hearing.declaredPairs(handling, host) : none
  const before = isKept ? DeclaredPairs.read(oid, read) : none
  // Most often the first step has what the module declares, and the log is not read.
  if (before.length === 0 && declared.every((pair) => isIn(first?.hears ?? none, pair))) return undefined
  const { pairs } = Log.of(isFirst ? [] : Cells.stepsOf(oid, read))
  const known = pairs.size
  for (const pair of before) pairs.hear(pair)
  const isNew = declared.some((pair) => pairs.numberOf(pair) === undefined)
  for (const pair of declared) pairs.hear(pair)
  if (pairs.size === known) return undefined
  const run = { ...handling.waiting, oid, dues: [], hears: pairs.from(0), changed: undefined }
  return { begun: pairs.from(known), known, oid, isNew, run }
}

const isIn = (pairs: ReadonlyArray<Pair>, [signal, target]: Pair): boolean => pairs.some((pair) => pair[0] === signal && pair[1] === target)

/** Whether a run goes on with the module of today, and hears what it declares. */
const isOfToday = ({ entry }: Handling, first: Step.Step | undefined): boolean =>
  first === undefined ||
  ((first.code === undefined || first.code === codeOf(entry).code) &&
    Semantics.follows({ semantics: Semantics.read(first.semantics) }, "hearsByName"))

/** Has a run hear signals until its next attempt, with the ones of this beat. */
export const hear = (
  handling: Handling,
  between: Between,
  { merge: { captured: { moment, stage } }, signals }: { readonly merge: RunMerge; readonly signals: BeatSignals }
): void => {
  const isKept = Semantics.follows(moment, "attemptsDeclare")
  if (isKept || Hearing.isNew(handling)) Hearing.begin(handling, between, { moment, signals, stage })
  if (isKept && between.isNew) stage.put(DeclaredPairs.addressOf(between.oid), DeclaredPairs.write(between.begun), COMMIT)
}

/** Closes the operation of a run that a rollback took back, and deletes its log. */
const takeBack = (oid: string, { ledgers, stage }: Pick<RunMerge["captured"], "ledgers" | "stage">): void => {
  for (const folder of ["step", "heard", SentEvent.FOLDER]) Cells.erase(stage, Cells.address(oid, folder), COMMIT)
  ledgers.amend((draft) => Verbs.close(draft, { oid, status: "sts:cnl", summary: undefined }))
}

/** Marks the operation of a run that was given up, and cancels its open requests. Its log stays. Returns the run, if there is one. */
export const die = (handling: Handling, code: string, merging: RunMerge): string | undefined => {
  const { captured: { ledgers, stage }, state } = merging
  if (handling.segment === 0 && handling.entry?.enzyme.durable !== true && !isAnew(handling, merging)) return void leave(handling, merging)
  const oid = oidOf(handling, state.hash)
  if (!isKnown(stage, oid)) return void leave(handling, merging)
  const [first] = code === TAKEN_BACK ? Cells.stepsOf(oid, (key) => stage.newest(key)) : []
  const { anew = first?.anew } = Note.read(stage.newest(Note.addressOf(oid).key))
  // The first step has the number, unless it is deleted.
  const isLogged = handling.segment > 0 && code !== TAKEN_BACK
  Note.leave(stage, oid, anew === undefined || isLogged ? undefined : { anew })
  state.inbox.runs.forget(oid)
  if (code === TAKEN_BACK) {
    takeBack(oid, { ledgers, stage })
    return oid
  }
  ledgers.amend((draft) => {
    if (code === CANCELLED || Semantics.follows(draft.moment, "requestsEndWithRun")) draft.operate([], Requests.ending(oid))
    Verbs.setState(draft, { oid, state: DEAD, note: code })
  })
  return oid
}

const none: ReadonlyArray<Pair> = []
