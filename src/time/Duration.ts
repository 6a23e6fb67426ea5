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

/**
 * Renders a measured duration in seconds with one decimal: `1.2s`.
 */
export const render = (ms: number): string => `${(Math.max(ms, 0) / 1_000).toFixed(1)}s`
