/**
 * The checked results of channels.
 *
 * A channel is foreign code. Its result enters the journal only in a form that a replay reads back exactly.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import * as Value from "../cell/Value.ts"
import { ChannelError } from "./Channel.ts"
import * as Errno from "./Errno.ts"
import { HELD, INVALID_RESULT } from "./Failures.ts"
import { MAX_WAIT } from "../stage/Due.ts"
import type { Completion, FailedAttempt } from "./OpenRequests.ts"

/** The largest number of an error, as hosts define them. */
const MAX_ERRNO = 4095

/** The largest length of a code. */
const MAX_CODE = 128

/** The largest length of a reason, in characters. */
const MAX_NOTE = 500

/** The end of an attempt. */
export type End = Pick<Completion, "bytes" | "failure" | "value">

/**
 * The end of an attempt by the result of its channel. A result that cannot be stored is a failure.
 */
export const endOf = (result: unknown): End => {
  try {
    const { bytes, value } = (result ?? {}) as { readonly bytes?: unknown; readonly value?: unknown }
    if (bytes !== undefined && !isCount(bytes)) return failed(INVALID_RESULT)
    if (value === undefined) return { bytes, value, failure: undefined }
    // The event of the result contains the value one level deeper.
    Value.canonical({ value })
    return { bytes, value: Document.encode(value), failure: undefined }
  } catch {
    return failed(INVALID_RESULT)
  }
}

/**
 * The end of an attempt by the value that its channel threw.
 */
export const errorOf = (error: unknown): End => failed(failureOf(error))

const failed = (failure: FailedAttempt): End => ({ bytes: undefined, value: undefined, failure })

const failureOf = (error: unknown): FailedAttempt => {
  if (!(error instanceof ChannelError)) return { ...Errno.of(error), note: `the channel threw ${nameOf(error)}` }
  const { code, errno, reason, retryAfterMs = -1, retryable } = error
  const isErrno = Number.isInteger(errno) && errno < 0 && errno >= -MAX_ERRNO
  // An attempt with that code counts as none, so a channel that gives it would get attempts for ever.
  if (code.length === 0 || code.length > MAX_CODE || code === HELD.code) return INVALID_RESULT
  const isWait = Number.isSafeInteger(retryAfterMs) && retryAfterMs >= 0 && retryAfterMs <= MAX_WAIT
  return {
    errno: isErrno ? errno : -5, code, retryable, note: reason.slice(0, MAX_NOTE).toWellFormed(), ...isWait ? { retryAfterMs } : {}
  }
}

/** The name of a thrown error. Its message stays with the log of the host, because it may have secrets. */
const nameOf = (error: unknown): string => {
  try {
    const { name } = error as { readonly name?: unknown }
    if (error instanceof Error && typeof name === "string" && /^\w{1,64}$/.test(name)) return name
  } catch {
    // A thrown value may have any accessors.
  }
  return error instanceof Error ? "Error" : typeof error
}

const isCount = (bytes: unknown): bytes is number => Number.isSafeInteger(bytes) && (bytes as number) >= 0
