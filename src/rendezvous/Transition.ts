/**
 * The transitions of entries: one table, gone through from above, of which the
 * first rule that fits is what a beat does with an entry.
 *
 * Each beat that scans an entry changes its state at most once. A completion
 * raises the entry's event flag; the last rule turns that into exactly one event
 * and lowers it in the same step. (Seed 001; semantics, sections 5.4 and 5.8.)
 *
 * @module
 */
import type * as Due from "../stage/Due.ts"
import type { Entry, Outcome } from "./Entry.ts"
import { isFinished, MAX_BEAT } from "./Entry.ts"
import * as Time from "./Time.ts"

/** What becomes of an entry, and the completion that is to be told of, where there is one. */
export interface Step {
  readonly entry: Entry
  readonly event: Outcome | undefined
}

interface Rule {
  readonly when: (entry: Entry, now: Due.Now) => boolean
  readonly to: (entry: Entry, now: Due.Now) => Partial<Entry>
  /** Whether it tells of a completion. */
  readonly tells?: true
}

/** What is only looked at is never late and completes nothing. */
const isWatched = ({ prof }: Entry): boolean => prof === "observer"

/** Whether its result is still waited for. */
export const isAwaited = ({ state }: Entry): boolean => state === "pending" || state === "ready" || state === "late"

/** Whether it is waited for again once its completion is told of. */
export const isRepeated = ({ epoch_k, event_flag, prof, state }: Entry): boolean => prof === "rv-epoch" && epoch_k > 0 && state === "applied" && event_flag > 0

const isKilling = (entry: Entry): boolean => entry.kill_mode !== "none" && !isFinished(entry)

const isTimed = (entry: Entry): boolean => isAwaited(entry) && !isWatched(entry)

const dueOf = ({ due, due_ms }: Entry): Time.Time => ({ beat: due, ms: due_ms })

const deadlineOf = ({ deadline, deadline_ms }: Entry): Time.Time => ({ beat: deadline, ms: deadline_ms })

/** The first beat in which an entry is late. */
const lateOf = ({ due, due_ms }: Entry, { tempo }: Due.Now): Time.Time => ({ beat: due + 1, ms: due_ms === 0 ? 0 : due_ms + tempo })

const isGraced = (entry: Entry): boolean => isTimed(entry) && entry.state !== "pending" && entry.max_grace > 0

const isPastDue = (entry: Entry, now: Due.Now): boolean => isGraced(entry) && Time.isReached(lateOf(entry, now), now)

/** An entry that is due at another time. */
export const dueAt = ({ beat, ms }: Time.Time): Pick<Entry, "due" | "due_ms"> => ({ due: Math.min(Math.max(beat, 0), MAX_BEAT), due_ms: ms })

/** How the end of an entry is asked for: each scan but the first takes the time of a beat, and so does that where it is to wait. */
export const killing = (kill_mode: string, kill_wait: number, now: Due.Now): Pick<Entry, "kill_mode" | "kill_wait" | "kill_ms"> =>
  ({ kill_mode, kill_wait, kill_ms: kill_wait > 0 ? Time.after(1, now).ms : 0 })

/** A completion. What nobody is told of has no event. */
const ending = (state: Outcome, entry: Entry): Partial<Entry> => ({ state, event_flag: isWatched(entry) ? 0 : 1 })

/** What each `on_miss` makes of an entry whose grace is used up; those that are not here time it out. */
const missed: Readonly<Record<string, (entry: Entry) => Partial<Entry>>> = {
  kill: (entry) => ending("killed", entry),
  quarantine: () => ({ state: "quarantine" }),
  grace: () => ({ state: "late" }),
  ignore: () => ({})
}

/** Whether what `on_miss` says leaves it as it is, until somebody reports, kills it or its deadline comes. */
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
 * What a beat does with an entry; `undefined` where nothing.
 *
 * @category combinators
 * @since 0.1.0
 */
export const transition = (entry: Entry, now: Due.Now): Step | undefined => {
  // What is to be killed does nothing else meanwhile.
  if (isKilling(entry) && now.now < entry.kill_ms) return undefined
  const rule = table.find(({ when }) => when(entry, now))
  if (rule === undefined) return undefined
  return { entry: { ...entry, ...rule.to(entry, now) }, event: rule.tells === true ? entry.state as Outcome : undefined }
}

/**
 * When {@link transition} does something with an entry that nobody touches, after this beat: at the first of these that comes. None for never.
 *
 * @category getters
 * @since 0.1.0
 */
export const nextDue = (entry: Entry, now: Due.Now): ReadonlyArray<Due.Due> => {
  const times: Array<Time.Time> = []
  if (isKilling(entry)) return [Time.due({ beat: now.beat + 1, ms: entry.kill_ms }, now)]
  if (entry.event_flag > 0 && isFinished(entry)) times.push(Time.named(now.beat + 1))
  if (isTimed(entry) && entry.deadline > 0) times.push(deadlineOf(entry))
  if (entry.state === "pending") times.push(dueOf(entry))
  else if (isGraced(entry) && (entry.grace_used < entry.max_grace || !isResting(entry))) times.push(lateOf(entry, now))
  // What cannot come before another one is not waited for beside it.
  return times.filter((time, i) => !times.some((other, j) => i !== j && isBefore(other, time) && (i > j || !isBefore(time, other)))).map((time) => Time.due(time, now))
}

const isBefore = (a: Time.Time, b: Time.Time): boolean => a.beat <= b.beat && a.ms <= b.ms

/**
 * An entry that leaves quarantine: due now, with all of its graces, and without a deadline that is over.
 *
 * @category combinators
 * @since 0.1.0
 */
export const released = (entry: Entry, now: Due.Now): Entry => ({
  ...entry,
  state: "ready",
  grace_used: 0,
  ...dueAt({ beat: now.beat, ms: entry.due_ms === 0 ? 0 : now.now }),
  ...(Time.isReached(deadlineOf(entry), now) ? { deadline: 0, deadline_ms: 0 } : {})
})

/** The result of somebody's work. `isKept` tells of the content that it names, where it names any. */
export interface Result {
  readonly telemetry: Entry["telemetry"]
  readonly content?: { readonly digest: string; readonly isKept: boolean } | undefined
}

/**
 * An entry that is not finished, with what was reported.
 *
 * @category combinators
 * @since 0.1.0
 */
export const reported = (entry: Entry, { content, telemetry }: Result): Entry => {
  if (isWatched(entry) || entry.state === "quarantine") return { ...entry, telemetry }
  if (entry.prof !== "rv-cas") return { ...entry, telemetry, ...ending("applied", entry) }
  if (content?.isKept !== true) return { ...entry, telemetry, state: "quarantine" }
  return { ...entry, telemetry, ...ending("applied", entry), cas_hash: content.digest }
}
