/**
 * The services of a host that the client uses: `fetch`, time and chance. A test gives its own.
 *
 * @module
 */

/**
 * The services of a host.
 *
 * @category models
 * @since 0.2.0
 */
export interface Platform {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** The time of the wall clock in milliseconds. A host that slept shows a jump. */
  readonly now: () => number
  /** Resolves after milliseconds, or when the signal is aborted. */
  readonly sleep: (ms: number, abort: AbortSignal) => Promise<void>
  /** A number from 0 up to 1. */
  readonly random: () => number
  /** An id that no other call gives. */
  readonly id: () => string
}

const sleep = (ms: number, abort: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      abort.removeEventListener("abort", end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    if (abort.aborted) end()
    else abort.addEventListener("abort", end)
  })

/** A client lives in a page or in a program of its own, without a runtime that would give it time and chance. */
export const host: Platform = {
  fetch: (url, init) => fetch(url, init),
  now: () => Date.now(),
  sleep,
  random: () => Math.random(),
  // A page without TLS has no randomUUID.
  id: () => `c${Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")}`
}
