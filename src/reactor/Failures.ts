/**
 * The failures that the reactor itself gives to requests.
 *
 * @module
 */
import type { FailedAttempt } from "./OpenRequests.ts"

/** A request that missed its deadline: `ETIMEDOUT`. */
export const ETIMEDOUT: FailedAttempt = { errno: -110, code: "io/timeout", retryable: false }

/** Requests that ended without an answer of their channel: `ECANCELED` and `EINTR`. */
export const INTERRUPTED: { readonly cancelled: FailedAttempt; readonly restarted: FailedAttempt; readonly takenBack: FailedAttempt } = {
  takenBack: { errno: -125, code: "io/taken-back", retryable: false },
  cancelled: { errno: -125, code: "io/cancelled", retryable: false },
  restarted: { errno: -4, code: "io/interrupted", retryable: true }
}

/** The numbers of connections that broke off, also after the request was sent: `ECONNRESET`, `ECONNABORTED` and `EPIPE`. */
export const BROKEN_OFF: ReadonlyArray<number> = [-104, -103, -32]

/** An attempt that its space held back, because it is paused or about to be: `EAGAIN`. It began nowhere. */
export const HELD: FailedAttempt = { errno: -11, code: "io/held", retryable: true }

/** A request to a channel that the configuration no longer has: `ENODEV`. */
export const CHANNEL_GONE: FailedAttempt = { errno: -19, code: "io/channel-absent", retryable: false }

/** A result that cannot be stored, such as a function, a cycle, or a negative number of bytes: `EINVAL`. */
export const INVALID_RESULT: FailedAttempt = { errno: -22, code: "io/result-invalid", retryable: false }
