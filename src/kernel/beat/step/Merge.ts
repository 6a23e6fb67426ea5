/**
 * Step 9 of a beat: merges its runs into writes, further attempts and dead letters.
 *
 * Runs are merged in the order of the agenda, and the first to commit wins. A run that fails or loses is queued again, or its
 * dead letter takes the place of the receipt.
 *
 * @module
 */
import * as Address from "../../../cell/Address.ts"
import * as Document from "../../../cell/Document.ts"
import * as Diagnostic from "../../../diagnostic/Diagnostic.ts"
import { CODE_MISSING, UNDO_LOST } from "../../../durable/RunCode.ts"
import type { BlobRow, ReceiptRow, SpaceStore } from "../../../persistence/Persistence.ts"
import { PersistenceError } from "../../../persistence/PersistenceError.ts"
import * as StoreFormat from "../../../persistence/StoreFormat.ts"
import type { Draft } from "../../../stage/Draft.ts"
import type { Due } from "../../../stage/Due.ts"
import * as Envelope from "../../../stage/Envelope.ts"
import * as Semantics from "../../../stage/Semantics.ts"
import type { Conflict } from "../../../stage/Stage.ts"
import type { OutgoingSignal } from "../../../stage/Launch.ts"
import { TransactionRefused } from "../../../stage/TransactionRefused.ts"
import { GATED } from "../../derived/DerivationPort.ts"
import { failure, undoFailure } from "../../model/Failure.ts"
import * as InFlights from "../../model/InFlight.ts"
import type { CapturedSignal, RunFailure, InFlight, Outcome } from "../../model/InFlight.ts"
import * as SpaceMode from "../../model/SpaceMode.ts"
import * as Signal from "../../model/Signal.ts"
import { STUCK } from "../../watchdog/Stuck.ts"
import type { RunHost } from "../../watchdog/RunHost.ts"
import type { Inbox } from "../../inbox/Inbox.ts"
import type { Settings } from "../../model/Limits.ts"
import type { RunExecutor } from "../RunExecutor.ts"
import type { BeatTransaction } from "../BeatTransaction.ts"
import * as DeadLetter from "../command/DeadLetter.ts"
import * as DiagnosticsCommit from "./DiagnosticsCommit.ts"
import * as LabelCheck from "./LabelCheck.ts"
import type { Captured, Executed, ExecutedHandling } from "../Phases.ts"
import * as Receipts from "./Receipts.ts"
import * as RetryTime from "./RetryTime.ts"
import * as Run from "./Run.ts"

/** The state of a space that merges the runs of a beat. */
export interface MergeSpace {
  readonly hash: (data: string | Uint8Array) => string
  readonly host: RunHost
  readonly inbox: Inbox
  /** Draws the next queue number. */
  readonly number: () => number
  /** Executes durable handlings. */
  readonly runs: RunExecutor
  readonly settings: Settings
  readonly space: string
  readonly store: Pick<SpaceStore, "format">
}

/** A lost conflict, or a lock with its holder. */
type Lost = Conflict & { readonly holder?: string | undefined }

/** Losses in a row after which a run is reported, once. */
const REPORTED_LOSSES = 3

/** The maximum size of a failed run in the journal besides its payload, in characters: its line, message, letter and diagnostic. */
const FAILURE = 4096

/**
 * The results of the merge.
 */
export class MergeResult {
  readonly captured: Captured
  readonly transaction: BeatTransaction
  readonly state: MergeSpace
  readonly receipts: Array<ReceiptRow> = []
  readonly blobs: Array<BlobRow>
  readonly completed: Array<InFlight> = []
  /** All flights of the beat, in the order of the agenda. */
  readonly flights: Array<InFlight> = []
  /** Whether an outcome was fatal, so that the space shuts down. */
  shutsDown = false

  constructor(captured: Captured, state: MergeSpace) {
    this.captured = captured
    this.transaction = captured.transaction
    this.state = state
    this.blobs = [...captured.begun.texts]
  }
}

/**
 * Merges the runs of a beat, and completes its flights.
 *
 * @throws PersistenceError
 */
export const merge = ({ captured, runs }: Executed, state: MergeSpace): MergeResult => {
  const merged = new MergeResult(captured, state)
  const flights = taken(captured.inputs)
  for (const handling of runs) {
    const { outcome } = handling
    try {
      if (InFlights.isMerged(outcome)) succeed(handling, outcome, merged)
      else conclude(handling, outcome, merged)
    } catch (error) {
      if (error instanceof PersistenceError) throw error
      // Writes of several runs are combined only here, which may fail: an increment of a value that is no longer a number.
      const failed = failure(error)
      deadLetter(handling, isUndone(handling.outcome) ? undoFailure(failed) : failed, merged)
    }
  }
  for (const input of captured.inputs) if (input.flight.discarded) state.runs.discard(input, merged)
  for (const flight of flights) complete(flight, merged)
  return merged
}

/** Concludes a run that leaves nothing: it is attempted again, or given up. */
const conclude = (handling: ExecutedHandling, outcome: Exclude<Outcome, InFlights.MergedOutcome>, merged: MergeResult): void => {
  const { entry, flight } = handling
  if (outcome.kind === "conflict") throw new Error(`run ${handling.run} of beat ${handling.beat} was never concluded`)
  // Without an enzyme, a further attempt cannot run.
  const canWait = entry !== undefined && outcome.kind !== "fatal"
  const size = FAILURE + (flight.signal.payload?.text.length ?? 0)
  if (canWait && !merged.transaction.stage.take(size)) return retryAfterConflict(handling, { key: undefined }, merged)
  if (outcome.kind === "retry") {
    if (outcome.code === CODE_MISSING) return waitForModule(handling, outcome, merged)
    if (outcome.code === GATED) return waitForGate(handling, outcome.until, merged)
    if (mayRepeat(handling, outcome.code, merged)) return repeat(handling, outcome, merged)
  }
  deadLetter(handling, outcome.undo === "waits" ? undoFailure(outcome, outcome.tag) : outcome, merged)
}

/** Whether a run ended by its cancellation, and its last segment is to be merged. */
const isUndone = (outcome: Outcome): boolean => InFlights.isMerged(outcome) && outcome.kind === "dead"

/** Whether a failed handling is attempted again. Time-outs delay the whole space, so fewer of them are allowed. */
const mayRepeat = ({ attempt, entry, timeouts }: ExecutedHandling, code: string, { state }: MergeResult): boolean =>
  attempt < (entry?.enzyme.retry.attempts ?? 1) && (code !== Run.TIMEOUT || timeouts + 1 < state.settings.limits.timeoutAttempts)

/** Merges a run that succeeded, or that undid its effects: its writes, launches, diagnostics, signals, bindings and content. */
const succeed = (handling: ExecutedHandling, outcome: InFlights.MergedOutcome, merged: MergeResult): void => {
  const { captured, state, transaction } = merged
  const { draft } = handling
  // A durable run heard the signal, and goes on in a run of its own.
  if (draft === undefined && handling.entry === undefined) return void handling.flight.over.push(handling)
  if (draft === undefined) throw new Error(`run ${handling.run} of beat ${handling.beat} was never concluded`)
  const lists = draft.bindings === undefined ? [] : transaction.bindings.lists(draft.bindings)
  if (typeof lists === "string") throw new TransactionRefused({ reason: lists })
  let size = outcome.kind === "ok" ? outcome.result?.text.length ?? 0 : outcome.kind === "waits" ? outcome.step.length : FAILURE
  for (const list of lists) size += list.size
  draft.launch(size)
  const lock = lockOver(transaction, draft)
  if (lock !== undefined) return retryAfterConflict(handling, lostTo(lock, merged), merged)
  const conflict = transaction.stage.merge(draft, handling.run)
  if (conflict !== undefined) return retryAfterConflict(handling, conflict, merged)
  if (draft.launches.length > 0) captured.ledgers.merge(draft, { run: handling.run, depth: handling.flight.signal.depth })
  if (draft.reports.length > 0 && DiagnosticsCommit.take(draft.reports, handling, transaction)) merged.shutsDown = true
  if (outcome.kind === "waits") {
    const run = state.runs.wait(handling, outcome, merged)
    requeue(handling, merged, { ...goesOn, attempt: 1, segment: outcome.segment + 1, run })
  } else if (outcome.kind === "ok") {
    state.runs.finish(handling, merged)
    handling.flight.over.push(handling)
  } else deadLetter(handling, outcome, merged)
  for (const emission of draft.emissions) emit(emission, handling, merged)
  transaction.bindings.keep(lists, handling.run)
  for (const [hash, bytes] of draft.blobs ?? []) {
    merged.blobs.push({ hash, bytes })
    transaction.stage.content.set(hash, bytes)
  }
}

/** A durable run goes on with a segment, when it has its result or its module. */
const goesOn = { why: "segment", document: undefined, losses: 0, timeouts: 0, due: undefined } as const

/** Queues a signal of a successful run. */
const emit = (emission: OutgoingSignal, handling: ExecutedHandling, { state, transaction }: MergeResult): void => {
  const { at, space } = emission
  const to = space === undefined || space === state.space ? undefined : passageTo(space, at, { state, transaction })
  const depth = handling.flight.signal.depth + 1
  const signal = Signal.make(emission, { origin: "run", depth, expected: handling.beat + 1, to, label: Signal.labelOrNone(handling.label) })
  const due = at === undefined || to !== undefined ? undefined : Signal.dueOf(at, sinceOf(transaction, state))
  transaction.queued.push(new Signal.PendingSignal(state.number(), signal, { due }))
}

/** The route to another space. A store whose rows have origins names the present one. */
const passageTo = (
  space: string,
  at: OutgoingSignal["at"],
  { state, transaction: { mode, moment } }: Pick<MergeResult, "state" | "transaction">
): Signal.Passage => {
  const from = StoreFormat.has(state.store.format() ?? StoreFormat.initial, "origins") ? SpaceMode.origin(mode, state.space) : undefined
  return Signal.passage(space, { at, since: moment.clock, from })
}

/** The cell of the lock above a cell that the run wrote. The run waits for the document of the lock. */
const lockOver = ({ mode }: BeatTransaction, { own }: Draft): string | undefined => {
  if (mode.locks.size === 0 || own === undefined) return undefined
  for (const key of own.keys) {
    const lock = SpaceMode.lockOver(mode, Address.ofKey(key).id)
    if (lock !== undefined) return lock
  }
  return undefined
}

/** A lock as the cause of a lost run, with its holder as the entry of the beat names it. */
const lostTo = (lock: string, { transaction: { mode, moment } }: MergeResult): Lost =>
  ({ key: SpaceMode.lockAddress(lock).key, holder: Semantics.follows(moment, "holderIsNamed") ? mode.locks.get(lock) : undefined })

/** Queues a run that lost a conflict: it waits in line at the document. A run that exceeded the size of the beat waits at its receipt. */
const retryAfterConflict = (handling: ExecutedHandling, { holder, isDerived, key }: Lost, merged: MergeResult): void => {
  const document = key ?? `/rt/receipts/${handling.flight.signal.id}/${handling.key}`
  handling.outcome = { kind: "conflict", document, isDerived, holder }
  // Waiting for a lock is no contention, so it does not count as a loss.
  const losses = handling.losses + (SpaceMode.isLock(document) ? 0 : 1)
  if (losses === REPORTED_LOSSES && losses > handling.losses) {
    const note = `lost ${losses} times in a row on ${document}`
    merged.transaction.diagnostics.push(Diagnostic.of("run/conflict", { ...DiagnosticsCommit.about(handling), note }))
  }
  const { attempt, headOf, timeouts } = handling
  requeue(handling, merged, { why: "conflict", document, previous: headOf, losses, attempt, timeouts, due: undefined })
}

/** Queues a further attempt of a run that failed retryably or got stuck. */
const repeat = (handling: ExecutedHandling, outcome: RunFailure, merged: MergeResult): void => {
  const { code } = outcome
  const why = code === STUCK ? "stuck" : "retry"
  const time = RetryTime.decide(handling, outcome, merged)
  if ("code" in time) return deadLetter(handling, outcome.undo === "waits" ? undoFailure(time) : time, merged)
  const { date, due } = time
  if (date !== undefined) handling.outcome = { ...outcome, next: date }
  if (why === "stuck") {
    const note = `${handling.key} came to no end for ${handling.flight.signal.id} and is tried once more`
    merged.transaction.diagnostics.push(Diagnostic.of("run/stuck", { ...DiagnosticsCommit.about(handling), note }))
  }
  const timeouts = handling.timeouts + (code === Run.TIMEOUT ? 1 : 0)
  requeue(handling, merged, { why, document: undefined, losses: 0, attempt: handling.attempt + 1, timeouts, due })
}

/** Queues a run that read a derived cell behind a closed gate. It runs when the gate opens, as the same attempt. */
const waitForGate = (handling: ExecutedHandling, until: number | undefined, merged: MergeResult): void => {
  const { clock } = merged.transaction.moment
  const due = Signal.dueOf({ ms: Math.max(0, (until ?? clock) - clock) }, sinceOf(merged.transaction, merged.state))
  const { attempt, timeouts } = handling
  requeue(handling, merged, { why: "gate", document: undefined, losses: 0, attempt, timeouts, due })
}

/** Queues a run whose module is missing. It goes on when the modules change, and at the next start. */
const waitForModule = (handling: ExecutedHandling, outcome: RunFailure, merged: MergeResult): void => {
  const { flight: { signal }, key, segment } = handling
  const note = `${key} waits for its module with ${signal.id}`
  const about = { ...DiagnosticsCommit.about(handling), code: CODE_MISSING, raised: outcome, note }
  merged.transaction.diagnostics.push(Diagnostic.of(CODE_MISSING, about))
  requeue(handling, merged, { ...goesOn, attempt: handling.attempt, segment })
}

/** A further attempt: its reason, its due time, and the losses and time-outs before it. */
interface Attempt extends Pick<Signal.Again, "why" | "document" | "previous" | "losses" | "attempt"> {
  /** The segment to make; by default the one of this attempt. */
  readonly segment?: number
  /** The run that waits for its result. */
  readonly run?: Signal.WaitingRun
  readonly timeouts: number
  readonly due: Due | undefined
}

const requeue = (handling: ExecutedHandling, merged: MergeResult, { due, timeouts, ...attempt }: Attempt): void => {
  const { entry, flight, key } = handling
  const { state, transaction } = merged
  const { run = state.runs.retry(handling, merged), ...rest } = attempt
  // After a failure, a loose lane proceeds. A conflict loser keeps its place, unless its risen label would leak by that.
  const isStrict = rest.why === "conflict" || rest.why === "gate" ? handling.segment === 0 : false
  const loose = (!isStrict && entry?.enzyme.order === "loose") || LabelCheck.isRisen(handling)
  flight.open++
  if (!loose) flight.strict++
  const left: Signal.Again = {
    enzyme: key,
    entry: entry?.id,
    captured: flight.captured,
    lane: loose ? undefined : flight.lane,
    loose,
    label: Signal.labelOrNone(handling.draft?.label ?? handling.label),
    timeouts: timeouts === 0 ? undefined : timeouts,
    ...handling.segment === 0 ? {} : { segment: handling.segment },
    run: run ?? handling.waiting,
    ...rest
  }
  transaction.queued.push(new Signal.PendingSignal(state.number(), flight.signal, { due, again: left }))
}

/** Ends a handling that failed permanently: writes its dead letter and its diagnostic. */
const deadLetter = (handling: ExecutedHandling, outcome: RunFailure, merged: MergeResult): void => {
  const { transaction } = merged
  const { attempt, flight: { signal }, key } = handling
  DeadLetter.put(transaction.stage, handling, outcome)
  merged.state.runs.die(handling, outcome.code, merged)
  handling.outcome = { ...outcome, kind: outcome.kind === "fatal" ? "fatal" : "dead" }
  handling.flight.over.push(handling)
  sendOnDead(handling, outcome, merged)
  const isFatal = outcome.kind === "fatal"
  if (isFatal && handling.entry?.enzyme.onFatal !== "continue") merged.shutsDown = true
  const refusal = handling.draft?.refusal
  const sealed = refusal instanceof Envelope.SealedCell && outcome.code === refusal.code ? refusal : undefined
  const topic = outcome.code === UNDO_LOST ? "run/undo-lost" : sealed === undefined ? "run/dead" : "cell.store.readonly"
  transaction.diagnostics.push(Diagnostic.of(isFatal ? "beat/aborted" : topic, {
    ...DiagnosticsCommit.about(handling),
    ...(sealed === undefined ? {} : { subject: Address.parse(sealed.address) }),
    code: outcome.code,
    raised: outcome,
    note: `${key} gave up ${signal.id} after ${counted(attempt, "attempt")}: ${outcome.tag}${droppedBy(handling, outcome)}`
  }))
}

/**
 * The end of the note on a durable run, if it wrote or sent something in the segment that failed. A replay copies some outcomes,
 * and has no draft for them.
 */
const droppedBy = (handling: ExecutedHandling, outcome: RunFailure): string => {
  const { draft } = handling
  if (draft === undefined || outcome.kind === "fatal" || outcome.undo === "merged" || Run.isHosts(outcome)) return ""
  if (!InFlights.isDurable(handling, draft.moment) || !Semantics.follows(draft.moment, "dropsAreTold")) return ""
  const { emissions: { length: signals }, writes: { length: writes } } = draft
  if (signals + writes === 0) return ""
  const dropped = [counted(writes, "write"), counted(signals, "signal")].filter((text) => !text.startsWith("0 ")).join(" and ")
  return `. Its last segment drops ${dropped}, which an await before the error is thrown on would keep`
}

const counted = (count: number, noun: string): string => `${count} ${count === 1 ? noun : `${noun}s`}`

/** Sends the signal of `onDead`. */
const sendOnDead = (
  { entry, flight: { signal }, key, label }: ExecutedHandling,
  { code }: RunFailure,
  { state, transaction }: MergeResult
): void => {
  const path = entry?.enzyme.onDead
  if (path === undefined) return
  const { beat } = transaction.moment
  const id = `${beat}.dead.${transaction.unawaited}`
  const sent = { id, signal: path, target: signal.target, payload: Document.encode({ id: signal.id, enzyme: key, code }), at: undefined }
  const from = { origin: "run", depth: signal.depth + 1, expected: beat + 1, to: undefined, label: Signal.labelOrNone(label) } as const
  transaction.send({ ...sent, enzyme: undefined }, new Signal.PendingSignal(state.number(), Signal.make(sent, from)))
}

const sinceOf = ({ moment: { beat, clock } }: BeatTransaction, { settings: { tempo } }: MergeSpace) => ({ beat, clock, tempo })

/** The signals of the beat, each once. Takes the captured attempts off the open handlings of their events. */
const taken = (inputs: ReadonlyArray<CapturedSignal>): ReadonlyArray<InFlight> => {
  const flights: Array<InFlight> = []
  const repeated = new Set<InFlight>()
  for (const { flight, pending: { again } } of inputs) {
    if (again === undefined) {
      flights.push(flight)
      continue
    }
    // Several enzymes of one event may be attempted again in the same beat.
    repeated.add(flight)
    flight.open--
    if (!again.loose) flight.strict--
  }
  return repeated.size === 0 ? flights : [...repeated, ...flights]
}

const complete = (flight: InFlight, merged: MergeResult): void => {
  const { state, flights, completed, receipts, transaction } = merged
  for (const row of Receipts.rowsOf(flight, transaction.moment.beat, state.hash)) receipts.push(row)
  if (flight.signal.tells !== undefined) state.runs.track(flight, merged)
  flights.push(flight)
  if (flight.open === 0) completed.push(flight)
}

