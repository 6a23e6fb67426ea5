/**
 * Advance: what a beat makes of its rendezvous.
 *
 * At the capture the entries whose beat has come make their next step; when all
 * runs are merged, each completion gets its one event, in the same batch as the
 * entry that tells of it. (Seed 001; semantics, section 5.4; architecture,
 * section 1.1, steps 5 and 10.)
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import type { Now } from "../stage/Due.ts"
import { CAPTURE, COMMIT, type Stage } from "../stage/Stage.ts"
import type { Entry, Outcome } from "./Entry.ts"
import * as Entries from "./Entry.ts"
import type { Open } from "./Open.ts"
import { transition } from "./Transition.ts"

/** A completion that was told of. */
export interface Completion {
  readonly key: string
  readonly outcome: Outcome
  /** The signal to send, and the cell of the event, which it goes to. */
  readonly signal: string
  readonly target: string
  readonly payload: Document.Document
}

/**
 * Step 5: scans the entries among the cells whose time has come, and those that the capture wrote, each once.
 *
 * @category combinators
 * @since 0.1.0
 */
export const atCapture = (stage: Stage, now: Now, met: ReadonlyArray<string>): void => {
  if (met.length === 0 && stage.documents.size === 0) return
  for (const key of touched(stage, met)) {
    const step = stepOf(stage, key, now)
    // A completion that the capture itself made gets its event with all others, at the commit.
    if (step !== undefined && step.event === undefined) stage.put(Entries.address(key), Entries.write(step.entry), CAPTURE)
  }
}

/**
 * Step 10: gives each completion of the beat its event, and ends the variants that came too late.
 *
 * @category combinators
 * @since 0.1.0
 */
export const atCommit = (stage: Stage, now: Now, open: Open): ReadonlyArray<Completion> => {
  endRivals(stage, open)
  const completions: Array<Completion> = []
  for (const key of written(stage)) {
    const entry = newest(stage, key)
    if (entry === undefined || entry.event_flag === 0 || !Entries.isFinished(entry)) continue
    const { entry: told, event } = transition(entry, now)!
    const place = Address.make(`${Entries.EVENTS}/${key}`)
    const payload = Entries.event(key, entry, { beat: now.beat, outcome: event! })
    stage.put(Entries.address(key), Entries.write(told), COMMIT)
    stage.put(place, payload, COMMIT)
    completions.push({ key, outcome: event!, signal: `/${entry.signal_path}`, target: place.key, payload })
  }
  index(stage)
  return completions
}

const HERE = Document.encode(true)

/** Keeps the index of the entries that are not over. */
const index = (stage: Stage): void => {
  for (const key of written(stage)) {
    const entry = newest(stage, key)
    const isOpen = entry !== undefined && !Entries.isFinished(entry)
    const place = Address.make(`${Entries.OPEN}/${key}`)
    if (isOpen !== (stage.committed.read(place.key) !== undefined)) stage.put(place, isOpen ? HERE : undefined, COMMIT)
  }
}

/** Of several variants the first that was applied is the answer: the others are killed with it. */
const endRivals = (stage: Stage, open: Open): void => {
  for (const [id, keys] of questions(stage)) {
    const answer = keys.find((key) => isToBeTold(newest(stage, key)!))
    if (answer === undefined) continue
    for (const rival of new Set([...open.rivals(id), ...keys])) {
      const other = rival === answer ? undefined : newest(stage, rival)
      if (other === undefined || variantId(other) !== id || (Entries.isFinished(other) && !isToBeTold(other))) continue
      stage.put(Entries.address(rival), Entries.write({ ...other, state: "killed", kill_mode: "none", kill_wait: 0, kill_ms: 0, event_flag: 1 }), COMMIT)
    }
  }
}

/** The variants that the beat wrote, by the id that they share. */
const questions = (stage: Stage): ReadonlyMap<string, ReadonlyArray<string>> => {
  const found = new Map<string, Array<string>>()
  for (const key of written(stage)) {
    const entry = newest(stage, key)
    const id = entry === undefined ? undefined : variantId(entry)
    if (id === undefined) continue
    const keys = found.get(id)
    if (keys === undefined) found.set(id, [key])
    else keys.push(key)
  }
  return found
}

const variantId = ({ inst_id, prof }: Entry): string | undefined => prof === "spec" ? inst_id : undefined

const isToBeTold = ({ event_flag, state }: Entry): boolean => state === "applied" && event_flag > 0

/**
 * The entries that the beat put into quarantine, by its scan, a report or a write.
 *
 * @category getters
 * @since 0.1.0
 */
export const quarantined = (stage: Stage): ReadonlyArray<string> =>
  written(stage).filter((key) => newest(stage, key)?.state === "quarantine" && before(stage, key)?.state !== "quarantine")

const before = (stage: Stage, key: string): Entry | undefined => Entries.read(Document.read(stage.committed.read(Entries.address(key).key), []))

/** The entries that the beat wrote so far, in that order. */
export const written = (stage: Stage): ReadonlyArray<string> => entriesOf(stage.documents.keys())

/** The entries whose time has come, and those that the beat wrote so far. */
export const touched = (stage: Stage, met: ReadonlyArray<string>): ReadonlySet<string> => new Set([...entriesOf(met), ...written(stage)])

/** The entries among documents. */
const entriesOf = (documents: Iterable<string>): ReadonlyArray<string> => {
  const keys: Array<string> = []
  for (const key of documents) {
    // Most documents of most beats are not of this folder.
    const entry = key.charCodeAt(6) === 114 ? Entries.keyOf(key) : undefined
    if (entry !== undefined) keys.push(entry)
  }
  return keys
}

const newest = (stage: Stage, key: string): Entry | undefined => Entries.read(Document.read(stage.newest(Entries.address(key).key), []))

const stepOf = (stage: Stage, key: string, now: Now) => {
  const entry = newest(stage, key)
  return entry === undefined ? undefined : transition(entry, now)
}
