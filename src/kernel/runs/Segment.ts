/**
 * Segments: the runs of which the handling of a durable enzyme consists.
 *
 * A segment begins in the beat that captured a result for which the body waits, and ends when the body has settled or
 * waits for results again. Its writes are merged like those of any run; its step goes into the log of the run.
 *
 * @module
 */
import type * as Address from "../../cell/Address.ts"
import * as Cells from "../../durable/Cells.ts"
import { Continuation, type Progress } from "../../durable/Continuation.ts"
import type { DurableTransaction } from "../../durable/DurableTransaction.ts"
import * as DeclaredPairs from "../../durable/DeclaredPairs.ts"
import * as Note from "../../durable/Note.ts"
import type { ContinuationCache } from "../../durable/ContinuationCache.ts"
import type { Pair } from "../../durable/Pairs.ts"
import { CodeMissing, ForeignAwait, RunCancelled, RunDiverged, RunsFull, RunTakenBack, StepsFull } from "../../durable/RunError.ts"
import * as Step from "../../durable/Step.ts"
import * as Requests from "../../reactor/Request.ts"
import * as Dossier from "../../operation/Dossier.ts"
import type { Enzyme, Event } from "../../registry/Enzyme.ts"
import * as Services from "../../registry/Services.ts"
import type * as Due from "../../stage/Due.ts"
import * as Envelope from "../../stage/Envelope.ts"
import type { Stage } from "../../stage/Stage.ts"
import { FOLDER as CONTENT } from "../../stage/Content.ts"
import type { Draft } from "../../stage/Draft.ts"
import * as Semantics from "../../stage/Semantics.ts"
import { failure, messageOf } from "../model/Failure.ts"
import type { RestoredModule } from "../model/ModuleRestore.ts"
import { type Handling, isMerged, type Outcome, type Waits } from "../model/InFlight.ts"
import type { Heard } from "../model/Signal.ts"
import * as Hearing from "./Hearing.ts"
import type { DurableState, RunExecutor } from "../beat/RunExecutor.ts"
import * as Run from "../beat/step/Run.ts"
import * as Results from "./SegmentResults.ts"
import * as Undo from "./Undo.ts"
import type { StaleRisks } from "./StaleRisks.ts"
import * as Unawaited from "./Unawaited.ts"

/** The runs of a space whose segments are executed. */
export interface Runs {
  /** The bodies in memory. */
  readonly bodies: ContinuationCache
  /** Reports risks of runs, in development. */
  readonly risks: StaleRisks | undefined
}

/** A segment that a space executes. */
interface Context extends Runs {
  readonly state: DurableState
  readonly handling: Handling
  readonly draft: Draft
  readonly enzyme: Enzyme
  readonly oid: string
  readonly note: Note.Note
  /** Whether the run was cancelled, in this segment or in an earlier one. */
  isCancelled: boolean
}

/**
 * The id of the operation of a durable handling.
 */
export const oidOf = ({ flight, key, waiting }: Pick<Handling, "flight" | "key" | "waiting">, hash: DurableState["hash"]): string =>
  waiting?.oid ?? Cells.oidOf(flight.signal.id, key, hash)

/** The cell of a step, or of one of its parts. */
export const stepAddress = (oid: string, segment: number, part?: number): Address.Address =>
  part === undefined ? Dossier.address(oid, "step", String(segment)) : Dossier.address(oid, "step", String(segment), String(part))

/** The module of an enzyme and those of its services, as a step names them. A document that names content keeps it. */
export const codeOf = (entry: Handling["entry"]): Pick<Step.Step, "code" | "services"> => {
  if (entry?.code === undefined) return {}
  const services = (entry.code.services ?? []).flatMap(({ code }) => code === undefined ? [] : [`${CONTENT}${code.hash}`])
  return { code: `${CONTENT}${entry.code.hash}`, ...services.length > 0 && { services } }
}

/**
 * Executes the next segment of a handling.
 */
export const executor = (runs: Runs): RunExecutor["run"] => async (handling, draft, state) => {
  const enzyme = handling.entry!.enzyme
  const oid = oidOf(handling, state.hash)
  const note = Note.read(draft.stage.visible(Note.addressOf(oid).key))
  const context: Context = { ...runs, state, handling, draft, enzyme, oid, note, isCancelled: note.cancel !== undefined }
  const judged = (outcome: Outcome): Outcome => context.isCancelled ? Undo.judge(outcome, draft) : outcome
  try {
    if (note.back !== undefined) handling.segment = note.back
    const end = endOf(oid, note)
    return Run.admit(handling, draft, end === undefined ? judged(await advance(context)) : Run.failureOf(draft, end))
  } catch (error) {
    if (state.documents.failure !== undefined) throw error
    // Without its module, a cancelled run has no body that could react.
    if (error instanceof CodeMissing && note.cancel !== undefined) return Run.failureOf(draft, cancelledBy(oid, note))
    if (error instanceof CodeMissing && enzyme.onMissing === "end") return Run.failureOf(draft, error)
    return error instanceof CodeMissing ? postponed(draft, error) : judged(Run.failureOf(draft, error))
  }
}

/** The end of a run whose body makes no further call: it was cancelled at once, or went on outside its segments. */
const endOf = (oid: string, note: Note.Note): RunCancelled | RunTakenBack | ForeignAwait | undefined => {
  if (Note.isEnd(note)) return cancelledBy(oid, note)
  return note.stray === undefined ? undefined : new ForeignAwait(note.stray)
}

const cancelledBy = (oid: string, { cancel }: Note.Note): RunCancelled | RunTakenBack =>
  cancel === "back" ? new RunTakenBack({ oid }) : new RunCancelled({ oid })

/** The outcome of a run without its enzyme: its end if it is cancelled at once; `undefined` otherwise. */
export const endedWithout = (oid: string, stage: Stage): Outcome | undefined => {
  const note = Note.read(stage.visible(Note.addressOf(oid).key))
  return Note.isEnd(note) ? failure(cancelledBy(oid, note)) : undefined
}

const advance = async (context: Context): Promise<Outcome> => {
  const { bodies, draft, enzyme, handling, note: { anew = 0 }, oid, risks, state } = context
  const { segment } = handling
  if (segment >= Step.MAX_STEPS) throw new StepsFull({ limit: `${Step.MAX_STEPS} segments` })
  // A first segment awaits nothing before its body, so that it ends within a turn.
  const resident = bodies.take(oid, segment) ?? (segment === 0 ? new Continuation(oid) : undefined)
  const continuation = resident ?? await remade(context)
  const { tx } = continuation
  if (tx.failure !== undefined) throw tx.failure
  if (tx.cancellations.isGiven) context.isCancelled = true
  if (segment === 0 && handling.entry?.code !== undefined) continuation.enzyme = enzyme
  const own = continuation.enzyme ?? enzyme
  if (own !== enzyme) draft.envelope = Envelope.make(own.writes, draft.envelope.system)
  const copies: Results.Copies = new Map()
  const { note, settled } = segment === 0 ? { note: undefined, settled: [] } : Results.of(continuation, context, copies)
  handling.settled = settled
  tx.begin(draft)
  if (risks !== undefined) advise(tx, risks, enzyme)
  const heard = tx.pairs.size
  if (segment === 0) tx.semantics = draft.moment.semantics
  const mayBeAhead = segment === 0 ? handling.why !== undefined : resident === undefined
  const isAhead = mayBeAhead && isDeclaredBefore(tx, context)
  if (own === enzyme) declare(continuation, context)
  const declared = tx.pairs.from(heard)
  if (segment > 0) continuation.resume(settled, copies)
  else {
    tx.anew = anew
    continuation.start((tx) => {
      const event = Run.toEvent(handling, draft)
      return Services.inRun(enzyme.run(tx, event), tx, event)
    }, state.host)
  }
  const progress = await continuation.progress(state.host)
  if (tx.failure !== undefined) throw tx.failure
  if (progress !== "waits") return ended(progress, continuation, context)
  if (draft.refusal !== undefined) return Run.failureOf(draft, draft.refusal)
  tx.reads.conclude(draft, tx.segment)
  const limit = isOpen(handling) ? undefined : handling.flight.backlog?.admitRun()
  if (limit !== undefined) return postponed(draft, new RunsFull({ limit }))
  return waits(continuation, { declared, heard, isAhead, note, settled }, context)
}

/** Reports risks of a live segment, in development. */
const advise = (tx: DurableTransaction, risks: StaleRisks, enzyme: Enzyme): void => {
  tx.reads.risk = (risk) => risks.stale(enzyme, risk)
  tx.late = (pair) => risks.late(enzyme, pair, tx.segment)
}

/** Has a run hear the signals that earlier attempts at its segment declared. Returns whether there are any. */
const isDeclaredBefore = (tx: DurableTransaction, { draft, oid }: Context): boolean => {
  const declared = DeclaredPairs.read(oid, (key) => draft.stage.visible(key))
  tx.declare(declared)
  return declared.length > 0
}

/** Has a run hear the signals that its module declares today, once for each module. */
const declare = (continuation: Continuation, { enzyme, handling, state: { host } }: Context): void => {
  const { declaredBy, tx } = continuation
  continuation.declaredBy = enzyme
  const isNew = tx.segment === 0 || (declaredBy !== enzyme && Semantics.follows(tx, "hearsByName"))
  if (isNew) tx.declare(Hearing.declaredPairs(handling, host))
}

/** Whether a run waited before, so that the space has room for it. */
const isOpen = ({ segment, waiting }: Handling): boolean => segment > 0 && waiting !== undefined && waiting.isAgain !== true

/** The body as the log left it. It reads no cells but the log. */
const remade = async (context: Context): Promise<Continuation> => {
  const { handling, oid, state: { documents, host } } = context
  const continuation = new Continuation(oid)
  let begun: Begun = { enzyme: context.enzyme, missing: undefined }
  let body = (_: DurableTransaction): unknown => undefined
  for (let i = 0; i < handling.segment; i++) {
    const logged = Step.read((part) => documents.read(stepAddress(oid, i, part).key))
    if (logged === undefined) {
      throw new RunDiverged({ segment: i, expected: `a step at ${stepAddress(oid, i).id}`, actual: "none" })
    }
    const { length, step } = logged
    if (i === 0) {
      begun = await begunWith(step, context)
      continuation.enzyme = begun.enzyme
      continuation.tx.anew = step.anew ?? 0
      const event = eventOf(step, { ...context, enzyme: begun.enzyme })
      body = (tx) => Services.inRun(begun.enzyme.run(tx, event), tx, event)
    }
    const { missing } = begun
    const how = { host, contentOf: (hash: string) => documents.blob(hash), body }
    await continuation.repeat(step, how).catch((error: unknown) => {
      throw missing === undefined ? error : new CodeMissing({ digest: missing, reason: reasonOf(error) })
    })
    continuation.size = step.size + length
  }
  return continuation
}

/** The reason why a log does not fit a module, without a remedy. */
const reasonOf = (error: unknown): string => error instanceof RunDiverged ? error.difference : messageOf(error)

/** The event with which a body began. Its module decodes the payload, and its operation may have expired since. */
const eventOf = ({ attempt = 1, pipeline }: Step.Step, { enzyme, handling }: Context): Event => {
  const event = Run.toEvent({ ...handling, attempt, entry: { ...handling.entry!, enzyme } })
  return handling.flight.signal.awaits === undefined ? event : { ...event, pipeline }
}

/** The part of a first step that tells with what a body began. */
type FirstStep = Pick<Step.Step, "attempt" | "code" | "services" | "anew" | "pipeline" | "semantics">

/** The attempt and the module with which a body begins, its pipeline, the number of its start, and its rules. */
const beginningOf = ({ draft, handling, note: { anew } }: Context): FirstStep => {
  const { attempt, entry, flight: { signal: { awaits, target = "" } }, segment } = handling
  if (segment > 0) return {}
  const semantics = Semantics.fieldOf(draft.moment)
  const pipeline = awaits === undefined ? undefined : Dossier.pipelineOf(draft, target)
  return {
    attempt,
    ...codeOf(entry),
    ...anew === undefined ? {} : { anew },
    ...pipeline === undefined ? {} : { pipeline },
    ...semantics === undefined ? {} : { semantics }
  }
}

/** The enzyme of a body, and the digest of the module with which it began if that one is missing. */
interface Begun {
  readonly enzyme: Enzyme
  readonly missing: string | undefined
}

/**
 * The enzyme with which a body began. A run stays with its module and its services while other ones replace them, as long as the host
 * has them or can restore their texts. A letter that is sent again goes on with the modules of today.
 */
const begunWith = async ({ code, services = [] }: Step.Step, context: Context): Promise<Begun> => {
  const { enzyme, handling: { entry, why } } = context
  const digest = code?.slice(CONTENT.length)
  if (digest === undefined || why === "redelivery") return { enzyme, missing: undefined }
  const own = digest === entry?.code?.hash ? enzyme : await restoredEnzyme(digest, context)
  if (own === undefined) return { enzyme, missing: digest }
  const today = codeOf(entry).services ?? []
  if (own === enzyme && services.every((service) => today.includes(service))) return { enzyme, missing: undefined }
  return withServices(own, services.map((service) => service.slice(CONTENT.length)), context)
}

/** The enzyme of an earlier module; `undefined` if the host has it no longer. */
const restoredEnzyme = async (digest: string, context: Context): Promise<Enzyme | undefined> => {
  const module = await restored(digest, context)
  const { match, name, query } = context.enzyme
  const isSame = (other: Enzyme): boolean => other.name === name && other.query === query && other.match === match
  return typeof module === "string" ? undefined : module.enzymes.find(isSame)
}

/** An enzyme with the services of earlier modules. Those of today take the place of others. */
const withServices = async (enzyme: Enzyme, digests: ReadonlyArray<string>, context: Context): Promise<Begun> => {
  if (enzyme.services.length === 0) return { enzyme, missing: undefined }
  const today = context.handling.entry?.code?.services ?? []
  const providers: Array<Services.Provider> = []
  let missing: string | undefined
  for (const digest of digests) {
    const here = today.find(({ code }) => code?.hash === digest)
    const module = here === undefined ? await restored(digest, context) : undefined
    const provider = here ?? (typeof module === "string" ? undefined : module?.services)
    if (typeof provider === "object") providers.push(provider)
    else missing = digest
  }
  const all = [...providers, ...today]
  return enzyme.services.every((key) => Services.providerOf(key, all) !== undefined)
    ? { enzyme: Services.bind(enzyme, all).enzyme, missing }
    : { enzyme: context.enzyme, missing: missing ?? context.handling.entry?.code?.hash }
}

/** An earlier module, or the reason why it is not available. */
const restored = (digest: string, { state: { restore, store } }: Context): Promise<RestoredModule | string> => {
  const bytes = store.blob(digest)
  return restore(digest, bytes === undefined ? undefined : new TextDecoder().decode(bytes))
}

/** The outcome of a body that has settled. */
const ended = (progress: Exclude<Progress, string>, { tx }: Continuation, { draft, oid }: Context): Outcome => {
  const outcome = "error" in progress
    ? Undo.outcomeOf(progress.error, Run.failureOf(draft, progress.error), { draft, cancellations: tx.cancellations })
    : Run.conclude(draft, progress.value)
  if (!isMerged(outcome)) return outcome
  if (Semantics.follows(draft.moment, "requestsEndWithRun")) {
    Unawaited.report(draft, (rid) => Requests.address(oid, rid), tx.handles.unawaited())
  }
  tx.reads.conclude(draft, tx.segment)
  return outcome
}

/** The beginning of a segment: its results, the number of signals that the run heard before, and the declared ones since. */
interface Beginning extends Results.Results {
  readonly heard: number
  readonly declared: ReadonlyArray<Pair>
  readonly isAhead: boolean
}

/** The outcome of a body that waits: its step, and the time at which it goes on at the latest. */
const waits = (continuation: Continuation, { declared, heard, isAhead, note, settled }: Beginning, context: Context): Outcome => {
  const { draft, handling, oid } = context
  const { tx } = continuation
  const { segment } = handling
  const left = tx.reads.leave(draft, segment)
  // Without a beginning, in the order of the keys, so that no copy is made for the document.
  const step = Step.encode({
    ...beginningOf(context),
    ...declared.length > 0 ? { hears: declared } : {},
    beat: draft.beat,
    calls: tx.calls,
    ...left.length === 0 ? {} : { left },
    now: draft.now,
    settled,
    size: continuation.size
  })
  continuation.size += step.length
  if (continuation.size > Step.MAX_SIZE) throw new StepsFull({ limit: `${Step.MAX_SIZE} characters` })
  tx.end()
  draft.revoke("the segment is over")
  // By the first rules, a further attempt has come to hear what it names alone.
  const isNew = segment > 0 || Hearing.isNew(handling) || Semantics.follows(draft.moment, "attemptsDeclare")
  const known = isNew ? heard : heard + declared.length
  // A cancelled run goes on at once.
  const dues = note === undefined ? duesOf(continuation, { draft, oid }) : [{ beat: draft.beat, moment: undefined }]
  const listed = tx.pairs.listed(context.note.back !== undefined)
  return { kind: "waits", oid, segment, step, continuation, begun: tx.pairs.from(known), known, isAhead, note, dues, listed }
}

/** The due times of the sleeps that may end first. */
const duesOf = ({ tx: { handles } }: Continuation, { draft, oid }: Pick<Context, "draft" | "oid">): Waits["dues"] => {
  const isHeard = (wait: Omit<Heard, "isAwaited" | "oid">): boolean =>
    draft.stage.visible(Hearing.addressOf({ oid, ...wait }).key) !== undefined
  let dues: ReadonlyArray<Due.Due> = []
  // A signal that the run has heard already begins the next segment at once.
  for (const { due } of handles.dues(isHeard, { beat: draft.beat, moment: undefined })) {
    if (!dues.some((other) => isBefore(other, due))) dues = [...dues.filter((other) => !isBefore(due, other)), due]
  }
  return dues
}

/** Whether a due time is over at the latest when another is. */
const isBefore = (a: Due.Due, b: Due.Due): boolean => (a.moment ?? 0) <= (b.moment ?? 0) && (a.beat ?? 0) <= (b.beat ?? 0)

/** The outcome of a segment that the host decided: it is tried again, and a replay copies it. */
const postponed = (draft: Draft, { _tag: tag, code, message }: CodeMissing | RunsFull): Outcome => {
  draft.revoke("the segment is over")
  return { kind: "retry", tag, code, message }
}
