/**
 * Backoff: waits between attempts, each longer than the one before.
 *
 * @module
 */

/** The waits between attempts, in milliseconds. */
export interface Backoff {
  /** The first wait. */
  readonly delay: number
  /** Each further wait is so many times as long, 1 or more. */
  readonly factor: number
  /** The longest wait. */
  readonly max: number
}

/**
 * Returns the wait after a number of failures, from 1, in milliseconds.
 */
export const after = ({ delay, factor, max }: Backoff, failures: number): number => {
  let wait = delay
  // Products are equal on every engine, powers of fractions are not.
  for (let i = 1; i < failures && wait < max && factor > 1; i++) wait *= factor
  return Math.min(Math.round(wait), max)
}

/**
 * Returns a wait that is shorter by a random part of its share `jitter`, so that many of them do not end at once. `draw` is from 0 up
 * to 1.
 */
export const jittered = (wait: number, jitter: number, draw: number): number => Math.max(1, Math.round(wait * (1 - jitter * draw)))
