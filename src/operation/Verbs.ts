/**
 * The verbs of operations, over a transaction.
 *
 * The mutable fields of a dossier are written like any cell. Two runs of a beat
 * that set different states or statuses therefore conflict. History entries and
 * watchers are launches, numbered when the runs are merged, one run after another
 * [S0 §OPS/STATES Operations].
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Name from "../cell/Name.ts"
import * as Value from "../cell/Value.ts"
import type { Draft } from "../stage/Draft.ts"
import * as Due from "../stage/Due.ts"
import * as OutgoingSignal from "../stage/OutgoingSignal.ts"
import type { Continuation, OperationRequest, Operations, StateNote } from "../stage/Launch.ts"
import type { OperationLaunch } from "../stage/Launches.ts"
import * as Write from "../stage/write/Write.ts"
import * as Dossier from "./Dossier.ts"
import { AwaitUnheard, InvalidOperation, OperationClosed, OperationAbsent, OperationHeld, WatchersFull } from "./OperationError.ts"
import * as Vocabulary from "./Vocabulary.ts"
import { MAX_AT_ONE, MAX_OPEN } from "./Watches.ts"

/** The most characters of a note, and the most ids of a pipeline run. */
const MAX_NOTE = 2000
const MAX_IDS = 16

/** The awaiting enzyme, and the space's view of its await. */
export interface Awaiting {
  /** The running enzyme. */
  readonly enzyme: string
  /** Whether a signal to a cell would be taken, with that enzyme bound there. */
  readonly hears: (signal: string, target: string) => boolean
  /** The number of open watchers in the space. */
  readonly open: () => number
}

/**
 * The verbs of operations for a run.
 */
export const make = (draft: Draft, awaiting: Awaiting): Operations => ({
  start: (request) => draft.guarded(() => start(draft, request, encoded(request.payload))),
  setState: (oid, state, note) => draft.guarded(() => told(() => setState(draft, { oid: requireOwned(oid), state, ...note }))),
  await: (oid, want, then) => draft.guarded(() => watch(draft, { ...then, oid, want, payload: encoded(then.payload) }, awaiting)),
  close: (oid, status, summary) =>
    draft.guarded(() => told(() => close(draft, { oid: requireOwned(oid), status, summary: encoded(summary) }))),
  get: (oid) => draft.guarded(() => {
    const live = Dossier.isOid(oid) ? read(draft, oid) : undefined
    return live === undefined ? undefined : Dossier.summary(oid, live)
  })
})

/** A value as a document. */
const encoded = (value: unknown): Document.Document | undefined => value === undefined ? undefined : Document.encode(value)

/** Turns refusals into `false` for a run; callers from outside get the reason. */
const told = (verb: () => void): boolean => {
  try {
    verb()
    return true
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal)) return false
    throw error
  }
}

const refusals = [InvalidOperation, OperationAbsent, OperationClosed, OperationHeld]

/**
 * The id of an operation that enzymes and callers may change.
 *
 * @throws OperationHeld
 */
export const requireOwned = (oid: string): string => {
  if (Dossier.isOid(oid) && Dossier.isOfRuntime(oid)) throw new OperationHeld({ oid })
  return oid
}

/**
 * Starts an operation with a payload; returns its id, which is new unless it is given.
 *
 * @throws InvalidOperation
 */
export const start = (
  draft: Draft,
  request: Omit<OperationRequest, "payload"> & { readonly oid?: string },
  kept: Document.Document | undefined
): string => {
  const { mode, pipeline, target, verb } = request
  check(request, draft.moment)
  const ttl = ttlOf(request.ttl, draft.moment)
  const { oid = `OPS:${draft.id()}` } = request
  const { beat } = draft
  const envelope = Dossier.address(oid, "envelope")
  const place = Dossier.payloadOf(envelope)
  // In the order of the keys, so that no copy is made for the document.
  const live: Dossier.Live = { beat, code: 0, hist_next: 2, state: Vocabulary.RUNNING, watchers: 0, wtch_next: 1 }
  draft.operate([
    Write.set(Dossier.address(oid), live),
    Write.set(envelope, {
      issued_beat: beat, mode, ...(kept === undefined ? {} : { payload_id: Dossier.linkTo(place) }),
      ...(pipeline === undefined ? {} : { pipeline: { ...pipeline } }), target, ttl, verb
    }),
    Write.set(Dossier.historyAddress(oid, 1), { beat, code: 0, state: live.state }),
    ...(kept === undefined ? [] : [{ kind: "set", address: place, document: kept } as const])
  ])
  return oid
}

/**
 * Validates a request. Without a tempo, a time counts as valid whatever its number of beats.
 *
 * @throws InvalidOperation
 */
export const check = (
  { mode, pipeline = {}, target, ttl, verb }: Omit<OperationRequest, "payload">,
  now: Pick<Due.Now, "tempo"> = { tempo: 1 }
): void => {
  if (!Vocabulary.isVerb(verb)) throw refuse(`its verb is ${shown(verb)}; give names such as op/render`)
  if (typeof target !== "string" || target === "" || target.length > Address.MAX_TEXT || !target.isWellFormed()) {
    throw refuse(`its target is ${shown(target)}; say in at most ${Address.MAX_TEXT} characters what it is done to`)
  }
  if (!Vocabulary.isMode(mode)) throw refuse(`its mode is ${shown(mode)}; give opm:direct or opm:states`)
  ttlOf(ttl, now)
  if (!isPipeline(pipeline)) throw refuse(
    `its pipeline is ${shown(pipeline)}; give at most ${MAX_IDS} ids by their names, each a whole number or a text of at most ` +
      `${Name.MAX_NAME} characters`
  )
}

const isPipeline = (pipeline: unknown): boolean => {
  if (typeof pipeline !== "object" || pipeline === null || Array.isArray(pipeline)) return false
  const ids = Object.entries(pipeline)
  return ids.length <= MAX_IDS && ids.every(([name, id]) => Name.refusal(name) === undefined && Value.isKey(name) && (
    typeof id === "string" ? id.length <= Name.MAX_NAME && id.isWellFormed() : Number.isSafeInteger(id)
  ))
}

/**
 * Sets a state.
 *
 * @throws InvalidOperation, OperationAbsent, OperationClosed
 */
export const setState = (
  draft: Draft,
  { code = 0, note, oid, state: word }: { readonly oid: string; readonly state: string } & StateNote
): void => {
  const state = Vocabulary.state(word)
  if (state === undefined) throw refuse(`${shown(word)} is no state; give a name such as ist:plan`)
  if (!Number.isSafeInteger(code)) throw refuse(`its code is ${shown(code)}; give a whole number`)
  if (note !== undefined && (typeof note !== "string" || note.length > MAX_NOTE)) {
    throw refuse(`its note is no text of at most ${MAX_NOTE} characters`)
  }
  const live = known(draft, oid)
  if (live.status !== undefined) throw new OperationClosed({ oid, status: live.status })
  // A run that closes the operation writes its state as well, so one of both waits.
  const writes = [set(oid, "state", state), set(oid, "code", code), set(oid, "note", note)]
  if (isRepeated(draft, live, state)) return draft.operate(writes)
  record(draft, { oid, live, writes }, { kind: "state", oid, state, code, note })
}

/**
 * Closes an operation. A repeated close with the same status is a no-op.
 *
 * @throws InvalidOperation, OperationAbsent, OperationClosed
 */
export const close = (
  draft: Draft,
  { oid, status, summary: kept }: { readonly oid: string; readonly status: string; readonly summary: Document.Document | undefined }
): void => {
  const state = Vocabulary.stateOf(status)
  if (state === undefined) throw refuse(`${shown(status)} is no status; give sts:ok, sts:fail or sts:cnl`)
  const live = known(draft, oid)
  if (live.status === status) return
  if (live.status !== undefined) throw new OperationClosed({ oid, status: live.status })
  const seal = Dossier.address(oid, "close")
  const place = Dossier.payloadOf(seal)
  const entry = !isRepeated(draft, live, state)
  const writes = [
    set(oid, "state", state),
    // Code and note belong to the state with which they were set.
    ...(entry ? [set(oid, "code", 0), set(oid, "note", undefined)] : []),
    set(oid, "status", status),
    Write.set(seal, { closed_beat: draft.beat, status, ...(kept === undefined ? {} : { summary_id: Dossier.linkTo(place) }) }),
    ...(kept === undefined ? [] : [{ kind: "set", address: place, document: kept } as const])
  ]
  record(draft, { oid, live, writes }, { kind: "close", oid, state, code: 0, note: undefined, status, entry })
}

/** An operation and the writes of a verb on it. */
interface Asked {
  readonly oid: string
  readonly live: Dossier.Live
  readonly writes: ReadonlyArray<Write.Write>
}

/** Writes the mutable fields, with a history entry. */
const record = (draft: Draft, { live, oid, writes }: Asked, launch: Exclude<OperationLaunch, { readonly kind: "await" }>): void => {
  if (launch.kind === "close" && !launch.entry) return draft.operate(writes, { ledger: "op", launch, shows: [] })
  draft.operate([...writes, set(oid, "beat", draft.beat), count(oid, "hist_next")], {
    ledger: "op",
    launch,
    shows: [[Dossier.historyAddress(oid, live.hist_next), historyEntry(draft.beat, launch)]]
  })
}

/** Whether the state repeats in one beat; repeats share one history entry. */
const isRepeated = (draft: Draft, live: Dossier.Live, state: string): boolean => live.state === state && live.beat === draft.beat

/** A history entry. */
export const historyEntry = (
  beat: number,
  { code, note, state }: { readonly state: string; readonly code: number; readonly note: string | undefined }
): Document.Document =>
  Document.encode({ beat, code, ...(note === undefined ? {} : { note }), state })

/**
 * Awaits a state or a status.
 *
 * @throws InvalidOperation, InvalidSignal, OperationAbsent, AwaitUnheard, WatchersFull
 */
export const watch = (
  draft: Draft,
  { oid, payload, signal, want: word, ...asked }: Omit<Continuation, "payload"> & {
    readonly oid: string
    readonly want: string
    readonly payload: Document.Document | undefined
  },
  { enzyme, hears, open }: Awaiting
): void => {
  const want = Vocabulary.want(word)
  if (want === undefined) {
    throw refuse(`${shown(word)} can be awaited by nobody; give a state such as ist:plan, or sts:ok, sts:fail or sts:cnl`)
  }
  const ttl = ttlOf(asked.ttl, draft.moment)
  OutgoingSignal.make("", { signal }, draft.beat)
  const live = known(draft, oid)
  const target = Dossier.address(oid)
  if (!hears(signal, target.id)) throw new AwaitUnheard({ oid, signal })
  if (live.watchers >= MAX_AT_ONE) throw new WatchersFull({ limit: `${MAX_AT_ONE} watchers at operation "${oid}"` })
  if (open() >= MAX_OPEN) throw new WatchersFull({ limit: `${MAX_OPEN} watchers in the space` })
  const launch = { kind: "await", oid, want, ttl, signal, payload, enzyme } as const
  const place = Dossier.watcherAddress(oid, live.wtch_next)
  const entry = watcherEntry(draft.moment, launch, place)
  draft.operate([count(oid, "wtch_next"), count(oid, "watchers")], {
    ledger: "op",
    launch,
    shows: payload === undefined ? [[place, entry]] : [[place, entry], [Dossier.payloadOf(place), payload]]
  })
}

/** The content of a watcher's cell. */
export const watcherEntry = (
  { beat, clock }: { readonly beat: number; readonly clock: number },
  { enzyme, payload, signal, ttl, want }: Extract<OperationLaunch, { readonly kind: "await" }>,
  place: Address.Address
): Document.Document => {
  const watcher: Dossier.Watcher = { want, deadline: ttl === 0 ? 0 : beat + ttl, cont: signal, enzyme, issued_beat: beat, issued_ms: clock }
  return Document.encode(payload === undefined ? watcher : { ...watcher, payload_id: Dossier.linkTo(Dossier.payloadOf(place)) })
}

const read = (draft: Draft, oid: string): Dossier.Live | undefined => Dossier.live(draft.get(Dossier.address(oid).text))

const known = (draft: Draft, oid: string): Dossier.Live => {
  const live = Dossier.isOid(oid) ? read(draft, oid) : undefined
  if (live === undefined) throw new OperationAbsent({ oid: String(oid) })
  return live
}

const set = (oid: string, field: keyof Dossier.Live, value: unknown): Write.Write =>
  Write.set(Address.into(Dossier.address(oid), [field]), value)

const count = (oid: string, field: keyof Dossier.Live): Write.Write =>
  ({ kind: "increment", address: Address.into(Dossier.address(oid), [field]), by: 1 })

/** The beats of a time-out, which is given in beats, also as a text, or as a time. */
const ttlOf = (ttl: number | string = 0, now: Pick<Due.Now, "tempo">): number => {
  const beats = Number(typeof ttl === "string" && !/^\d{1,16}$/.test(ttl) ? Due.inBeats(ttl, now) : ttl)
  if (!Number.isInteger(beats) || beats < 0 || beats > Due.MAX_WAIT) {
    throw refuse(`its ttl is ${shown(ttl)}; give a time such as "10s", or a whole number of beats from 0 to ${Due.MAX_WAIT}`)
  }
  return beats
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? typeof value).slice(0, 200)

const refuse = (reason: string) => new InvalidOperation({ reason })
