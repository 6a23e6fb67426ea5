/**
 * The verbs of rendezvous, over the transaction that asks.
 *
 * Each makes a whole entry beside the ledger and puts it there as one write, so
 * two runs of a beat that touch one entry are in conflict, and whatever is
 * refused on the way leaves the ledger as it was. (Seed 001, "Off-tree staging";
 * semantics, section 5.3.)
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"
import * as Values from "../cell/Value.ts"
import type { Draft } from "../stage/Draft.ts"
import type { Rendezvous } from "../stage/Launch.ts"
import type { Entry } from "./Entry.ts"
import * as Entries from "./Entry.ts"
import { LedgerMissing, RendezvousAbsent, RendezvousFinished, RendezvousFree, RendezvousFull, RendezvousUntold, TokenRefused, InvalidRendezvous } from "./RendezvousError.ts"
import * as Spec from "./Spec.ts"
import * as Time from "./Time.ts"
import * as Transition from "./Transition.ts"

/** Most entries of a space that are not over. */
export const MAX_OPEN = 1_000_000

/** Characters by which an entry can grow once it was given what it holds: beats that pass make its numbers and its state longer. */
const ROOM = 1024

/** What the verbs know of the beat and the space. */
export interface Around {
  readonly hash: (text: string) => string
  /** A secret that this beat has for one purpose: it repeats in every replay, and nobody outside can tell it. */
  readonly secret: (purpose: string) => string
  /** Whether whoever may look at one of these cells may look at the other, too: what the first holds is told by it. */
  readonly tells: (from: string, to: string) => boolean
  /** How many entries are not over. */
  readonly open: () => number
  /** The entries that are not over and complete with a signal path, but for the one whose key is the path's last name. */
  readonly sending: (path: string) => ReadonlyArray<string>
}

/**
 * A run's face of rendezvous.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (draft: Draft, around: Around): Rendezvous => ({
  spawn: (spec) => draft.guarded(() => spawn(draft, Values.canonical(spec).value, around).token),
  resched: (key, delta) => draft.guarded(() => told(() => resched(draft, key, delta))),
  kill: (key, { mode, wait } = {}) => draft.guarded(() => told(() => kill(draft, key, { mode, wait }))),
  report: (key, telemetry) => draft.guarded(() => told(() => report(draft, key, Values.canonical(telemetry).value))),
  keyOf: (signal) => draft.guarded(() => keyOf(draft, signal, around))
})

/** The entry whose completion a signal stands for: the one of the whole key, else the only one with that signal path. */
const keyOf = (draft: Draft, signal: string, { sending, tells }: Around): string | undefined => {
  const [, path, key] = /^\/?(.*?([^/]+))$/.exec(signal) ?? []
  if (path === undefined || key === undefined) return undefined
  if (read(draft, key) !== undefined) return key
  // An entry that the run may not know of is none to it.
  const own = Entries.address(key).key
  const [only, ...others] = sending(path).filter((other) => tells(Entries.address(other).key, own))
  return others.length > 0 ? undefined : only
}

/** A run is told no where the outside is told why. */
const told = (verb: () => void): boolean => {
  try {
    verb()
    return true
  } catch (error) {
    if (error instanceof InvalidRendezvous || error instanceof RendezvousAbsent || error instanceof RendezvousFinished) return false
    throw error
  }
}

/**
 * Puts a new entry into the ledger, in place of one of the same key; answers the token that a worker reports with.
 *
 * @throws NoSpec, InvalidRendezvous, InvalidValue, LedgerMissing, RendezvousFull, RendezvousUntold
 * @category combinators
 * @since 0.1.0
 */
export const spawn = (draft: Draft, spec: Value, { hash, open, secret, tells }: Around): { readonly key: string; readonly token: string } => {
  const { entry, key } = Spec.prepare(spec, { now: draft.moment, hash, defaults: (profile) => draft.get(`${Entries.DEFAULTS}/${profile}`) })
  const event = `${Entries.EVENTS}/${key}`
  if (!tells(Entries.address(key).key, event)) throw Spec.refuse(`its cell has labels that ${event} has not, where its completion is told. Give that these atoms in the configuration's labels`)
  if (draft.get(Entries.FOLDER) === undefined) throw new LedgerMissing()
  if (open() >= MAX_OPEN) throw new RendezvousFull({ limit: MAX_OPEN })
  const before = read(draft, key)
  if (before !== undefined && isUntold(before)) throw new RendezvousUntold({ key, state: before.state })
  const token = secret(`rv ${key} ${draft.id()}`)
  give(draft, key, { ...entry, token_id: hash(token) })
  return { key, token }
}

/**
 * Mints another token for an entry that is not over, in place of the one it had: for a worker who was not there when it was spawned.
 *
 * @throws RendezvousAbsent, RendezvousFinished
 * @category combinators
 * @since 0.1.0
 */
export const claim = (draft: Draft, key: string, { hash, secret }: Around): { readonly key: string; readonly token: string } => {
  const entry = open(draft, key)
  const token = secret(`rv ${key} ${draft.id()}`)
  graft(draft, key, { ...entry, token_id: hash(token) })
  return { key, token }
}

/**
 * Moves the beat at which an entry is due. By nothing, it is not even looked for.
 *
 * @throws InvalidRendezvous, RendezvousAbsent, RendezvousFinished
 * @category combinators
 * @since 0.1.0
 */
export const resched = (draft: Draft, key: string, delta: number): void => {
  if (!Number.isSafeInteger(delta) || Math.abs(delta) > Entries.MAX_BEAT) throw Spec.refuse(`it is put off by ${String(delta).slice(0, 100)}; give a whole number of beats`)
  if (delta === 0) return
  const entry = open(draft, key)
  graft(draft, key, { ...entry, ...Transition.dueAt(Time.later({ beat: entry.due, ms: entry.due_ms }, delta, draft.moment)) })
}

/**
 * Asks for the end of an entry, so many scans on; of one that is told of and waited for again, from then on.
 *
 * @throws InvalidRendezvous, RendezvousAbsent, RendezvousFinished
 * @category combinators
 * @since 0.1.0
 */
export const kill = (draft: Draft, key: string, { mode = "kill", wait = 0 }: { readonly mode?: string | undefined; readonly wait?: number | undefined }): void => {
  const asked = Transition.killing(Spec.mode(mode), Spec.numberOf("kill_wait", wait), draft.moment)
  const entry = read(draft, key)
  graft(draft, key, { ...entry !== undefined && Transition.isRepeated(entry) ? entry : open(draft, key), ...asked })
}

/**
 * Releases an entry from quarantine, so that its next correct report is taken.
 *
 * @throws RendezvousAbsent, RendezvousFinished, RendezvousFree
 * @category combinators
 * @since 0.1.0
 */
export const release = (draft: Draft, key: string): void => {
  const entry = open(draft, key)
  if (entry.state !== "quarantine") throw new RendezvousFree({ key, state: entry.state })
  graft(draft, key, Transition.released(entry, draft.moment))
}

/**
 * Checks the digest of a token that was shown for an entry, before anything else is said of it: who shows one learns nothing of the keys that it is not good for.
 *
 * @throws TokenRefused
 * @category combinators
 * @since 0.1.0
 */
export const prove = (draft: Draft, key: string, proof: string): void => {
  if (read(draft, key)?.token_id !== proof) throw new TokenRefused({ key: String(key) })
}

/**
 * Takes in the result of somebody's work.
 *
 * @throws InvalidRendezvous, InvalidValue, RendezvousAbsent, RendezvousFinished
 * @category combinators
 * @since 0.1.0
 */
export const report = (draft: Draft, key: string, telemetry: Value): void => {
  const entry = open(draft, key)
  const fields = Spec.telemetryOf(telemetry)
  give(draft, key, Transition.reported(entry, { telemetry: fields, content: entry.prof === "rv-cas" ? contentOf(draft, fields) : undefined }))
}

/** The content that telemetry names in its field `cas_hash`, by its digest or its address. */
const contentOf = (draft: Draft, telemetry: Value): Transition.Result["content"] => {
  const named = (telemetry as { readonly cas_hash?: Value }).cas_hash
  const digest = typeof named === "string" ? /^(?:\/cas\/)?([0-9a-f]{64})$/.exec(named)?.[1] : undefined
  return digest === undefined ? undefined : { digest, isKept: draft.get(`/cas/${digest}`) !== undefined }
}

/** Whether nothing can be asked of an entry any more, once the completions of the beat are told of. */
export const isOver = (draft: Draft, key: string): boolean => {
  const entry = read(draft, key)
  return entry === undefined || Entries.isFinished(entry)
}

const read = (draft: Draft, key: string): Entry | undefined => Entries.isKey(key) ? Entries.read(draft.get(Entries.address(key).text)) : undefined

const isUntold = (entry: Entry): boolean => entry.event_flag > 0 && Entries.isFinished(entry)

/** An entry that is not over. */
const open = (draft: Draft, key: string): Entry => {
  const entry = read(draft, key)
  if (entry === undefined) throw new RendezvousAbsent({ key: String(key) })
  if (Entries.isFinished(entry)) throw new RendezvousFinished({ key, state: entry.state })
  return entry
}

/** Puts an entry whose telemetry is new, where there is room for all that can become of it. */
const give = (draft: Draft, key: string, entry: Entry): void => {
  const { size } = Entries.write(entry)
  if (size > Document.MAX_TEXT - ROOM) {
    throw new Values.InvalidValue({ at: Entries.address(key).text, reason: `with its telemetry it has ${size} characters and the limit is ${Document.MAX_TEXT - ROOM}; keep what is large in cells of its own, or with tx.blob(bytes)` })
  }
  graft(draft, key, entry)
}

const graft = (draft: Draft, key: string, entry: Entry): void => {
  draft.operate([{ kind: "set", address: Entries.address(key), document: Entries.write(entry) }])
}
