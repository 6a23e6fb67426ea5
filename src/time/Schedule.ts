/**
 * Schedules: due times that repeat, by an interval or by a cron expression in a time zone.
 *
 * @module
 */
import * as Cron from "./Cron.ts"
import * as Duration from "./Duration.ts"
import type { Refusal } from "./Refusal.ts"
import { isRefusal } from "./Refusal.ts"
import * as Zone from "./Zone.ts"

/**
 * A schedule, as plain data.
 */
export type Schedule = { readonly every: string } | { readonly cron: string; readonly timezone: string }

/** The shortest interval, in milliseconds. */
const SHORTEST = 1000

const unknown = (timezone: string): Refusal =>
  ({ refused: `the time zone "${timezone.slice(0, 100)}" is unknown`, suggestion: "give a name such as \"UTC\" or \"Europe/Vienna\"" })

/**
 * Returns the refusal of a schedule on this host, which may lack its time zone; `undefined` for none.
 */
export const refusalHere = (schedule: Schedule): Refusal | undefined =>
  "every" in schedule || Zone.isZone(schedule.timezone) ? undefined : unknown(schedule.timezone)

/**
 * Returns the refusal of a schedule on any host; `undefined` for a valid one.
 */
export const refusal = (schedule: Schedule): Refusal | undefined => {
  if ("every" in schedule) {
    return (Duration.parse(schedule.every) ?? 0) >= SHORTEST ? undefined : {
      refused: `every is "${schedule.every}"`,
      suggestion: `give a whole number with s, m, h or d, from 1s to 366d, such as "5m"`
    }
  }
  const { cron, timezone } = schedule
  if (!Zone.isName(timezone)) return unknown(timezone)
  const parsed = Cron.parse(cron, { zone: timezone })
  return isRefusal(parsed) ? { ...parsed, refused: parsed.refused.replace(/^The/, "the") } : undefined
}

/**
 * Returns the text of a schedule. Schedules with equal texts have equal due times.
 */
export const textOf = (schedule: Schedule): string =>
  "every" in schedule ? `every ${schedule.every}` : `${schedule.cron} in ${schedule.timezone}`

/** An instant, and the due time from which intervals count, in milliseconds since 1970. */
export interface Since {
  readonly now: number
  readonly from: number
}

/**
 * Returns the first due time after an instant, in milliseconds since 1970; undefined without one in the next years. Intervals count
 * from `from`.
 */
export const next = (schedule: Schedule, { from, now }: Since): number | undefined => {
  if ("every" in schedule) {
    const interval = Duration.parse(schedule.every) ?? SHORTEST
    return from + interval * (Math.max(0, Math.floor((now - from) / interval)) + 1)
  }
  const { cron, timezone: zone } = schedule
  const parsed = Cron.parse(cron, { zone })
  return isRefusal(parsed) ? undefined : parsed.next(now)
}
