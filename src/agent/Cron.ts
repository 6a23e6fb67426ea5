/**
 * Cron expressions of five fields, in a time zone: the port to the library that computes their matches.
 *
 * Fields: minute, hour, day of month, month, day of week; with lists, ranges, steps and English names. Where both days are
 * restricted, either one matches. A time of day that a change of clocks skips moves behind the gap, and one that occurs
 * twice fires once; an expression with a wildcard or a step in its minute or hour follows the clock as it is.
 *
 * @module
 */
import { Cron as Croner } from "croner"
import type { Refusal } from "./Issue.ts"

/**
 * A cron expression in a time zone.
 *
 * @category models
 * @since 0.1.0
 */
export interface Cron {
  readonly expression: string
  readonly zone: string
  /** Returns the first match after an instant, in milliseconds since 1970; undefined without one in the next years. */
  readonly next: (after: number) => number | undefined
}

const FIELDS = 5

/** The maximum length of an expression. */
const MAX_LENGTH = 256

const NUMBER = /^[\d*,/-]+$/
const MONTH = /^(?:[\d*,/-]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)+$/i
const WEEKDAY = /^(?:[\d*,/-]|SUN|MON|TUE|WED|THU|FRI|SAT)+$/i
const patterns = [NUMBER, NUMBER, NUMBER, MONTH, WEEKDAY]

const EXAMPLE = "write minute, hour, day of month, month and day of week, such as cron:*/5 9-17 * * MON-FRI"

/**
 * Parses an expression.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (expression: string, zone: string): Cron | Refusal => {
  const fields = expression.trim().split(/\s+/)
  const shown = expression.slice(0, MAX_LENGTH)
  const refuse = (reason: string): Refusal => ({ refused: `The cron expression "${shown}" ${reason}`, suggestion: EXAMPLE })
  if (expression.length > MAX_LENGTH) return refuse(`is longer than ${MAX_LENGTH} characters`)
  if (fields.length !== FIELDS) return refuse(`has ${fields[0] === "" ? 0 : fields.length} fields instead of ${FIELDS}`)
  const wrong = fields.find((field, index) => patterns[index]?.test(field) !== true)
  if (wrong !== undefined) return refuse(`has the field "${wrong}", which is no number, list, range or step`)
  try {
    return of(fields.join(" "), zone)
  } catch (error) {
    return refuse(`is refused: ${error instanceof Error ? error.message.replace(/^CronPattern: /, "") : String(error)}`)
  }
}

const of = (expression: string, zone: string): Cron => {
  const cron = new Croner(expression, { fixedTimeRule: "no-wildcard", mode: "5-part", paused: true, timezone: zone })
  return { expression, zone, next: (after) => cron.nextRun(new Date(after))?.getTime() }
}
