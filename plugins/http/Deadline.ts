/**
 * The end of an operation at its deadline, also of one that never settles.
 *
 * @module
 */
import { Channel } from "systole"

/** Rejects with the reason of an abort, although the promise may never settle. */
export const orAborted = <A>(promise: Promise<A>, signal: AbortSignal): Promise<A> =>
  new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener("abort", abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort))
  })

/**
 * Runs an operation without a job, such as one of a content store, for at most `timeoutMs` milliseconds. Then its signal is
 * aborted.
 *
 * @throws ChannelError: `io/timeout` after the deadline
 */
export const run = async <A>(timeoutMs: number, operation: (signal: AbortSignal) => Promise<A>): Promise<A> => {
  const ending = new AbortController()
  const expire = () => ending.abort(Channel.fail("io/timeout", `it took more than ${timeoutMs} ms`, { errno: -110, retryable: true }))
  const timer = setTimeout(expire, timeoutMs)
  try {
    return await orAborted(operation(ending.signal), ending.signal)
  } finally {
    clearTimeout(timer)
  }
}
