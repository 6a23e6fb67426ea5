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
import type { Entry, Outcome } from "./Entry.ts"
import { isFinished, MAX_BEAT } from "./Entry.ts"

/** What becomes of an entry, and the completion that is to be told of, where there is one. */
export interface Step {
  readonly entry: Entry
  readonly event: Outcome | undefined
}

interface Rule {
  readonly when: (entry: Entry, now: number) => boolean
  readonly to: (entry: Entry, now: number) => Partial<Entry>
  /** Whether it tells of a completion. */
  readonly tells?: true
}

/** What is only looked at is never late and completes nothing. */
const isWatched = ({ prof }: Entry): boolean => prof === "observer"

/** Whether its result is still waited for. */
export const isAwaited = ({ state }: Entry): boolean => state === "pending" || state === "ready" || state === "late"

const isKilling = (entry: Entry): boolean => entry.kill_mode !== "none" && !isFinished(entry)

const isTimed = (entry: Entry): boolean => isAwaited(entry) && !isWatched(entry)

const isPastDue = (entry: Entry, now: number): boolean => isTimed(entry) && entry.state !== "pending" && now > entry.due && entry.max_grace > 0

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
    to: ({ kill_wait }) => ({ kill_wait: kill_wait - 1 })
  },
  {
    when: isKilling,
    to: (entry) => ({ ...ending("killed", entry), kill_mode: "none", kill_wait: 0 })
  },
  {
    when: (entry, now) => isTimed(entry) && entry.deadline > 0 && now >= entry.deadline,
    to: (entry) => ending(entry.on_miss === "kill" ? "killed" : "timeout", entry)
  },
  {
    when: ({ due, state }, now) => state === "pending" && now >= due,
    to: () => ({ state: "ready" })
  },
  {
    when: (entry, now) => isPastDue(entry, now) && entry.grace_used < entry.max_grace,
    to: ({ due, grace_delta, grace_used }) => ({ state: "late", grace_used: grace_used + 1, due: Math.min(due + grace_delta, MAX_BEAT) })
  },
  {
    when: (entry, now) => isPastDue(entry, now) && !isResting(entry),
    to: (entry) => (missed[entry.on_miss] ?? ((entry: Entry) => ending("timeout", entry)))(entry)
  },
  {
    when: (entry) => entry.event_flag > 0 && isFinished(entry),
    to: (entry, now) =>
      entry.prof === "rv-epoch" && entry.epoch_k > 0 && entry.state === "applied"
        ? { event_flag: 0, state: "pending", due: Math.min(now + entry.epoch_k, MAX_BEAT), grace_used: 0 }
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
export const transition = (entry: Entry, now: number): Step | undefined => {
  const rule = table.find(({ when }) => when(entry, now))
  if (rule === undefined) return undefined
  return { entry: { ...entry, ...rule.to(entry, now) }, event: rule.tells === true ? entry.state as Outcome : undefined }
}

/**
 * The first beat after this one in which {@link transition} does something with an entry that nobody touches; `undefined` for never.
 *
 * @category getters
 * @since 0.1.0
 */
export const nextDue = (entry: Entry, now: number): number | undefined => {
  const beats: Array<number> = []
  if (isKilling(entry) || (entry.event_flag > 0 && isFinished(entry))) beats.push(now + 1)
  if (isTimed(entry) && entry.deadline > 0) beats.push(entry.deadline)
  if (entry.state === "pending") beats.push(entry.due)
  else if (isTimed(entry) && entry.max_grace > 0 && (entry.grace_used < entry.max_grace || !isResting(entry))) beats.push(entry.due + 1)
  return beats.length === 0 ? undefined : Math.max(now + 1, Math.min(...beats))
}

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
