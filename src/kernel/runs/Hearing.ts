/**
 * Signals that durable runs hear: cells of the runs keep them, and the runs then go on.
 *
 *     /rt/ops/<oid>/heard/<pair>/<nth>           { id, signal, target, label? }
 *     /rt/ops/<oid>/heard/<pair>/<nth>/payload   the payload
 *
 * A capture keeps the signals of pairs that a run hears already. A run that comes to hear a pair in a beat also hears the
 * signals of this beat that follow its own event on the agenda; the merge keeps these.
 *
 * @module
 */
import type * as Address from "../../cell/Address.ts"
import * as Codec from "../../cell/Document.ts"
import * as Label from "../../cell/Label.ts"
import type { Value } from "../../cell/Value.ts"
import * as DeclaredPairs from "../../durable/DeclaredPairs.ts"
import * as Note from "../../durable/Note.ts"
import * as Pairs from "../../durable/Pairs.ts"
import * as Dossier from "../../operation/Dossier.ts"
import { CAPTURE, COMMIT, type Stage } from "../../stage/Stage.ts"
import * as Semantics from "../../stage/Semantics.ts"
import type { BeatClock } from "../../stage/BeatClock.ts"
import type { CapturedSignal, Handling, InFlight, TakenSignal, Waits } from "../model/InFlight.ts"
import { type Heard, MAX_HEARD, resultOfHeard, type Signal } from "../model/Signal.ts"
import { type BeatSignals, mayBeHeard } from "./BeatSignals.ts"
import type { HeardBy, ResumePhase, RunInput } from "../beat/RunExecutor.ts"
import * as Run from "../beat/step/Run.ts"
import type { RunHost } from "../watchdog/RunHost.ts"

/** The place of a heard signal in a run. */
type Place = Omit<Heard, "isAwaited">

const nobody: HeardBy = new Map()

const folderOf = (oid: string, pair: number): Address.Address => Dossier.address(oid, "heard", String(pair))

/** The cell of a heard signal. */
export const addressOf = ({ nth, oid, pair }: Place): Address.Address => Dossier.address(oid, "heard", String(pair), String(nth))

const payloadOf = ({ nth, oid, pair }: Place): Address.Address => Dossier.address(oid, "heard", String(pair), String(nth), "payload")

/** Tells how many signals of a pair a run has heard. */
const countIn = (stage: Stage) => (oid: string, pair: number): number => stage.merged("space", folderOf(oid, pair).id).length

/** Step 4: keeps the captured signals that durable runs hear, and has these runs go on. */
export const capture = (taken: ReadonlyArray<TakenSignal>, transaction: ResumePhase, input: Pick<RunInput, "hearers">): HeardBy => {
  let found: Map<InFlight, ReadonlyArray<Heard>> | undefined
  const { stage } = transaction
  const countOf = countIn(stage)
  for (const one of taken) {
    const { flight } = one
    if (!mayBeHeard(one)) continue
    const hearers = input.hearers(flight, countOf)
    if (hearers.length === 0) continue
    const heard = hearers.filter((by) => isHeardAt(by, stage))
    if (heard.length === 0) continue
    ;(found ??= new Map()).set(flight, heard)
    for (const by of heard) {
      keep(by, flight.signal, { stage, writer: CAPTURE })
      if (by.isAwaited) transaction.resumed.push(by.oid)
    }
  }
  return found ?? nobody
}

/** Whether a run still hears a pair. One that a rollback took back hears only those that it heard there. */
const isHeardAt = ({ oid, pair }: Place, stage: Stage): boolean =>
  pair < (Note.read(stage.newest(Note.addressOf(oid).key)).pairs ?? Infinity)

const keep = (by: Heard, { id, label, payload, signal, target }: Signal, to: { readonly stage: Stage; readonly writer: number }): void => {
  const { stage, writer } = to
  stage.put(addressOf(by), Codec.encode({ id, signal, target, ...label === undefined ? {} : { label } }), writer)
  if (payload !== undefined) stage.put(payloadOf(by), payload, writer)
}

/** The pairs that the enzyme of a handling declares for its event. */
export const declaredPairs = (handling: Handling, host: RunHost): ReadonlyArray<Pairs.Pair> =>
  handling.entry === undefined ? [] : host.scope.inside(() => Pairs.declared(handling.entry!.enzyme, () => Run.toEvent(handling)))

/** Whether a handling was not attempted before, so that its run hears no signal yet. */
export const isNew = ({ why }: Pick<Handling, "why">): boolean => why === undefined || why === "redelivery"

/** A run that has come to hear pairs, and the number of those that it heard before this beat. */
type Hearer = Pick<Waits, "begun" | "known" | "oid">

/** The parts of a merge that hear. */
interface Merging {
  readonly moment: BeatClock
  readonly signals: BeatSignals
  readonly stage: Stage
}

/**
 * Keeps the signals of the beat that a run has come to hear, unless it heard them at their capture. Returns whether the run
 * awaits one of them.
 */
export const begin = (handling: Handling, { begun, known, oid }: Hearer, { moment, signals, stage }: Merging): boolean => {
  let isAwaited = false
  const enzyme = Semantics.follows(moment, "hearerIsNamed") ? handling.key : undefined
  for (const [i, pair] of begun.entries()) {
    const [, , waits] = pair
    const found = signals.after(handling.flight, pair).filter((captured) => !isHeardBy(captured, oid))
    if (found.length === 0) continue
    const first = countIn(stage)(oid, known + i)
    found.slice(0, Math.max(0, waits + MAX_HEARD - first)).forEach((captured, at) => {
      const { flight } = captured
      const nth = first + at
      const heard: Heard = { enzyme, isAwaited: nth < waits, nth, oid, pair: known + i }
      keep(heard, flight.signal, { stage, writer: COMMIT })
      ;(captured.heard ??= []).push(heard)
      flight.over.push(handlingOf(flight, heard, handling))
      isAwaited ||= heard.isAwaited
    })
  }
  return isAwaited
}

/** Whether a run heard a signal at its capture. */
const isHeardBy = ({ handlings }: CapturedSignal, oid: string): boolean => handlings.some(({ key }) => key === oid)

/** The handling of a signal by a run that heard it. It is no run of the beat. */
const handlingOf = (flight: InFlight, heard: Heard, { beat, run }: Pick<Handling, "beat" | "run">): Handling => ({
  flight, beat, run,
  key: heard.oid,
  entry: undefined,
  attempt: 1,
  why: undefined,
  losses: 0,
  timeouts: 0,
  segment: 0,
  waiting: undefined,
  headOf: undefined,
  draft: undefined,
  outcome: { kind: "ok", result: resultOfHeard(heard) },
  label: flight.signal.label ?? Label.none
})

/** Deletes the heard signals of a run that ends without a dossier. */
export const drop = (oid: string, stage: Stage): void => {
  const declared = DeclaredPairs.read(oid, (key) => stage.newest(key))
  if (declared.length > 0) stage.put(DeclaredPairs.addressOf(oid), undefined, COMMIT)
  for (let pair = 0; pair < Math.max(declared.length, Pairs.MAX_DECLARED); pair++) {
    const count = stage.merged("space", folderOf(oid, pair).id).length
    for (let nth = 0; nth < count; nth++) {
      for (const address of [addressOf({ oid, pair, nth }), payloadOf({ oid, pair, nth })]) {
        if (stage.newest(address.key) !== undefined) stage.put(address, undefined, COMMIT)
      }
    }
  }
}

/** The document of a heard signal. */
type Kept = Pick<Signal, "id" | "label" | "signal" | "target">

/** A signal that a run heard, with its label. */
export interface HeardValue {
  readonly payload: Codec.Document | undefined
  /** Makes the value. That of a rich payload is another one each time. */
  readonly value: () => Value
  readonly label: Label.Label
}

/** Reads a heard signal; `undefined` if the run has not heard it yet. */
export const read = (heard: Place, visible: (key: string) => Codec.Document | undefined): HeardValue | undefined => {
  const document = visible(addressOf(heard).key)
  if (document === undefined) return undefined
  const { id, label = [], signal, target } = Codec.read(document, []) as unknown as Kept
  const payload = visible(payloadOf(heard).key)
  // In the order of the keys, as the step log has it.
  return { payload, value: () => Object.freeze({ id, payload: Codec.read(payload, []), signal, target }) as Value, label }
}
