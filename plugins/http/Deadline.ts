/**
 * The end of an attempt: its deadline, or the abort of its job.
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
 * Runs one attempt, which ends with its job or after `timeoutMs` milliseconds.
 *
 * @throws ChannelError: `io/timeout` after the deadline, `io/cancelled` after an abort of the job
 * @category combinators
 * @since 0.1.0
 */
export const run = async <A>(
  { signal }: Pick<Channel.Job, "signal">,
  timeoutMs: number,
  body: (signal: AbortSignal) => Promise<A>
): Promise<A> => {
  const ending = new AbortController()
  const cancel = () => ending.abort(Channel.fail("io/cancelled", "it was cancelled", { errno: -125 }))
  const expire = () => ending.abort(Channel.fail("io/timeout", `it took more than ${timeoutMs} ms`, { errno: -110, retryable: true }))
  const timer = setTimeout(expire, timeoutMs)
  signal.addEventListener("abort", cancel, { once: true })
  try {
    return await body(ending.signal)
  } catch (error) {
    throw ending.signal.aborted ? ending.signal.reason : error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener("abort", cancel)
  }
}
