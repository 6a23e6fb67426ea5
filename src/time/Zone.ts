/**
 * Time zones: local times of an instant, by the names of IANA.
 *
 * The rules of a zone are those of the host's `Intl`.
 *
 * @module
 */

/** A local date and time. `month` counts from 1, `weekday` from Sunday as 0. */
export interface LocalTime {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly weekday: number
}

/** The maximum number of zones that are kept in memory. */
const MAX_KEPT = 64

const DAY = 86_400_000

const formats = new Map<string, Intl.DateTimeFormat>()

const formatOf = (zone: string): Intl.DateTimeFormat => {
  const kept = formats.get(zone)
  if (kept !== undefined) return kept
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric"
  })
  if (formats.size >= MAX_KEPT) formats.clear()
  formats.set(zone, made)
  return made
}

/** The length of the longest name of a zone. */
const MAX_NAME = 64

/**
 * Tests whether a text has the form of the name of a time zone. A host may lack the zone.
 */
export const isName = (text: string): boolean => text.length <= MAX_NAME && /^[A-Za-z][\w+/-]*$/.test(text)

/**
 * Tests whether a name is a time zone of this host, such as `UTC` or `Europe/Vienna`.
 */
export const isZone = (name: string): boolean => {
  if (!isName(name)) return false
  try {
    formatOf(name)
    return true
  } catch {
    return false
  }
}

/** Returns the local time of an instant in milliseconds since 1970. */
export const localOf = (instant: number, zone: string): LocalTime => {
  const shifted = new Date(instant + offsetOf(instant, zone))
  return {
    year: shifted.getUTCFullYear(),
    month: shifted.getUTCMonth() + 1,
    day: shifted.getUTCDate(),
    hour: shifted.getUTCHours(),
    minute: shifted.getUTCMinutes(),
    second: shifted.getUTCSeconds(),
    weekday: shifted.getUTCDay()
  }
}

/** Returns the milliseconds by which a zone is ahead of UTC at an instant. */
export const offsetOf = (instant: number, zone: string): number => {
  if (zone === "UTC") return 0
  const parts: Record<string, number> = {}
  for (const { type, value } of formatOf(zone).formatToParts(instant)) parts[type] = Number(value)
  const { day = 1, hour = 0, minute = 0, month = 1, second = 0, year = 1970 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1_000) * 1_000
}

/** An instant as the local time of a zone with its offset, such as `2024-01-15T11:30:00+01:00`; in UTC with `Z`. */
export const isoOf = (instant: number, zone: string): string => {
  const offset = offsetOf(instant, zone)
  const local = new Date(instant + offset).toISOString().slice(0, 19)
  const minutes = Math.abs(offset) / 60_000
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0")
  return zone === "UTC" ? `${local}Z` : `${local}${offset < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`
}

/**
 * Returns the instant of a local time, given as if it were UTC. The earlier instant counts for a local time that occurs
 * twice; a local time that is skipped moves forward by the length of the gap.
 */
export const instantOf = (local: number, zone: string): number => {
  const before = local - offsetOf(local - DAY, zone)
  const after = local - offsetOf(local + DAY, zone)
  const fits = [before, after].filter((instant) => instant + offsetOf(instant, zone) === local)
  return fits.length > 0 ? Math.min(...fits) : before
}
