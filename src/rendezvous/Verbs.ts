/**
 * The verbs of rendezvous, over a transaction.
 *
 * Each verb builds a whole entry off the tree and stores it with one write. Two
 * runs of a beat that write one entry therefore conflict, and a refusal leaves the
 * ledger unchanged [S1 §Technical Details].
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"
import * as Values from "../cell/Value.ts"
import type { Draft } from "../stage/Draft.ts"
import * as Due from "../stage/Due.ts"
import type { Rendezvous } from "../stage/Launch.ts"
import type { Entry } from "./Entry.ts"
import * as Entries from "./Entry.ts"
import {
  LedgerMissing, RendezvousAbsent, RendezvousFinished, RendezvousFree, RendezvousFull, RendezvousUntold, InvalidRendezvous
} from "./RendezvousError.ts"
import * as Spec from "./Spec.ts"
import * as Time from "./Time.ts"
import { TokenRefused } from "./TokenRefused.ts"
import * as Transition from "./Transition.ts"

/** The most open entries of a space. */
export const MAX_OPEN = 1_000_000

/** Characters reserved for growth of a stored entry: later beats lengthen its numbers and its state. */
const ROOM = 1024

/** The verbs' context: beat and space. */
export interface VerbContext {
  readonly hash: (text: string) => string
  /** A secret of this beat for one purpose. It repeats in every replay, and cannot be derived outside. */
  readonly secret: (purpose: string) => string
  /** Whether all readers of one cell may read another, so that the first may be disclosed there. */
  readonly tells: (from: string, to: string) => boolean
  /** The number of open entries. */
  readonly open: () => number
  /** The open entries with a signal path, except the entry with the path's last name as its key. */
  readonly sending: (path: string) => ReadonlyArray<string>
}

/**
 * The verbs of rendezvous for a run.
 */
export const make = (draft: Draft, context: VerbContext): Rendezvous => ({
  spawn: (spec) => draft.guarded(() => spawn(draft, Values.canonical(spec).value, context).token),
  resched: (key, delta) => draft.guarded(() => attempt(() => resched(draft, key, delta))),
  kill: (key, { mode, wait } = {}) => draft.guarded(() => attempt(() => kill(draft, key, { mode, wait }))),
  report: (key, telemetry) => draft.guarded(() => attempt(() => report(draft, key, Values.canonical(telemetry).value))),
  keyOf: (signal) => draft.guarded(() => keyOf(draft, signal, context))
})

/** The entry for a completion signal: the one with the last name as its key, else the only one with that signal path. */
const keyOf = (draft: Draft, signal: string, { sending, tells }: VerbContext): string | undefined => {
  const path = signal.startsWith("/") ? signal.slice(1) : signal
  const key = path.slice(path.lastIndexOf("/") + 1)
  if (key === "") return undefined
  if (read(draft, key) !== undefined) return key
  // An entry above the run's own label is treated as absent.
  const own = Entries.address(key).key
  const [only, ...others] = sending(path).filter((other) => tells(Entries.address(other).key, own))
  return others.length > 0 ? undefined : only
}

/** Turns refusals into `false` for a run; callers from outside get the reason. */
const attempt = (verb: () => void): boolean => {
  try {
    verb()
    return true
  } catch (error) {
    if (error instanceof InvalidRendezvous || error instanceof RendezvousAbsent || error instanceof RendezvousFinished) return false
    throw error
  }
}

/**
 * Creates an entry, or replaces one with the same key; returns the worker's token.
 *
 * @throws NoSpec, InvalidRendezvous, InvalidValue, LedgerMissing, RendezvousFull, RendezvousUntold
 */
export const spawn = (draft: Draft, spec: Value, { hash, open, secret, tells }: VerbContext): {
  readonly key: string
  readonly token: string
} => {
  const { entry, key } = Spec.prepare(spec, { now: draft.moment, hash, defaults: (profile) => draft.get(`${Entries.DEFAULTS}/${profile}`) })
  const event = `${Entries.EVENTS}/${key}`
  if (!tells(Entries.address(key).key, event)) throw Spec.refuse(
    `its cell has labels that ${event} has not, where its completion is told. Give that these atoms in the configuration's labels`
  )
  if (draft.get(Entries.FOLDER) === undefined) throw new LedgerMissing()
  if (open() >= MAX_OPEN) throw new RendezvousFull({ limit: MAX_OPEN })
  const before = read(draft, key)
  if (before !== undefined && isUntold(before)) throw new RendezvousUntold({ key, state: before.state })
  const token = secret(`rv ${key} ${draft.id()}`)
  give(draft, key, { ...entry, token_id: hash(token) })
  return { key, token }
}

/**
 * Replaces the token of an open entry, for a worker that was absent when it was spawned.
 *
 * @throws RendezvousAbsent, RendezvousFinished
 */
export const claim = (draft: Draft, key: string, { hash, secret }: VerbContext): { readonly key: string; readonly token: string } => {
  const entry = open(draft, key)
  const token = secret(`rv ${key} ${draft.id()}`)
  graft(draft, key, { ...entry, token_id: hash(token) })
  return { key, token }
}

/**
 * Moves the due beat of an entry. A delta of 0 is a no-op, even for an absent entry.
 *
 * @throws InvalidRendezvous, RendezvousAbsent, RendezvousFinished
 */
export const resched = (draft: Draft, key: string, by: number | string): void => {
  const delta = Due.beatsOf(by, draft.moment)
  if (!Number.isSafeInteger(delta) || Math.abs(delta) > Entries.MAX_BEAT) {
    throw Spec.refuse(`it is put off by ${String(by).slice(0, 100)}; give a time such as "10s", or a whole number of beats`)
  }
  if (delta === 0) return
  const entry = open(draft, key)
  graft(draft, key, { ...entry, ...Transition.dueAt(Time.later({ beat: entry.due, ms: entry.due_ms }, delta, draft.moment)) })
}

/**
 * Kills an entry after a number of scans. A repeated entry that has completed is killed too.
 *
 * @throws InvalidRendezvous, RendezvousAbsent, RendezvousFinished
 */
export const kill = (draft: Draft, key: string, { mode = "kill", wait = 0 }: {
  readonly mode?: string | undefined
  readonly wait?: number | undefined
}): void => {
  const asked = Transition.killing(Spec.mode(mode), Spec.numberOf("kill_wait", wait), draft.moment)
  const entry = read(draft, key)
  graft(draft, key, { ...entry !== undefined && Transition.isRepeated(entry) ? entry : open(draft, key), ...asked })
}

/**
 * Releases an entry from quarantine, so that it accepts its next correct report, with as much time for that as at its spawn.
 *
 * @throws RendezvousAbsent, RendezvousFinished, RendezvousFree
 */
export const release = (draft: Draft, key: string): void => {
  const entry = open(draft, key)
  if (entry.state !== "quarantine") throw new RendezvousFree({ key, state: entry.state })
  graft(draft, key, Transition.released(entry, draft.moment))
}

/**
 * Checks the digest of a token before any other check, so that an invalid token discloses nothing about a key.
 *
 * @throws TokenRefused
 */
export const prove = (draft: Draft, key: string, proof: string): void => {
  if (read(draft, key)?.token_id !== proof) throw new TokenRefused({ key: String(key) })
}

/**
 * Stores the result of a worker.
 *
 * @throws InvalidRendezvous, InvalidValue, RendezvousAbsent, RendezvousFinished
 */
export const report = (draft: Draft, key: string, telemetry: Value): void => {
  const entry = open(draft, key)
  const fields = Spec.telemetryOf(telemetry)
  give(draft, key, Transition.reported(
    entry,
    { telemetry: fields, content: entry.prof === "rv-cas" ? contentOf(draft, fields) : undefined }
  ))
}

/** The content named by the telemetry field `cas_hash`, by digest or address. */
const contentOf = (draft: Draft, telemetry: Value): Transition.Result["content"] => {
  const named = (telemetry as { readonly cas_hash?: Value }).cas_hash
  const digest = typeof named === "string" ? /^(?:\/cas\/)?([0-9a-f]{64})$/.exec(named)?.[1] : undefined
  return digest === undefined ? undefined : { digest, isKept: draft.get(`/cas/${digest}`) !== undefined }
}

/** Whether an entry accepts no more verbs after the events of the beat. */
export const isOver = (draft: Draft, key: string): boolean => {
  const entry = read(draft, key)
  return entry === undefined || Entries.isFinished(entry)
}

const read = (draft: Draft, key: string): Entry | undefined =>
  Entries.isKey(key) ? Entries.read(draft.get(Entries.address(key).text)) : undefined

const isUntold = (entry: Entry): boolean => entry.event_flag > 0 && Entries.isFinished(entry)

/** An open entry. */
const open = (draft: Draft, key: string): Entry => {
  const entry = read(draft, key)
  if (entry === undefined) throw new RendezvousAbsent({ key: String(key) })
  if (Entries.isFinished(entry)) throw new RendezvousFinished({ key, state: entry.state })
  return entry
}

/** Stores an entry with new telemetry, if its document has room to grow. */
const give = (draft: Draft, key: string, entry: Entry): void => {
  const { size } = Entries.write(entry)
  if (size > Document.MAX_TEXT - ROOM) {
    throw new Values.InvalidValue({
      at: Entries.address(key).text,
      reason: `with its telemetry it has ${size} characters and the limit is ${Document.MAX_TEXT - ROOM}; keep what is large in cells ` +
        "of its own, or with tx.blob(bytes)"
    })
  }
  graft(draft, key, entry)
}

const graft = (draft: Draft, key: string, entry: Entry): void => {
  draft.operate([{ kind: "set", address: Entries.address(key), document: Entries.write(entry) }])
}
