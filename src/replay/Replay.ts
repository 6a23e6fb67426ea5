/**
 * Replay: beats run again on recorded input, and compared with what they made.
 *
 * The same heartbeat runs, over the state as it was and the input that the
 * journal recorded; each entry that it makes has to be the one that was written,
 * to the byte. (Architecture, section 9.)
 *
 * @module
 */
import type { Archive } from "../kernel/Archive.ts"
import type { Body } from "../kernel/Body.ts"
import type { BeatWork } from "../kernel/BeatWork.ts"
import type { Beat } from "../kernel/Commit.ts"
import { Departures } from "../kernel/Departures.ts"
import { Documents } from "../kernel/Documents.ts"
import { Heartbeat } from "../kernel/Heartbeat.ts"
import { Inbox } from "../kernel/Inbox.ts"
import * as Journal from "../kernel/Journal.ts"
import * as Operating from "../kernel/Operating.ts"
import * as Recovery from "../kernel/Recovery.ts"
import type { JournalRow } from "../persistence/Persistence.ts"
import type { Difference } from "./Difference.ts"
import * as Differences from "./Difference.ts"
import { Past } from "./Past.ts"
import { RecordedIntake } from "./RecordedIntake.ts"
import * as Rows from "./Rows.ts"

/** What a replay found. */
export interface Replayed {
  readonly from: number
  readonly to: number
  /** How many beats were run again. */
  readonly beats: number
  /** Modules whose digest is another one than that which the journal names: their code may differ. */
  readonly changed: ReadonlyArray<string>
  /** Where the replay first differs; nowhere where every entry came out the same. */
  readonly difference: Difference | undefined
}

/** A replay under way: one beat after the other. */
export interface Rerun {
  /** Runs the beat of an entry, and gives what it did and the entry that it made. */
  readonly step: (row: JournalRow) => Promise<{ readonly beat: Beat; readonly made: JournalRow }>
}

/**
 * Runs the beats from `from` to `to` again, as far as the journal holds them.
 *
 * @category combinators
 * @since 0.1.0
 */
export const replay = async (archive: Archive, from: number, to: number): Promise<Replayed> => {
  const rerun = start(archive, from)
  const changed = new Set(modulesBefore(archive, from))
  let beats = 0
  const last = Math.min(to, archive.store.head().beat)
  for (let beat = from; beat <= last; beat++) {
    const row = archive.store.entry(beat)
    // Numbers of empty beats are skipped, and the oldest may be trimmed.
    if (row === undefined) continue
    const entry = Journal.parse(row.text)
    for (const name of otherModules(archive, entry)) changed.add(name)
    const outcome = await rerun.step(row).catch((error: unknown) => ({ error }))
    beats++
    const difference = "error" in outcome ? Differences.failed(row.beat, outcome.error) : Differences.between(row, outcome.made)
    if (difference !== undefined) return { from, to: last, beats, changed: [...changed], difference }
  }
  return { from, to: last, beats, changed: [...changed], difference: undefined }
}

/**
 * A replay that begins with the state before a beat.
 *
 * @category constructors
 * @since 0.1.0
 */
export const start = (archive: Archive, from: number, seen?: (work: BeatWork) => void): Rerun => {
  const past = new Past(archive.store, from)
  const documents = new Documents(past, archive.settings.limits.residentBytes)
  const bindings = Recovery.bindingsOf(past, documents)
  const intake = new RecordedIntake(archive, past)
  let number = 0
  const body: Body = {
    space: past.space,
    store: past,
    documents,
    // What runs send is compared as they send it; when it is captured is told by the entries.
    get inbox() {
      return new Inbox()
    },
    departures: new Departures(archive.settings.limits),
    enzymes: archive.enzymes,
    bindings,
    watches: Operating.recall(past, documents, bindings),
    settings: archive.settings,
    hash: archive.hash,
    seed: () => "",
    host: archive.host,
    number: () => ++number
  }
  archive.enzymes.activate()
  const heartbeat = new Heartbeat(body, intake, seen)
  return {
    step: async (row) => {
      intake.load(Journal.parse(row.text))
      const beat = await heartbeat.step(row.beat)
      return { beat, made: past.made! }
    }
  }
}

/** The same for the modules that a beat found active. */
const modulesBefore = (archive: Archive, beat: number): ReadonlyArray<string> => {
  for (const row of Rows.downFrom(archive, beat)) {
    const entry = Journal.parse(row.text)
    if (entry.modules !== undefined) return otherModules(archive, entry)
  }
  return []
}

/** The modules of an entry that are not the ones that are active now. */
const otherModules = ({ enzymes }: Archive, { modules = [] }: Journal.Parsed): ReadonlyArray<string> => {
  const now = new Map(enzymes.modules())
  return modules.flatMap(([name, hash]) => now.get(name) === hash ? [] : [name])
}
