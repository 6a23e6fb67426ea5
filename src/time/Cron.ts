/**
 * Cron expressions of five fields, in a time zone: the port to the library that computes their matches.
 *
 * Fields: minute, hour, day of month, month, day of week; with lists, ranges, steps and English names. Where both days are
 * restricted, either one matches.
 *
 * A fixed time of day that a change of clocks skips fires at the end of the gap, and one that occurs twice fires once, at
 * the first occurrence. An expression with a wildcard or a step in its minute or hour follows the local clock as it is.
 *
 * A build whose modules have no expression has {@link NONE} in place of this module, without the library.
 *
 * @module
 */
import { Cron as Croner } from "croner"
import type { Refusal } from "./Refusal.ts"

/**
 * A cron expression in a time zone.
 */
export interface Cron {
  readonly expression: string
  readonly zone: string
  /** Returns the first match after an instant, in milliseconds since 1970; undefined without one in the next years. */
  readonly next: (after: number) => number | undefined
}

/** The maximum length of an expression. */
const MAX_LENGTH = 256

/** A field: its bounds, and the names of its values from the lowest on. */
interface FieldForm {
  readonly name: string
  readonly low: number
  readonly high: number
  readonly names: ReadonlyArray<string>
}

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]

const MONTH: FieldForm = { name: "month", low: 1, high: 12, names: MONTHS }

/** The fields in their order. Sunday is 0 and 7. */
const forms: ReadonlyArray<FieldForm> = [
  { name: "minute", low: 0, high: 59, names: [] },
  { name: "hour", low: 0, high: 23, names: [] },
  { name: "day of month", low: 1, high: 31, names: [] },
  MONTH,
  { name: "day of week", low: 0, high: 7, names: WEEKDAYS }
]

/** The longest days of the months. */
const LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const FIELDS = "write minute, hour, day of month, month and day of week"
const EXAMPLE = "*/5 9-17 * * MON-FRI"

/** The time zone of an expression, and the text before an expression where it is written. */
export interface Place {
  readonly zone: string
  readonly prefix?: string
}

/**
 * Parses an expression in a time zone, which must exist.
 */
export const parse = (expression: string, { prefix = "", zone }: Place): Cron | Refusal => {
  const fields = expression.trim().split(/\s+/)
  const shown = expression.slice(0, MAX_LENGTH)
  const suggestion = `${FIELDS}, such as ${prefix}${EXAMPLE}`
  const refuse = (reason: string): Refusal => ({ refused: `The cron expression "${shown}" ${reason}`, suggestion })
  if (expression.length > MAX_LENGTH) return refuse(`is longer than ${MAX_LENGTH} characters`)
  if (fields.length !== forms.length) return refuse(`has ${fields[0] === "" ? 0 : fields.length} fields instead of ${forms.length}`)
  for (const [i, form] of forms.entries()) {
    const wrong = fields[i]?.split(",").find((part) => !isPart(part, form))
    if (wrong === undefined) continue
    const refusal = refuse(`has "${wrong}" as ${form.name}, and a value, range or step from ${form.low} to ${form.high} is needed`)
    const parts = wrappedOf(wrong, form)
    return parts === undefined ? refusal : { ...refusal, suggestion: `write ${parts}, because a range does not go on at its first value` }
  }
  const [, , day = "*", month = "*", weekday = "*"] = fields
  if (weekday === "*" && neverMatches(day, month)) return refuse("never matches, because no such month has this day")
  return of(fields.join(" "), zone)
}

const PART = /^(?:\*|(\w+)(?:-(\w+))?)(?:\/(\d{1,2}))?$/

/** The last day of a range such as FRI-SUN. */
const SUNDAY = "SUN"

/** Reads a value: a number, or the name of a month or a day; NaN for any other text. */
const numberOf = (text: string, { low, names }: FieldForm): number => {
  const index = names.indexOf(text.toUpperCase())
  if (index >= 0) return low + index
  return /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
}

/** Tests whether a part of a list is a value, a range, or a step over a range or all values. */
const isPart = (part: string, form: FieldForm): boolean => {
  const match = PART.exec(part)
  if (match === null) return false
  const [, first, last, step] = match
  if (step !== undefined && (Number(step) < 1 || Number(step) > form.high || (first !== undefined && last === undefined))) return false
  const from = first === undefined ? form.low : numberOf(first, form)
  const to = last === undefined ? from : last.toUpperCase() === SUNDAY ? form.high : numberOf(last, form)
  return from >= form.low && to <= form.high && from <= to
}

/** The two ranges of a range that goes over the highest value, such as `22-6`; `undefined` for any other text. */
const wrappedOf = (part: string, form: FieldForm): string | undefined => {
  const [, first, last] = /^(\w+)-(\w+)$/.exec(part) ?? []
  if (first === undefined || last === undefined) return undefined
  const [from, to] = [numberOf(first, form), numberOf(last, form)]
  if (!(from > to && to >= form.low && from <= form.high)) return undefined
  const end = form.names === WEEKDAYS ? SUNDAY : String(form.high)
  const rest = form.names === WEEKDAYS ? Math.max(to, 1) : to
  const begin = form.names === WEEKDAYS ? 1 : form.low
  const after = form.names === WEEKDAYS && to === 0 ? "" : begin === rest ? `,${begin}` : `,${begin}-${rest}`
  return `${first}-${end}${after}`
}

/** Whether each of the days of the month is longer than each of the months. */
const neverMatches = (day: string, month: string): boolean => {
  const firsts = day.split(",").map((part) => part.startsWith("*") ? 1 : Number.parseInt(part, 10))
  const longest = month.split(",").flatMap((part) => {
    const [, first, last = first] = PART.exec(part) ?? []
    const from = first === undefined ? 1 : numberOf(first, MONTH)
    const to = last === undefined ? MONTHS.length : numberOf(last, MONTH)
    return LENGTHS.slice(from - 1, to)
  })
  return Math.min(...firsts) > Math.max(...longest)
}

/**
 * The library's matches after an instant. Its public functions ask the host for the present time, which no match after a given
 * instant depends on, and which a run must not ask for.
 */
class Matches extends Croner {
  constructor(expression: string, timezone: string) {
    super(expression, { fixedTimeRule: "no-wildcard", mode: "5-part", paused: true, timezone })
  }

  after(millis: number): number | undefined {
    const instant = new Date(millis)
    return this["_nextTarget"](instant, instant)?.getTime()
  }
}

/** The most expressions that are kept: more than those of a control file. */
const MAX_KNOWN = 4_096

const known = new Map<string, Cron>()

/** The matches of a checked expression. They are kept, because each parse of a file asks for them again. */
const of = (expression: string, zone: string): Cron => {
  const key = `${zone} ${expression}`
  const found = known.get(key) ?? made(expression, zone)
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(key, found)
  return found
}

/** Makes matches. The library is asked at the first match, and the last match is kept, because each wake asks for it. */
const made = (expression: string, zone: string): Cron => {
  let cron: Matches | undefined
  let last: { readonly after: number; readonly match: number | undefined } | undefined
  const next = (after: number): number | undefined => {
    cron ??= new Matches(expression, zone)
    if (last?.after !== after) last = { after, match: cron.after(after) }
    return last.match
  }
  return { expression, zone, next }
}

/** This module in a build without expressions. A module that has one there alone is broken. */
export const NONE = `export const parse = () => ({
  refused: "The build has no cron expressions, because no module had one when it was made",
  suggestion: "give the module its schedule always, and build again"
})`
