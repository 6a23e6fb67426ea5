/**
 * Moments: dates and times of ISO 8601 as milliseconds since 1970.
 *
 * @module
 */
import * as Zone from "./Zone.ts"

const MOMENT = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?)?(Z|[+-]\d\d:?\d\d)?$/i

/**
 * Reads a date and time as milliseconds since 1970. Without an offset it is local to the zone; without a zone, it needs an offset.
 * Answers undefined for any other text, and for a date that does not exist.
 */
export const parse = (text: string, zone?: string): number | undefined => {
  const [match, year, month, day, hour = "00", minute = "00", second = "00", fraction = "0", offset] = MOMENT.exec(text.trim()) ?? []
  if (match === undefined) return undefined
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}`
  const local = Date.parse(`${iso}.${fraction.padEnd(3, "0")}Z`)
  // Engines accept some dates that do not exist, such as the 30th of February, and give another day.
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(iso)) return undefined
  if (offset === undefined) return zone === undefined ? undefined : Zone.instantOf(local, zone)
  const [, sign = "+", hours = "0", minutes = "0"] = /^([+-])(\d\d):?(\d\d)$/.exec(offset) ?? []
  return local - (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}
