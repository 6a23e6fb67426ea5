/**
 * The reference model of schedules: it looks at each minute of a range, by the clock that `Intl` shows.
 *
 * @module
 */
import { present } from "../support/Present.ts"

/** A minute as the clock of a zone shows it. `weekday` counts from Sunday as 0. */
interface Minute {
  readonly at: number
  readonly date: string
  readonly month: number
  readonly day: number
  readonly weekday: number
  /** The minutes since midnight. */
  readonly time: number
}

const MINUTE = 60_000
const QUARTER = 15 * MINUTE
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

/** The minutes from an instant to another, which are whole quarters of an hour. Clocks change at whole quarters. */
export const minutes = (zone: string, from: number, to: number): ReadonlyArray<Minute> => {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    weekday: "short",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric"
  })
  const found: Array<Minute> = []
  for (let quarter = from; quarter < to; quarter += QUARTER) {
    const parts = new Map(format.formatToParts(quarter).map(({ type, value }) => [type, value]))
    const number = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type))
    const first = {
      date: `${number("year")}-${number("month")}-${number("day")}`,
      month: number("month"),
      day: number("day"),
      weekday: WEEKDAYS.indexOf(present(parts.get("weekday")))
    }
    const time = number("hour") * 60 + number("minute")
    for (let i = 0; i < 15; i++) found.push({ ...first, at: quarter + i * MINUTE, time: time + i })
  }
  return found
}

/** The values of a field of a cron expression: undefined for `*`. */
export interface Fields {
  readonly minute: ReadonlySet<number>
  readonly hour: ReadonlySet<number>
  readonly day: ReadonlySet<number> | undefined
  readonly month: ReadonlySet<number> | undefined
  readonly weekday: ReadonlySet<number> | undefined
  /** Whether minute and hour are lists without a wildcard or a step. */
  readonly isFixed: boolean
}

const matchesDay = ({ day, month, weekday }: Fields, minute: Minute): boolean => {
  if (month?.has(minute.month) === false) return false
  if (day === undefined) return weekday === undefined || weekday.has(minute.weekday)
  return day.has(minute.day) || weekday?.has(minute.weekday) === true
}

/** The first time of day that the clock may have skipped before a minute. */
const skippedFrom = (minute: Minute, before: Minute | undefined): number => {
  if (before === undefined) return minute.time
  return before.date === minute.date ? before.time + 1 : 0
}

/** The times at which an expression fires within some minutes. */
export const firings = (fields: Fields, all: ReadonlyArray<Minute>): ReadonlyArray<number> => {
  const fired: Array<number> = []
  let latest = -1
  let date = ""
  for (const [i, minute] of all.entries()) {
    const isTime = fields.hour.has(Math.floor(minute.time / 60)) && fields.minute.has(minute.time % 60)
    if (date !== minute.date) {
      date = minute.date
      latest = -1
    }
    if (!matchesDay(fields, minute)) {
      latest = Math.max(latest, minute.time)
      continue
    }
    if (!fields.isFixed) {
      if (isTime) fired.push(minute.at)
      continue
    }
    let isSkipped = false
    for (let time = skippedFrom(minute, all[i - 1]); time < minute.time; time++) {
      isSkipped ||= fields.hour.has(Math.floor(time / 60)) && fields.minute.has(time % 60)
    }
    if (isSkipped || (isTime && minute.time > latest)) fired.push(minute.at)
    latest = Math.max(latest, minute.time)
  }
  return fired
}
