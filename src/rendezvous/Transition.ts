/**
 * The transitions of entries, as one table: the first rule that matches applies.
 *
 * A beat changes the state of a scanned entry at most once. A completion raises
 * the entry's event flag. The last rule lowers the flag and emits exactly one
 * event [S1 §Technical Details].
 *
 * @module
 */
import type * as Due from "../stage/Due.ts"
import * as Semantics from "../stage/Semantics.ts"
import type { Entry, Outcome } from "./Entry.ts"
import { isFinished, MAX_BEAT } from "./Entry.ts"
import * as Time from "./Time.ts"

/** The next entry, and the outcome of its completion event, if there is one. */
export interface Step {
  readonly entry: Entry
  readonly event: Outcome | undefined
}

interface Rule {
  readonly when: (entry: Entry, now: Due.Now) => boolean
  readonly to: (entry: Entry, now: Due.Now) => Partial<Entry>
  /** Whether it emits a completion event. */
  readonly tells?: true
}

/** An observer entry is never late and never completes. */
const isWatched = ({ prof }: Entry): boolean => prof === "observer"

/** Whether its result is still awaited. */
export const isAwaited = ({ state }: Entry): boolean => state === "pending" || state === "ready" || state === "late"

/** Whether it is awaited again after its completion event. */
export const isRepeated = ({ epoch_k, event_flag, prof, state }: Entry): boolean =>
  prof === "rv-epoch" && epoch_k > 0 && state === "applied" && event_flag > 0

const isKilling = (entry: Entry): boolean => entry.kill_mode !== "none" && !isFinished(entry)

const isTimed = (entry: Entry): boolean => isAwaited(entry) && !isWatched(entry)

const dueOf = ({ due, due_ms }: Entry): Time.Time => ({ beat: due, ms: due_ms })

const deadlineOf = ({ deadline, deadline_ms }: Entry): Time.Time => ({ beat: deadline, ms: deadline_ms })

/** The first beat in which an entry is late. */
const lateOf = ({ due, due_ms }: Entry, { tempo }: Due.Now): Time.Time => ({ beat: due + 1, ms: due_ms === 0 ? 0 : due_ms + tempo })

const isGraced = (entry: Entry): boolean => isTimed(entry) && entry.state !== "pending" && entry.max_grace > 0

const isPastDue = (entry: Entry, now: Due.Now): boolean => isGraced(entry) && Time.isReached(lateOf(entry, now), now)

/** The due fields for a time. */
export const dueAt = ({ beat, ms }: Time.Time): Pick<Entry, "due" | "due_ms"> =>
  ({ due: Math.min(Math.max(beat, 0), MAX_BEAT), due_ms: ms })

/** The kill fields. Each scan but the first takes the time of one beat; with a wait, the first does too. */
export const killing = (kill_mode: string, kill_wait: number, now: Due.Now): Pick<Entry, "kill_mode" | "kill_wait" | "kill_ms"> =>
  ({ kill_mode, kill_wait, kill_ms: kill_wait > 0 ? Time.after(1, now).ms : 0 })

/** A completion. One of an observer entry gets no event. */
const ending = (state: Outcome, entry: Entry): Partial<Entry> => ({ state, event_flag: isWatched(entry) ? 0 : 1 })

/** The effect of each `on_miss` once all grace is used; the other values end in a time-out. */
const missed: Readonly<Record<string, (entry: Entry) => Partial<Entry>>> = {
  kill: (entry) => ending("killed", entry),
  quarantine: () => ({ state: "quarantine" }),
  grace: () => ({ state: "late" }),
  ignore: () => ({})
}

/** Whether `on_miss` leaves the entry unchanged until a report, a kill or its deadline. */
const isResting = ({ on_miss, state }: Entry): boolean => on_miss === "ignore" || (on_miss === "grace" && state === "late")

const table: ReadonlyArray<Rule> = [
  {
    when: (entry) => isKilling(entry) && entry.kill_wait > 1,
    to: ({ kill_ms, kill_wait }, { tempo }) => ({ kill_wait: kill_wait - 1, kill_ms: kill_ms + tempo })
  },
  {
    when: isKilling,
    to: (entry) => ({ ...ending("killed", entry), kill_mode: "none", kill_wait: 0, kill_ms: 0 })
  },
  {
    when: (entry, now) => isTimed(entry) && entry.deadline > 0 && Time.isReached(deadlineOf(entry), now),
    to: (entry) => ending(entry.on_miss === "kill" ? "killed" : "timeout", entry)
  },
  {
    when: (entry, now) => entry.state === "pending" && Time.isReached(dueOf(entry), now),
    to: () => ({ state: "ready" })
  },
  {
    when: (entry, now) => isPastDue(entry, now) && entry.grace_used < entry.max_grace,
    to: (entry, now) => ({ state: "late", grace_used: entry.grace_used + 1, ...dueAt(Time.later(dueOf(entry), entry.grace_delta, now)) })
  },
  {
    when: (entry, now) => isPastDue(entry, now) && !isResting(entry),
    to: (entry) => (missed[entry.on_miss] ?? ((entry: Entry) => ending("timeout", entry)))(entry)
  },
  {
    when: (entry) => entry.event_flag > 0 && isFinished(entry),
    to: (entry, now) =>
      isRepeated(entry)
        ? { event_flag: 0, state: "pending", grace_used: 0, ...dueAt(Time.after(entry.epoch_k, now)) }
        : { event_flag: 0 },
    tells: true
  }
]

/**
 * The transition of an entry in a beat; `undefined` for none.
 */
export const transition = (entry: Entry, now: Due.Now): Step | undefined => {
  // An entry that is being killed takes no other transition.
  if (isKilling(entry) && now.clock < entry.kill_ms) return undefined
  const rule = table.find(({ when }) => when(entry, now))
  if (rule === undefined) return undefined
  return { entry: { ...entry, ...rule.to(entry, now) }, event: rule.tells === true ? entry.state as Outcome : undefined }
}

/**
 * The times after this beat at which {@link transition} can first apply to an untouched entry; empty for never.
 */
export const nextDue = (entry: Entry, now: Due.Now): ReadonlyArray<Due.Due> => {
  const times: Array<Time.Time> = []
  if (isKilling(entry)) return [Time.due({ beat: now.beat + 1, ms: entry.kill_ms }, now)]
  if (entry.event_flag > 0 && isFinished(entry)) times.push(Time.named(now.beat + 1))
  if (isTimed(entry) && entry.deadline > 0) times.push(deadlineOf(entry))
  if (entry.state === "pending") times.push(dueOf(entry))
  else if (isGraced(entry) && (entry.grace_used < entry.max_grace || !isResting(entry))) times.push(lateOf(entry, now))
  // A time that cannot be due before another one is dropped.
  const isRedundant = (time: Time.Time, i: number): boolean =>
    times.some((other, j) => i !== j && isBefore(other, time) && (i > j || !isBefore(time, other)))
  return times.filter((time, i) => !isRedundant(time, i)).map((time) => Time.due(time, now))
}

const isBefore = (a: Time.Time, b: Time.Time): boolean => a.beat <= b.beat && a.ms <= b.ms

/** The time of an entry for its report, in beats: from its spawn, or its previous completion, to its due beat before the graces. */
const spanOf = ({ due, epoch_k, grace_delta, grace_used, prof, spawn_beat }: Entry): number =>
  Math.max(1, prof === "rv-epoch" ? epoch_k : due - grace_used * grace_delta - spawn_beat)

/** The due time of a released entry. In beats of earlier semantics it was the beat of the release, which left no time to report. */
const dueAgain = (entry: Entry, now: Released): Time.Time =>
  Semantics.follows(now, "releaseGivesTime")
    ? Time.after(spanOf(entry), now)
    : { beat: now.beat, ms: entry.due_ms === 0 ? 0 : now.clock }

type Released = Due.Now & Semantics.WithSemantics

/**
 * An entry released from quarantine: it has its time for the report again, all its graces, and no deadline before its due time.
 */
export const released = (entry: Entry, now: Released): Entry => {
  const due = dueAgain(entry, now)
  const isOver = Time.isReached(deadlineOf(entry), Semantics.follows(now, "releaseGivesTime") ? { beat: due.beat, clock: due.ms } : now)
  return { ...entry, state: "ready", grace_used: 0, ...dueAt(due), ...isOver ? { deadline: 0, deadline_ms: 0 } : {} }
}

/** The result of a worker. `isKept` says whether the content named by the telemetry is stored. */
export interface Result {
  readonly telemetry: Entry["telemetry"]
  readonly content?: { readonly digest: string; readonly isKept: boolean } | undefined
}

/**
 * An open entry after a report.
 */
export const reported = (entry: Entry, { content, telemetry }: Result): Entry => {
  if (isWatched(entry) || entry.state === "quarantine") return { ...entry, telemetry }
  if (entry.prof !== "rv-cas") return { ...entry, telemetry, ...ending("applied", entry) }
  if (content?.isKept !== true) return { ...entry, telemetry, state: "quarantine" }
  return { ...entry, telemetry, ...ending("applied", entry), cas_hash: content.digest }
}
