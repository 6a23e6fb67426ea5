/**
 * The header `Retry-After` of an answer: the wait that a server asks for before the next attempt.
 *
 * Only 429 and 503 ask for one. The value is a number of seconds or a date, in each of the three forms of HTTP [RFC 9110 §5.6.7].
 * A date counts from the server's own `Date`, so a wrong clock of either side does not matter. Any other value asks for no wait.
 *
 * @module
 */
import { header, type Headers } from "./Transport.ts"

/** The statuses that ask for a wait: too many requests, and a service that is not available. */
const asking: ReadonlySet<number> = new Set([429, 503])

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

const time = "(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)"

/** The forms of a date: the preferred one, and the two old ones. */
const forms = [
  new RegExp(`^[a-z]{3}, (?<day>\\d{2}) (?<month>[a-z]{3}) (?<year>\\d{4}) ${time} gmt$`, "i"),
  new RegExp(`^[a-z]{6,9}, (?<day>\\d{2})-(?<month>[a-z]{3})-(?<year>\\d{2}) ${time} gmt$`, "i"),
  new RegExp(`^[a-z]{3} (?<month>[a-z]{3}) (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`, "i")
]

/** The full year of two digits: the one that is at most 50 years from now. */
const fullYear = (year: number, now: number): number => {
  const century = new Date(now).getUTCFullYear()
  const near = century - century % 100 + year
  return near > century + 50 ? near - 100 : near
}

/** The time of a date of HTTP in milliseconds since 1970; `undefined` for another text. */
const dateOf = (text: string, now: number): number | undefined => {
  const parts = forms.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined)
  if (parts === undefined) return undefined
  const { day, hour, minute, month = "", second, year = "" } = parts
  const index = months.indexOf(month.toLowerCase())
  const full = year.length === 4 ? Number(year) : fullYear(Number(year), now)
  const found = Date.UTC(full, index, Number(day), Number(hour), Number(minute), Number(second))
  return index < 0 || new Date(Date.UTC(full, index, Number(day))).getUTCDate() !== Number(day) ? undefined : found
}

/** The longest wait that a channel grants, and the clock of the host. */
export interface Rule {
  /** In milliseconds. */
  readonly longest: number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/**
 * The milliseconds that an answer asks to wait, at most the longest wait; `undefined` if it asks for none.
 */
export const of = ({ headers, status }: { readonly headers: Headers; readonly status: number }, rule: Rule): number | undefined => {
  const text = asking.has(status) ? header(headers, "retry-after")?.trim() : undefined
  if (text === undefined) return undefined
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, rule.longest)
  const now = rule.now()
  const until = dateOf(text, now)
  if (until === undefined) return undefined
  const from = dateOf(header(headers, "date")?.trim() ?? "", now) ?? now
  return Math.min(Math.max(0, until - from), rule.longest)
}
