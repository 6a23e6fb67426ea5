/**
 * Statuses of answers: the accepted ones, and the ones that a later attempt may change.
 *
 * @module
 */
import { Channel } from "systole"
import type { Exchange } from "./HttpClient.ts"

/** The statuses below 500 that a later attempt may change: time-out, too early, too many requests. */
const passing: ReadonlySet<number> = new Set([408, 425, 429])

/** Tests whether a later attempt may have another status. */
export const isRetryable = (status: number): boolean => status >= 500 || passing.has(status)

/** Tests whether a status is a success. */
export const isOk = (status: number): boolean => status >= 200 && status < 300

/** The failure of an answer with an unexpected status, with the wait that it asks for. */
export const failure = (
  code: string,
  { retryAfterMs, status }: Pick<Exchange, "retryAfterMs" | "status">,
  reason: string
): Channel.ChannelError => Channel.fail(code, reason, { retryable: isRetryable(status), retryAfterMs })
