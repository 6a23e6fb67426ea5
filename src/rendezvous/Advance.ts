/**
 * Advances the rendezvous of one beat.
 *
 * At the capture, due entries take one transition each. At the commit, each
 * completion gets exactly one event, in the same batch as its entry [S1 §Technical
 * Details].
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import type { Now } from "../stage/Due.ts"
import { CAPTURE, COMMIT, type Stage } from "../stage/Stage.ts"
import type { Entry } from "./Entry.ts"
import * as Entries from "./Entry.ts"
import type { Open } from "./Open.ts"
import { transition } from "./Transition.ts"

/** A completion and its event. */
export interface Completion {
  /** The signal of the event, and the event's cell, which is its target. */
  readonly signal: string
  readonly target: string
  readonly payload: Document.Document
}

/**
 * Step 5 of the beat: applies one transition to each entry that is due or that the capture wrote.
 */
export const atCapture = (stage: Stage, now: Now, met: ReadonlyArray<string>): void => {
  if (met.length === 0 && stage.documents.size === 0) return
  for (const key of touched(stage, met)) {
    const step = stepOf(stage, key, now)
    // A completion made by the capture itself gets its event at the commit, with all others.
    if (step !== undefined && step.event === undefined) stage.put(Entries.address(key), Entries.write(step.entry), CAPTURE)
  }
}

/**
 * Step 10 of the beat: gives each completion its event, and kills the rival variants of an applied entry.
 */
export const atCommit = (stage: Stage, now: Now, open: Open): ReadonlyArray<Completion> => {
  endRivals(stage, open)
  const completions: Array<Completion> = []
  for (const key of written(stage)) {
    const entry = newest(stage, key)
    // An open entry takes no transition here, and a look at one would have the journal keep the tempo.
    if (entry === undefined || entry.event_flag === 0 || !Entries.isFinished(entry)) continue
    const step = transition(entry, now)
    if (step?.event === undefined) continue
    const place = Address.make(`${Entries.EVENTS}/${key}`)
    const payload = Entries.event(key, entry, { beat: now.beat, outcome: step.event })
    stage.put(Entries.address(key), Entries.write(step.entry), COMMIT)
    stage.put(place, payload, COMMIT)
    completions.push({ signal: `/${entry.signal_path}`, target: place.key, payload })
  }
  index(stage)
  return completions
}

const HERE = Document.encode(true)

/** Updates the index of open entries. */
const index = (stage: Stage): void => {
  for (const key of written(stage)) {
    const entry = newest(stage, key)
    const isOpen = entry !== undefined && !Entries.isFinished(entry)
    const place = Address.make(`${Entries.OPEN}/${key}`)
    if (isOpen !== (stage.committed.read(place.key) !== undefined)) stage.put(place, isOpen ? HERE : undefined, COMMIT)
  }
}

/** Of several variants, the first one applied is the answer; the others are killed. */
const endRivals = (stage: Stage, open: Open): void => {
  for (const [id, keys] of questions(stage)) {
    const answer = keys.find((key) => isToBeTold(newest(stage, key)!))
    if (answer === undefined) continue
    for (const rival of new Set([...open.rivals(id), ...keys])) {
      const other = rival === answer ? undefined : newest(stage, rival)
      if (other === undefined || variantId(other) !== id || (Entries.isFinished(other) && !isToBeTold(other))) continue
      stage.put(
        Entries.address(rival),
        Entries.write({ ...other, state: "killed", kill_mode: "none", kill_wait: 0, kill_ms: 0, event_flag: 1 }),
        COMMIT
      )
    }
  }
}

/** The variants that the beat wrote, by their shared id. */
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
 * The entries that the beat put into quarantine, by a transition, a report or a write.
 */
export const quarantined = (stage: Stage): ReadonlyArray<string> =>
  written(stage).filter((key) => newest(stage, key)?.state === "quarantine" && before(stage, key)?.state !== "quarantine")

const before = (stage: Stage, key: string): Entry | undefined =>
  Entries.read(Document.read(stage.committed.read(Entries.address(key).key), []))

/** The entries that the beat has written so far, in order. */
export const written = (stage: Stage): ReadonlyArray<string> => entriesOf(stage.documents.keys())

/** The due entries, and the entries that the beat has written so far. */
export const touched = (stage: Stage, met: ReadonlyArray<string>): ReadonlySet<string> => new Set([...entriesOf(met), ...written(stage)])

/** The entries among documents. */
const entriesOf = (documents: Iterable<string>): ReadonlyArray<string> => {
  const keys: Array<string> = []
  for (const key of documents) {
    // A cheap test of one character first, because most documents are in other folders.
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
