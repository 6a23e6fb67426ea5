/**
 * Waits between attempts: 1, 2, 4 … 64 s.
 *
 * @module
 */

/** The first and the longest wait, in milliseconds. */
export const FIRST = 1000
const LAST = 64_000

/** The wait after another one. */
export const after = (wait: number): number => Math.min(2 * wait, LAST)

/** Time and chance of the host. A test has its own. */
export interface World {
  /** Milliseconds of any clock that only rises. */
  readonly elapsed: () => number
  /** Resolves after a time, or rejects with the reason of an abort. */
  readonly sleep: (millis: number, signal: AbortSignal) => Promise<void>
  /** A text that no other connection has. */
  readonly draw: () => string
}

/** The world of this process. */
export const host: World = {
  elapsed: () => performance.now(),
  sleep: (millis, signal) => new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", abort)
      resolve()
    }, millis)
    signal.addEventListener("abort", abort, { once: true })
  }),
  draw: () => crypto.randomUUID().replaceAll("-", "").slice(0, 16)
}
