/**
 * Schedules: the times at which an action is due.
 *
 * Missed times collapse to one run: the time after the last run counts, however long ago it was. All times are
 * milliseconds since 1970.
 *
 * @module
 */
import { Cron, Duration, isRefusal, Moment, type Refusal } from "systole/time"

/**
 * A schedule. `daily` is a cron expression, `hourly` an interval, and an action without a schedule is `always` due.
 */
export type Schedule =
  | { readonly kind: "always" }
  | { readonly kind: "at"; readonly moment: number }
  | { readonly kind: "every"; readonly interval: number }
  | { readonly kind: "cron"; readonly cron: Cron.Cron }
  | { readonly kind: "startup" }
  | { readonly kind: "on_change"; readonly path: string }

/**
 * The history of an action, as far as a schedule depends on it.
 */
export interface History {
  /** The start of the last run, or the time of the last skipped occurrence; undefined if there is neither. */
  readonly lastRun: number | undefined
  /** The time at which the agent first saw the action. */
  readonly since: number
  /** The id of a start of the process that no run has handled; undefined without one. */
  readonly startup: string | undefined
  /** The digest of a change of the watched path that no run has handled; undefined without one. */
  readonly change: string | undefined
  /** The number of times that the action became pending. */
  readonly pendings: number
  /** The event of the last run. Times come again after a clock was set back, so the key of each firing names it. */
  readonly latest?: string | undefined
}

/**
 * An occurrence: one firing of a schedule. Its key is the same in each process that sees the same history.
 */
export interface Occurrence {
  readonly key: string
  /** The time at which the action became due. */
  readonly at: number
}

/** The schedule of an action without one. */
export const always: Schedule = { kind: "always" }

/**
 * A last run that lies further in the future than this, or than the next firing lies after it, is ignored: the clock has been
 * set back since.
 */
export const MAX_AHEAD = 3_600_000

const HOUR = 3_600_000

const refuse = (text: string, reason: string, suggestion: string): Refusal =>
  ({ refused: `The schedule "${text.slice(0, 200)}" ${reason}`, suggestion })

const FORMS = "write at:2026-01-15T14:00:00Z, every:5m, cron:*/5 * * * *, daily:02:00, hourly, startup or on_change:PATH"

/**
 * Parses a schedule in a time zone, which must exist.
 */
export const parse = (text: string, zone: string): Schedule | Refusal => {
  const trimmed = text.trim()
  const colon = trimmed.indexOf(":")
  const kind = (colon < 0 ? trimmed : trimmed.slice(0, colon)).trim().toLowerCase()
  const argument = colon < 0 ? "" : trimmed.slice(colon + 1).trim()
  const parser = parsers.get(kind)
  if (parser === undefined) return refuse(text, "has an unknown form", remedyOf(trimmed))
  return parser(argument, zone)
}

/** The schedules for the names of crontab. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["@hourly", "hourly"], ["@daily", "daily:00:00"], ["@midnight", "daily:00:00"], ["@weekly", "cron:0 0 * * SUN"],
  ["@monthly", "cron:0 0 1 * *"], ["@yearly", "cron:0 0 1 1 *"], ["@annually", "cron:0 0 1 1 *"], ["@reboot", "startup"]
])

/** The remedy for a text that is a schedule elsewhere. */
const remedyOf = (text: string): string => {
  const lower = text.toLowerCase()
  const name = NAMES.get(lower.startsWith("@") ? lower : `@${lower}`)
  const [, interval] = /^@?every\s+(\d+\s*[smhd])$/.exec(lower) ?? /^(\d+[smhd])$/.exec(lower) ?? []
  if (name !== undefined) return `write ${name}`
  if (interval !== undefined) return `write every:${interval.replace(/\s/g, "")}`
  if (TIME.test(lower)) return `write daily:${lower}`
  return lower.split(/\s+/).length === CRON_FIELDS && /^[\d*]/.test(lower) ? `write cron:${text.slice(0, 100)}` : FORMS
}

const CRON_FIELDS = 5

const plain = (schedule: Schedule, name: string) => (argument: string): Schedule | Refusal =>
  argument === "" ? schedule : refuse(`${name}:${argument}`, "takes no argument", `write ${name}`)

type Parser = (argument: string, zone: string) => Schedule | Refusal

const forms: Readonly<Record<string, Parser>> = {
  at: (argument, zone) => {
    const moment = Moment.parse(argument, zone)
    return moment === undefined
      ? refuse(`at:${argument}`, "is no date and time", "write one such as at:2026-01-15T14:00:00Z")
      : { kind: "at", moment }
  },
  every: (argument) => {
    const interval = Duration.parse(argument)
    return interval === undefined || interval < MIN_INTERVAL
      ? refuse(`every:${argument}`, "is no interval from 1s to 366d", "write a whole number with s, m, h or d, such as every:5m")
      : { kind: "every", interval }
  },
  cron: (argument, zone) => cronOf(argument, zone),
  daily: (argument, zone) => {
    const [, hour, minute] = TIME.exec(argument) ?? []
    return hour === undefined || minute === undefined
      ? refuse(`daily:${argument}`, "is no time from 00:00 to 23:59", "write one such as daily:02:00")
      : cronOf(`${Number(minute)} ${Number(hour)} * * *`, zone)
  },
  hourly: plain({ kind: "every", interval: HOUR }, "hourly"),
  startup: plain({ kind: "startup" }, "startup"),
  on_change: (path) =>
    path === ""
      ? refuse("on_change:", "names no path", "write the path to watch, such as on_change:config/app.json")
      : { kind: "on_change", path }
}

const parsers = new Map(Object.entries(forms))

const MIN_INTERVAL = 1_000

/** A time of day, `HH:MM`. */
export const TIME = /^([01]?\d|2[0-3]):([0-5]\d)$/

const cronOf = (expression: string, zone: string): Schedule | Refusal => {
  const cron = Cron.parse(expression, { zone, prefix: "cron:" })
  return isRefusal(cron) ? cron : { kind: "cron", cron }
}

/**
 * Returns the first time after `after` at which a schedule fires, given that it fired at `after`; undefined if it never
 * fires again by time.
 */
export const next = (schedule: Schedule, after: number): number | undefined => {
  switch (schedule.kind) {
    case "at":
      return schedule.moment > after ? schedule.moment : undefined
    case "every":
      return after + schedule.interval
    case "cron":
      return schedule.cron.next(after)
    default:
      return undefined
  }
}

/**
 * Tests whether a schedule fires again and again, so that an action is never finished.
 */
export const isRecurring = ({ kind }: Schedule): boolean => kind !== "always" && kind !== "at"

/**
 * Returns the next occurrence, in the past or in the future; undefined if none is known. The action is due once its time
 * has come.
 */
export const occurrence = (schedule: Schedule, history: History, now: number): Occurrence | undefined => {
  const { change, latest, pendings, startup } = history
  const since = Math.min(history.since, now)
  const isAhead = history.lastRun !== undefined && history.lastRun > now + aheadOf(schedule, history.lastRun)
  const lastRun = isAhead ? undefined : history.lastRun
  // An action that returns after its records are gone has another first sight, so no key of an event comes again.
  const mark = `/${latest ?? history.since}`
  switch (schedule.kind) {
    case "always":
      return { key: `pending:${pendings}${mark}`, at: since }
    case "at":
      return lastRun !== undefined && lastRun >= schedule.moment ? undefined : timed(schedule.moment, mark)
    case "every":
      return lastRun === undefined ? { key: `first${mark}`, at: since } : timed(lastRun + schedule.interval, mark)
    case "cron":
      return timed(schedule.cron.next(lastRun ?? since), mark)
    case "startup":
      return startup === undefined ? undefined : { key: `startup:${startup}`, at: since }
    case "on_change":
      return change === undefined ? undefined : { key: `change:${change}`, at: since }
  }
}

const timed = (at: number | undefined, mark = ""): Occurrence | undefined =>
  at === undefined ? undefined : { key: `at:${at}${mark}`, at }

const aheadOf = (schedule: Schedule, lastRun: number): number =>
  Math.min(MAX_AHEAD, (next(schedule, lastRun) ?? Number.POSITIVE_INFINITY) - lastRun)

/**
 * Tests whether an action is due.
 */
export const isDue = (schedule: Schedule, history: History, now: number): boolean => {
  const found = occurrence(schedule, history, now)
  return found !== undefined && found.at <= now
}

/** The maximum number of firings that {@link firings} answers. */
export const MAX_FIRINGS = 1_000

/**
 * Returns the next firings by time, at most {@link MAX_FIRINGS}, if each run starts on time. A missed one counts as now.
 */
export const firings = (
  schedule: Schedule,
  history: History,
  { count, now }: { readonly now: number; readonly count: number }
): ReadonlyArray<number> => {
  const first = occurrence(schedule, history, now)?.at
  const times: Array<number> = []
  let at = first === undefined ? undefined : Math.max(first, now)
  while (at !== undefined && times.length < Math.min(count, MAX_FIRINGS)) {
    times.push(at)
    at = next(schedule, at)
  }
  return times
}
