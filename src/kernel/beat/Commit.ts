/**
 * The commit of a beat: merge, settle outcomes, journal, store.
 *
 * Everything that the beat makes goes into one batch; only when the store has
 * taken that does anything in memory follow. (Architecture, section 1.1, steps 9
 * to 13.)
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import type * as Document from "../../cell/Document.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import type { BlobRow, ReceiptRow } from "../../persistence/Persistence.ts"
import { PersistenceError } from "../../persistence/PersistenceError.ts"
import type { Draft } from "../../stage/Draft.ts"
import type { Due } from "../../stage/Due.ts"
import * as Envelope from "../../stage/Envelope.ts"
import { TransactionRefused } from "../../stage/TransactionRefused.ts"
import type { Conflict, Staged } from "../../stage/Stage.ts"
import { type BeatAnswer, type BeatWork, TEMPO } from "./BeatWork.ts"
import type { Body } from "./Body.ts"
import { type Delivery, GATED } from "../derived/DerivationPort.ts"
import * as DeadLetter from "./DeadLetter.ts"
import { failure } from "../model/Failure.ts"
import type { Flight, Handling, Outcome } from "../model/Flight.ts"
import type { Steps } from "../model/Foreign.ts"
import * as Journal from "../model/Journal.ts"
import * as LabelCheck from "./LabelCheck.ts"
import type { Output } from "./LedgerBeats.ts"
import * as Receipts from "./Receipts.ts"
import * as DiagnosticsCommit from "./DiagnosticsCommit.ts"
import * as Expiry from "./Expiry.ts"
import { TIMEOUT } from "./Run.ts"
import * as Signal from "../model/Signal.ts"
import * as Lifecycle from "./Lifecycle.ts"
import { STUCK } from "../watchdog/Stuck.ts"
import * as Regime from "../model/Regime.ts"
import { ControlRefused } from "../model/SpaceError.ts"

/** What a beat has made, when it is in the store and not yet durable. */
export interface Beat {
  readonly number: number
  readonly clock: number
  /** Characters that it added to the journal. */
  readonly size: number
  readonly changes: ReadonlyArray<Staged>
  /** What of it was written under groups. */
  readonly steps: Steps
  /** Signals whose handlings are all over. */
  readonly landed: ReadonlyArray<Flight>
  /** All signals of the beat, those that run again included. */
  readonly flights: ReadonlyArray<Flight>
  /** Signals to other spaces. */
  readonly outgoing: ReadonlyArray<Signal.Pending>
  readonly answers: ReadonlyArray<BeatAnswer>
  /** What effects saw. */
  readonly deliveries: ReadonlyArray<Delivery>
  /** What went wrong. */
  readonly facts: ReadonlyArray<Diagnostic.Diagnostic>
  /** What the live halves of ledgers are to get. */
  readonly outputs: ReadonlyArray<Output>
}

/** What the outcomes of a beat leave to be done. */
interface Settled {
  readonly receipts: Array<ReceiptRow>
  readonly blobs: Array<BlobRow>
  readonly landed: Array<Flight>
  /** All flights of the beat, in the order of the agenda. */
  readonly flights: Array<Flight>
}

/** Losses in a row after which a run is reported, once. */
const REPORTED_LOSSES = 3

/** Most characters that the journal has of a failed run beside its payload: its line, message, letter and diagnostic. */
const FAILURE = 4096

/**
 * Commits a beat to the store and to memory.
 *
 * @throws PersistenceError
 * @category constructors
 * @since 0.1.0
 */
export const commit = (work: BeatWork, body: Body): Beat => {
  work.queued.push(...work.redelivered)
  const settled: Settled = { receipts: [], blobs: [...work.begun.texts], landed: [], flights: [] }
  const flights = taken(work)
  for (const handling of work.runs) conclude(handling, { work, body, settled })
  for (const flight of flights) settleFlight(flight, { work, body, settled })
  DiagnosticsCommit.attach(work)
  if (work.falls) Lifecycle.shutDown(work)
  work.ledgers.commit()
  DiagnosticsCommit.put(work)
  Expiry.retire(work, body)
  if (work.stage.touched !== 0) Expiry.note(work, body.ledgers.expiry)
  body.derivation.settle(work)
  // Nodes may have failed.
  Expiry.note(work, Expiry.facts)
  DiagnosticsCommit.send(work, body)
  if (body.documents.failure !== undefined) throw body.documents.failure
  const changes = [...work.stage.documents.values()].filter((staged) => Journal.isChange(staged.before, staged.after))
  const size = append(work, body, { settled, changes })
  const outputs = apply(work, body, { settled, changes })
  const deliveries = body.derivation.committed()
  return {
    number: work.moment.beat,
    clock: work.moment.now,
    size,
    changes,
    steps: work.steps,
    landed: settled.landed,
    flights: settled.flights,
    outgoing: work.queued.filter(({ leaves }) => leaves),
    answers: work.answers,
    deliveries,
    facts: work.facts.map(({ fact }) => fact),
    outputs
  }
}

interface Surroundings {
  readonly work: BeatWork
  readonly body: Body
  readonly settled: Settled
}

/** What follows from the outcome of one run. Whatever goes wrong with it costs that handling and not the space, unless it is the store. */
const conclude = (handling: Handling, around: Surroundings): void => {
  try {
    settle(handling, around)
  } catch (error) {
    if (error instanceof PersistenceError) throw error
    // What a run's writes make of another's is known only here: adding to what is no number any more, say.
    bury(handling, failure(error) as Failure, around.work)
  }
}

const settle = (handling: Handling, around: Surroundings): void => {
  const { entry, flight, outcome } = handling
  if (outcome?.kind === "ok") return merge(handling, outcome.result, around)
  if (outcome === undefined || outcome.kind === "conflict") throw new Error(`run ${handling.run} of beat ${handling.beat} was never concluded`)
  // Where nobody is left to run it, a later beat could do no more.
  const canWait = entry !== undefined && outcome.kind !== "fatal"
  const size = FAILURE + (flight.signal.payload?.text.length ?? 0)
  if (canWait && !around.work.stage.take(size)) return lose(handling, { key: undefined }, around)
  if (outcome.kind === "retry") {
    if (outcome.code === GATED) return park(handling, outcome.until, around)
    if (mayRepeat(handling, outcome.code, around)) return repeat(handling, outcome.code, around)
  }
  bury(handling, outcome, around.work)
}

/** Whether a failed handling is attempted again: one that times out holds the space up each time, so it is given up sooner. */
const mayRepeat = ({ attempt, entry, timeouts }: Handling, code: string, { body }: Surroundings): boolean =>
  attempt < (entry?.enzyme.retry.attempts ?? 1) && (code !== TIMEOUT || timeouts + 1 < body.settings.limits.timeoutAttempts)

/** Step 9: a run that is well is merged, in agenda order; the first to commit wins, and what it launched takes effect. */
const merge = (handling: Handling, result: Document.Document | undefined, around: Surroundings): void => {
  const { body, settled, work } = around
  const draft = handling.draft!
  const lists = draft.bindings === undefined ? [] : work.lists(draft.bindings)
  if (typeof lists === "string") throw new TransactionRefused({ reason: lists })
  let size = result?.text.length ?? 0
  for (const list of lists) size += list.size
  draft.launch(size)
  const lock = lockOver(work, draft)
  if (lock !== undefined) return lose(handling, { key: lock }, around)
  const conflict = work.stage.merge(draft, handling.run)
  if (conflict !== undefined) return lose(handling, conflict, around)
  if (draft.launches.length > 0) work.ledgers.merge(draft, { run: handling.run, depth: handling.flight.signal.depth })
  if (draft.reports.length > 0) DiagnosticsCommit.take(draft.reports, handling, work)
  handling.flight.over.push(handling)
  for (const emission of draft.emissions) {
    const { at, space } = emission
    const to = space === undefined || space === body.space ? undefined : Signal.passage(space, at, work.moment.now)
    const signal = Signal.make(emission, { origin: "run", depth: handling.flight.signal.depth + 1, expected: handling.beat + 1, to, label: Signal.carried(handling.label) })
    const due = at === undefined || to !== undefined ? undefined : Signal.due(at, sinceOf(work, body))
    work.queued.push(new Signal.Pending(body.number(), signal, { due }))
  }
  work.keep(lists, handling.run)
  for (const [hash, bytes] of draft.blobs ?? []) {
    settled.blobs.push({ hash, bytes })
    work.stage.content.set(hash, bytes)
  }
}

/** The lock that a run wrote below, as the document that it has to wait for. */
const lockOver = ({ regime }: BeatWork, { own }: Draft): string | undefined => {
  if (regime.locks.size === 0 || own === undefined) return undefined
  for (const key of own.keys) {
    const lock = Regime.lockOver(regime, Address.ofKey(key).id)
    if (lock !== undefined) return Regime.lockAddress(lock).key
  }
  return undefined
}

/** A run that lost a conflict waits for its turn on the document; one that a full beat had no room for waits alone, where its receipt will be. */
const lose = (handling: Handling, { isDerived, key }: Conflict, { body, settled, work }: Surroundings): void => {
  const document = key ?? `/rt/receipts/${handling.flight.signal.id}/${handling.key}`
  handling.outcome = { kind: "conflict", document, isDerived }
  // What waits for a lock contends with nobody.
  const losses = handling.losses + (Regime.isLock(document) ? 0 : 1)
  if (losses === REPORTED_LOSSES && losses > handling.losses) {
    work.diagnostics.push(Diagnostic.of("run/conflict", { ...DiagnosticsCommit.about(handling), note: `lost ${losses} times in a row on ${document}` }))
  }
  again(handling, { body, settled, work }, { why: "conflict", document, previous: handling.headOf, losses, attempt: handling.attempt, timeouts: handling.timeouts, due: undefined })
}

/** A run that asked for another attempt, or never came to an end: it waits 1, 2, 4 … beats. */
const repeat = (handling: Handling, code: string, around: Surroundings): void => {
  const why = code === STUCK ? "stuck" : "retry"
  const { backoffBeats } = around.body.settings.limits
  const beats = Math.min(2 ** (handling.attempt - 1), backoffBeats)
  const due = Signal.due({ beats }, sinceOf(around.work, around.body))
  if (why === "stuck") around.work.diagnostics.push(Diagnostic.of("run/stuck", { ...DiagnosticsCommit.about(handling), note: `${handling.key} came to no end for ${handling.flight.signal.id} and is tried once more` }))
  again(handling, around, { why, document: undefined, losses: 0, attempt: handling.attempt + 1, timeouts: handling.timeouts + (code === TIMEOUT ? 1 : 0), due })
}

/** What a run reads waits for a gate: it runs when that opens, and it is the same attempt. */
const park = (handling: Handling, until: number | undefined, around: Surroundings): void => {
  const { now } = around.work.moment
  const due = Signal.due({ ms: Math.max(0, (until ?? now) - now) }, sinceOf(around.work, around.body))
  again(handling, around, { why: "gate", document: undefined, losses: 0, attempt: handling.attempt, timeouts: handling.timeouts, due })
}

const again = (
  handling: Handling,
  { body, work }: Surroundings,
  { due, timeouts, ...rest }: Pick<Signal.Again, "why" | "document" | "previous" | "losses" | "attempt"> & { readonly timeouts: number; readonly due: Due | undefined }
): void => {
  const { entry, flight, key } = handling
  // Only a failure lets a lane go on; who lost a conflict keeps its place, unless that would tell what it knows.
  const loose = ((rest.why === "retry" || rest.why === "stuck") && entry?.enzyme.order === "loose") || LabelCheck.isRisen(handling)
  flight.open++
  if (!loose) flight.strict++
  const left: Signal.Again = { enzyme: key, entry: entry?.id, captured: flight.captured, lane: loose ? undefined : flight.lane, loose, label: Signal.carried(handling.draft?.label ?? handling.label), timeouts: timeouts === 0 ? undefined : timeouts, ...rest }
  work.queued.push(new Signal.Pending(body.number(), flight.signal, { due, again: left }))
}

type Failure = Extract<Outcome, { readonly code: string }>

/** A handling that will never be well: its dead letter takes the receipt's place. */
const bury = (handling: Handling, outcome: Failure, work: BeatWork): void => {
  const { attempt, flight: { signal }, key } = handling
  DeadLetter.put(work.stage, handling, outcome)
  handling.outcome = { ...outcome, kind: outcome.kind === "fatal" ? "fatal" : "dead" }
  handling.flight.over.push(handling)
  const isFatal = outcome.kind === "fatal"
  if (isFatal && handling.entry?.enzyme.onFatal !== "continue") work.falls = true
  const refusal = handling.draft?.refusal
  const sealed = refusal instanceof Envelope.SealedCell && outcome.code === refusal.code ? refusal : undefined
  work.diagnostics.push(Diagnostic.of(isFatal ? "beat/aborted" : sealed === undefined ? "run/dead" : "cell.store.readonly", {
    ...DiagnosticsCommit.about(handling),
    ...(sealed === undefined ? {} : { subject: Address.parse(sealed.address) }),
    code: outcome.code,
    raised: outcome,
    note: `${key} gave up ${signal.id} after ${attempt} ${attempt === 1 ? "attempt" : "attempts"}: ${outcome.tag}`
  }))
}

const sinceOf = (work: BeatWork, body: Body) => ({ beat: work.moment.beat, clock: work.moment.now, tempo: body.settings.tempo })

/** The signals of this beat, each once; what runs again is not to be repeated any more. */
const taken = (work: BeatWork): ReadonlyArray<Flight> => {
  const flights: Array<Flight> = []
  const repeated = new Set<Flight>()
  for (const { flight, pending: { again } } of work.captured) {
    if (again === undefined) {
      flights.push(flight)
      continue
    }
    // Of a signal that runs again several enzymes may be due in one beat.
    repeated.add(flight)
    flight.open--
    if (!again.loose) flight.strict--
  }
  return repeated.size === 0 ? flights : [...repeated, ...flights]
}

const settleFlight = (flight: Flight, { body, settled, work }: Surroundings): void => {
  for (const row of Receipts.rowsOf(flight, work.moment.beat, body.hash)) settled.receipts.push(row)
  settled.flights.push(flight)
  if (flight.open === 0) settled.landed.push(flight)
}

interface Made {
  readonly settled: Settled
  readonly changes: ReadonlyArray<Staged>
}

/** Steps 12 and 13: one batch, with the journal's entry; answers the entry's length. */
const append = (work: BeatWork, body: Body, { changes, settled }: Made): number => {
  const { beat, now, seed } = work.moment
  const text = Journal.entry({
    beat,
    clock: now,
    seed,
    prev: body.store.head().hash,
    content: work.begun.content,
    tempo: (work.asked & TEMPO) !== 0 ? work.begun.tempo : undefined,
    inputs: work.ledgers.inputs(),
    isolation: work.begun.isolation,
    activated: work.begun.activated,
    spent: work.begun.spent,
    commands: work.done.map(({ command }) => command),
    captured: work.captured,
    runs: work.runs,
    nodes: body.derivation.lines,
    secluded: body.derivation.secluded,
    restless: body.derivation.restless,
    refused: body.derivation.refused,
    due: work.ledgers.dueLines(work.timers),
    met: work.timers.met,
    parked: work.parked,
    retired: work.retired,
    sent: work.told,
    changes,
    made: firsts(settled.blobs, body),
    labels: LabelCheck.lines(work)
  })
  const dequeued: Array<number> = []
  for (const { pending } of work.captured) if (pending.stored) dequeued.push(pending.seq)
  body.store.append({
    entry: { beat, clock: now, text, hash: body.hash(Journal.hashed(text)) },
    cells: changes.map(({ address, after }) => ({ address, text: after?.text })),
    receipts: settled.receipts,
    queued: work.queued,
    dequeued,
    blobs: settled.blobs,
    observations: body.derivation.observations()
  })
  return text.length
}

/** The content that no run could see before this beat: the next ones can. */
const firsts = (blobs: ReadonlyArray<BlobRow>, { documents }: Body): ReadonlyArray<string> =>
  blobs.length === 0 ? [] : [...new Set(blobs.map(({ hash }) => hash))].filter((hash) => !documents.shows(hash))

/** What the store has taken becomes the state that the next beat starts from. */
const apply = (work: BeatWork, body: Body, { changes, settled }: Made): ReadonlyArray<Output> => {
  const { documents, inbox } = body
  const isRuled = work.regime !== body.regime
  const isClosing = work.regime.gated && !body.regime.gated
  body.regime = work.regime
  inbox.dropCommands(work.commands.length)
  for (const { address, after } of changes) documents.put(address.key, after)
  for (const [cell, list] of work.bindings) body.bindings.put(cell, list)
  const outputs = work.ledgers.committed()
  for (const captured of work.captured) captured.pending.beat = work.moment.beat
  // Before what waits comes in: a run that met a lock of this very beat waits for it.
  if (isRuled) inbox.rule(work.regime)
  if (work.parked !== undefined) body.parked.told(work.parked)
  if (!work.regime.gated) body.parked.clear()
  else if (isClosing) {
    const { fresh } = inbox.normal
    body.parked.addAll(fresh.size, (count) => fresh.first(count).map((seq) => inbox.waiting.at(seq).signal))
  }
  for (const pending of work.queued) {
    pending.stored = true
    if (pending.again?.why === "redelivery" || pending.leaves) continue
    if (pending.again !== undefined) inbox.repeat(pending)
    else {
      inbox.push(pending)
      if (work.regime.gated && !pending.urgent && pending.due === undefined) body.parked.add(pending.signal)
    }
  }
  // In the order of the agenda: what each of them held up goes on in that order, whether the flight itself is over or not.
  for (const flight of settled.flights) {
    if (flight.open > 0) inbox.keep(flight)
    else inbox.complete(flight)
  }
  // Another handling of its event may have ended in this very beat, so it comes after all of those.
  for (const pending of work.redelivered) {
    if (pending.again === undefined) continue
    const flight = inbox.flights.get(pending.signal.id)
    if (flight !== undefined) flight.open++
    inbox.restore(pending)
  }
  for (const { answer, reply } of work.done) {
    // A refusal that is a fact of the space is told once the fact is durable.
    work.answers.push((told) => answer(typeof told !== "number" ? told : reply instanceof ControlRefused ? reply : { beat: told, reply }))
  }
  return outputs
}
