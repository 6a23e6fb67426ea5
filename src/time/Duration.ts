/**
 * Durations: `30s`, `5m`, `1h`, `2d` in milliseconds.
 *
 * @module
 */

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The maximum duration: 366 days. */
export const MAX_DURATION = 366 * 86_400_000

/** The form of a duration. Not each of this form is positive and within {@link MAX_DURATION}. */
export const FORM = /^\d{1,12}(?:ms|s|m|h|d)$/

/**
 * Parses a duration: a positive whole number with the unit ms, s, m, h or d. Answers milliseconds, or undefined for any
 * other text and for a duration over {@link MAX_DURATION}.
 */
export const parse = (text: string): number | undefined => {
  const [, digits = "", unit = ""] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text.trim()) ?? []
  const duration = Number(digits) * (UNITS[unit] ?? 0)
  return duration > 0 && duration <= MAX_DURATION ? duration : undefined
}

/** A duration as a user gives it: a number of units, or a text for {@link parse}. */
export type Given = number | string

/**
 * The amount of a given duration in units of so many milliseconds, rounded up: a number is one already. NaN for another text.
 */
export const amountOf = (given: Given, unit = 1): number => typeof given === "number" ? given : Math.ceil((parse(given) ?? NaN) / unit)

/**
 * Tests whether a value is a duration of a whole number of units within bounds.
 */
export const isWithin = (value: unknown, [least, most]: readonly [least: number, most: number], unit = 1): value is Given => {
  if (typeof value !== "number" && typeof value !== "string") return false
  const amount = amountOf(value, unit)
  return Number.isSafeInteger(amount) && amount >= least && amount <= most
}

/**
 * Renders a measured duration in seconds with one decimal: `1.2s`.
 */
export const render = (ms: number): string => `${(Math.max(ms, 0) / 1_000).toFixed(1)}s`
