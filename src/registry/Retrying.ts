/**
 * The field `retry` of an enzyme: how often a handling is attempted, and how long it waits in between.
 *
 * @module
 */
import * as Backoff from "../time/Backoff.ts"
import * as Duration from "../time/Duration.ts"

/** Attempts with waits in beats: so many at first, and each further wait is twice as long. */
interface InBeats {
  /** The most attempts, from 1 to 1000. */
  readonly attempts?: number
  /** The first wait, in beats, from 1 to 1000. */
  readonly beats?: number
  readonly delay?: never
  readonly factor?: never
  readonly max?: never
  readonly jitter?: never
}

/** Attempts with waits by the clock. Durations are whole numbers with ms, s, m, h or d, up to `366d`. */
interface InTime {
  /** The most attempts, from 1 to 1000. */
  readonly attempts?: number
  readonly beats?: never
  /** The first wait, such as `"1s"`. */
  readonly delay: string
  /** Each further wait is so many times as long, from 1 to 1000. */
  readonly factor?: number
  /** The longest wait, such as `"1h"`. */
  readonly max?: string
  /** The share of a wait, from 0 to 1, of which a random part is left out. */
  readonly jitter?: number
}

/**
 * The field as a definition gives it.
 */
export type GivenRetry = InBeats | InTime

/**
 * The field of an enzyme, which is a definition, too: with its defaults.
 */
export type Retrying = { readonly attempts: number } & (InBeats | Required<Omit<InTime, "beats">>)

/** The largest number of attempts, of beats of the first wait, and of the factor. */
const MOST = 1000

const DEFAULTS = { attempts: 10, factor: 2, max: "1h", jitter: 0 } as const

/** The values of a field that follow one rule, in words. */
interface Rule {
  readonly fits: (value: unknown) => boolean
  readonly expected: string
}

const isBetween = (low: number, high: number) => (value: unknown): boolean =>
  typeof value === "number" && value >= low && value <= high

const whole: Rule = {
  fits: (value) => Number.isInteger(value) && isBetween(1, MOST)(value),
  expected: `a whole number from 1 to ${MOST}`
}

const duration: Rule = {
  fits: (value) => typeof value === "string" && Duration.parse(value) !== undefined,
  expected: `a whole number with ms, s, m, h or d, up to 366d, such as "10s"`
}

const rules: Readonly<Record<keyof Required<GivenRetry>, Rule>> = {
  attempts: whole,
  beats: whole,
  delay: duration,
  factor: { fits: isBetween(1, MOST), expected: `a number from 1 to ${MOST}` },
  max: duration,
  jitter: { fits: isBetween(0, 1), expected: "a number from 0 to 1" }
}

const millis = (text: string): number => Duration.parse(text) ?? 0

/**
 * Checks the field.
 *
 * @throws Error with the reason
 */
export const check = (given: GivenRetry): void => {
  for (const [name, value] of Object.entries(given)) {
    const rule = (rules as Readonly<Record<string, Rule | undefined>>)[name]
    if (rule === undefined) throw new Error(`there is no "${name}"; there are ${Object.keys(rules).join(", ")}`)
    if (value === undefined || rule.fits(value)) continue
    throw new Error(`${name} is ${JSON.stringify(value) ?? String(value)}; give ${rule.expected}`)
  }
  const { beats, delay, max } = given
  const timed = (["delay", "factor", "max", "jitter"] as const).find((name) => given[name] !== undefined)
  if (timed === undefined) return
  if (beats !== undefined) {
    throw new Error(`both beats and ${timed} are given, and a wait is either in beats or by the clock; leave out one of them`)
  }
  if (delay === undefined) throw new Error(`${timed} is given without delay; give delay: "1s", the first wait`)
  if (max !== undefined && millis(max) < millis(delay)) {
    throw new Error(`max is "${max}" and shorter than delay, "${delay}"; give a longer max, or a shorter delay`)
  }
}

/** Returns the field of an enzyme from a checked one. */
export const decode = ({ attempts = DEFAULTS.attempts, beats, delay, factor, jitter, max }: GivenRetry = {}): Retrying => {
  if (delay === undefined) return { attempts, ...beats !== undefined && { beats } }
  const longest = max ?? (millis(delay) > millis(DEFAULTS.max) ? delay : DEFAULTS.max)
  return { attempts, delay, factor: factor ?? DEFAULTS.factor, max: longest, jitter: jitter ?? DEFAULTS.jitter }
}

/** A wait before the next attempt. */
export type Wait = { readonly beats: number } | { readonly ms: number }

/** The number of the attempt that failed, the limit of waits in beats, and a random number from 0 up to 1. */
export interface Failed {
  readonly attempt: number
  readonly backoffBeats: number
  readonly draw: () => number
}

/** Returns the wait after a failed attempt. */
export const waitOf = (retrying: Retrying, { attempt, backoffBeats, draw }: Failed): Wait => {
  if (retrying.delay === undefined) return { beats: Math.min((retrying.beats ?? 1) * 2 ** (attempt - 1), backoffBeats) }
  const { delay, factor, jitter, max } = retrying
  const wait = Backoff.after({ delay: millis(delay), factor, max: millis(max) }, attempt)
  return { ms: jitter === 0 ? wait : Backoff.jittered(wait, jitter, draw()) }
}
