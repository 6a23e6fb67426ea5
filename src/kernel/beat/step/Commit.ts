/**
 * The commit of a beat, steps 9 to 13: merge, ledgers, settle, journal, append.
 *
 * The results of the beat are one batch. The state in memory follows only after the store has appended it.
 *
 * @module
 */
import type * as Diagnostic from "../../../diagnostic/Diagnostic.ts"
import type { LedgerList } from "../../../ledger/LedgerList.ts"
import type { BlobRow, SpaceStore } from "../../../persistence/Persistence.ts"
import type { BindingLists } from "../../../registry/Bindings.ts"
import type { SpaceClock } from "../../../stage/SpaceClock.ts"
import type { StagedDocument } from "../../../stage/Stage.ts"
import type { Delivery, DerivationPort } from "../../derived/DerivationPort.ts"
import type { Documents } from "../../model/Documents.ts"
import type { ParkedSignals } from "../../model/ParkedSignals.ts"
import * as RunEnds from "../../model/RunEnds.ts"
import type { SpaceMode } from "../../model/SpaceMode.ts"
import type { InFlight } from "../../model/InFlight.ts"
import type { Steps } from "../../model/ExternalChange.ts"
import * as Journal from "../../journal/Journal.ts"
import type * as Signal from "../../model/Signal.ts"
import { ControlRefused } from "../../model/SpaceError.ts"
import type { BeatInput } from "./BeatInput.ts"
import * as DiagnosticsCommit from "./DiagnosticsCommit.ts"
import * as Expiry from "./Expiry.ts"
import * as LabelCheck from "./LabelCheck.ts"
import type { Output } from "../LedgerBeats.ts"
import * as Lifecycle from "../command/Lifecycle.ts"
import * as Merge from "./Merge.ts"
import type { MergeResult } from "./Merge.ts"
import type { BeatAnswer, Captured, CapturedCommands, Executed } from "../Phases.ts"

/** The state of a space that a commit advances. */
export interface CommitSpace extends Merge.MergeSpace {
  /** The bindings made at run time, by cell. */
  readonly bindings: BindingLists
  /** The clock of the space after the newest beat. */
  clock: SpaceClock
  /** The port to the scheduler. */
  readonly derivation: DerivationPort
  readonly documents: Documents
  readonly ledgers: LedgerList
  /** The mode of the space after the newest beat. */
  mode: SpaceMode
  /** Signals parked while the space is paused, and not reported by a beat yet. */
  readonly parked: ParkedSignals
  /** The states of the ledgers, by their places in the list. */
  readonly states: ReadonlyArray<unknown>
  readonly store: SpaceStore
}

/** The results of a beat that is in the store, and durable after the next flush. */
export interface Beat {
  readonly number: number
  readonly clock: number
  /** The size of its journal entry, in characters. */
  readonly size: number
  readonly changes: ReadonlyArray<StagedDocument>
  /** The steps of external changes that were written in groups. */
  readonly steps: Steps
  /** The events whose last handling ended in this beat. */
  readonly completed: ReadonlyArray<InFlight>
  /** All events of the beat, including those with further attempts. */
  readonly flights: ReadonlyArray<InFlight>
  /** The signals that it sent, and dead letters that are sent again. */
  readonly queued: ReadonlyArray<Signal.PendingSignal>
  /** Those to other spaces. */
  readonly outgoing: ReadonlyArray<Signal.PendingSignal>
  readonly answers: ReadonlyArray<BeatAnswer>
  /** The detachment of the space at its end, until the release. */
  readonly detached: SpaceMode["detached"]
  /** The values that effects observed. */
  readonly deliveries: ReadonlyArray<Delivery>
  /** The diagnostics of the beat. */
  readonly facts: ReadonlyArray<Diagnostic.Diagnostic>
  /** The outputs for the live halves of ledgers. */
  readonly outputs: ReadonlyArray<Output>
  /** Its runs, by their outcomes. */
  readonly ends: RunEnds.RunEnds
  /** The beat before its merge, for the reports of a development host. */
  readonly watched: Executed | undefined
}

/**
 * Commits a beat to the store and to memory.
 *
 * @throws PersistenceError
 */
export const commit = (executed: Executed, state: CommitSpace, input: Pick<BeatInput, "committed" | "hears">): Beat => {
  const { captured, captured: { commands, ledgers, moment, stage, transaction } } = executed
  transaction.queued.push(...commands.redelivered)
  const merged = Merge.merge(executed, state)
  const facts = new DiagnosticsCommit.Facts(transaction)
  DiagnosticsCommit.attach(transaction, ledgers)
  if (merged.shutsDown) Lifecycle.shutDown(transaction, ledgers)
  ledgers.commit()
  DiagnosticsCommit.put(transaction, captured.inputs, facts)
  Expiry.retire(captured.retired, transaction, state)
  if (stage.touched !== 0) Expiry.note(transaction, state.ledgers.expiry)
  const settle = () => state.derivation.settle(captured, facts)
  // The scope is for the code of nodes, and has a price.
  if (state.derivation.hasNodes) state.host.scope.inside(settle)
  else settle()
  // After the settle, since failed nodes add diagnostics.
  Expiry.note(transaction, Expiry.facts)
  DiagnosticsCommit.send(transaction, facts, { state, input })
  if (state.documents.failure !== undefined) throw state.documents.failure
  const changes = [...stage.documents.values()].filter((staged) => Journal.isChange(staged.before, staged.after))
  const size = append(merged, changes, state)
  const outputs = apply(merged, changes, state)
  const deliveries = state.derivation.committed()
  const beat: Beat = {
    number: moment.beat,
    clock: moment.clock,
    size,
    changes,
    steps: commands.steps,
    completed: merged.completed,
    flights: merged.flights,
    queued: transaction.queued,
    outgoing: transaction.queued.filter(({ leaves }) => leaves),
    answers: answersOf(commands),
    detached: transaction.mode.detached,
    deliveries,
    facts: facts.all.map(({ fact }) => fact),
    outputs,
    ends: RunEnds.of(executed.runs),
    watched: state.host.watch === undefined ? undefined : executed
  }
  input.committed(beat)
  return beat
}

/** The answers to the commands of a beat. */
const answersOf = ({ answers, done }: CapturedCommands): ReadonlyArray<BeatAnswer> => {
  if (done.length === 0) return answers
  const all = [...answers]
  for (const { answer, reply } of done) {
    // A refusal that follows from the state of the space is answered once that state is durable.
    all.push((told) => answer(typeof told !== "number" ? told : reply instanceof ControlRefused ? reply : { beat: told, reply }))
  }
  return all
}

/** Steps 12 and 13: appends one batch with the journal entry. Returns the length of the entry. */
const append = (
  { blobs, captured, receipts, transaction }: MergeResult,
  changes: ReadonlyArray<StagedDocument>,
  state: CommitSpace
): number => {
  const { begun, ledgers, moment: { beat, clock, seed } } = captured
  const text = Journal.entry({
    beat,
    semantics: begun.semantics,
    clock,
    seed,
    prev: state.store.head().hash,
    content: begun.content,
    tempo: transaction.usesTempo ? begun.tempo : undefined,
    inputs: ledgers.inputs(),
    isolation: begun.isolation,
    activated: begun.activated,
    spent: begun.spent,
    commands: captured.commands.done.map(({ command }) => command),
    captured: captured.inputs,
    runs: captured.runs,
    nodes: state.derivation.lines,
    isolated: state.derivation.isolated,
    restless: state.derivation.restless,
    refused: state.derivation.refused,
    due: ledgers.dueLines(captured.timers),
    met: captured.timers.met,
    parked: captured.parked,
    retired: captured.retired,
    sent: transaction.sent,
    changes,
    made: firsts(blobs, state),
    labels: LabelCheck.lines(captured)
  })
  const dequeued: Array<number> = []
  for (const { pending } of captured.inputs) if (pending.stored) dequeued.push(pending.seq)
  state.store.append({
    entry: { beat, clock, text, hash: state.hash(Journal.hashedText(text)) },
    cells: changes.map(({ address, after }) => ({ address, text: after?.text })),
    receipts,
    queued: transaction.queued,
    dequeued,
    blobs,
    observations: state.derivation.observations()
  })
  return text.length
}

/** The digests of content that becomes visible with this beat. */
const firsts = (blobs: ReadonlyArray<BlobRow>, { documents }: CommitSpace): ReadonlyArray<string> =>
  blobs.length === 0 ? [] : [...new Set(blobs.map(({ hash }) => hash))].filter((hash) => !documents.shows(hash))

/** Applies the appended beat to the state in memory, from which the next beat starts. */
const apply = (merged: MergeResult, changes: ReadonlyArray<StagedDocument>, state: CommitSpace): ReadonlyArray<Output> => {
  const { captured, transaction } = merged
  const { documents, inbox } = state
  const { clock, mode } = transaction
  const before = state.mode
  state.mode = mode
  state.clock = clock
  inbox.commands.drop(captured.commands.count)
  for (const { address, after } of changes) documents.put(address.key, after)
  for (const [cell, list] of transaction.bindings.changed) state.bindings.put(cell, list)
  const outputs = captured.ledgers.committed()
  for (const { pending } of captured.inputs) pending.beat = captured.moment.beat
  // Before signals are queued: a run that was stopped by a lock of this beat waits for that lock.
  if (mode !== before) inbox.rule(mode)
  park(captured, state, mode.gated && !before.gated)
  for (const pending of transaction.queued) {
    pending.stored = true
    if (pending.again?.why === "redelivery" || pending.leaves) continue
    if (pending.again !== undefined) inbox.repeat(pending)
    else {
      inbox.push(pending)
      if (mode.gated && !pending.urgent && pending.due === undefined) state.parked.add(pending.signal)
    }
  }
  for (const oid of transaction.resumed) inbox.resumeRun(oid)
  // In the order of the agenda, so that lanes proceed in that order.
  for (const flight of merged.flights) {
    if (flight.open > 0) inbox.events.keep(flight)
    else inbox.events.complete(flight)
  }
  // After the flights: another handling of the event may have ended in this beat.
  for (const pending of captured.commands.redelivered) {
    if (pending.again === undefined) continue
    const flight = inbox.events.get(pending.signal.id)
    if (flight !== undefined) flight.open++
    inbox.restore(pending)
  }
  return outputs
}

/** Counts the signals parked by a pause. When the space becomes paused, these are all new signals. */
const park = (captured: Captured, { inbox, parked, mode }: CommitSpace, isClosing: boolean): void => {
  if (captured.parked !== undefined) parked.told(captured.parked)
  if (!mode.gated) parked.clear()
  else if (isClosing) {
    const { fresh } = inbox.normal
    parked.addAll(fresh.size, (count) => fresh.first(count).map((seq) => inbox.waiting.at(seq).signal))
  }
}
