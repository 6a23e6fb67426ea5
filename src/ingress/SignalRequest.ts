/**
 * Signals as callers write them.
 *
 * @module
 */
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type { PostedSignal } from "../kernel/Space.ts"
import { RequestRefused } from "./Problem.ts"

/** The longest that a caller may wait for a receipt, in seconds. */
export const MAX_WAIT_SECONDS = 60

const count = Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })))

const Body = Schema.Struct({
  signal: Schema.optionalKey(Schema.String),
  target: Schema.optionalKey(Schema.String),
  payload: Schema.optionalKey(Schema.Unknown),
  id: Schema.optionalKey(Schema.NonEmptyString),
  at: Schema.optionalKey(Schema.Union([
    Schema.Struct({ beat: count }),
    Schema.Struct({ beats: count }),
    Schema.Struct({ ms: count })
  ]))
})

const decodeBody = Schema.decodeUnknownExit(Body, { onExcessProperty: "error" })

/**
 * The signal in a request's body; the header `Idempotency-Key` is another way to give its id.
 *
 * @throws RequestRefused
 * @category constructors
 * @since 0.1.0
 */
export const decode = (body: unknown, idempotencyKey: string | null): PostedSignal => {
  const exit = decodeBody(body)
  if (Exit.isFailure(exit)) {
    const first = exit.cause.reasons[0]
    const detail = first?._tag === "Fail" ? first.error.message.replaceAll(/\s+/g, " ") : "it is no object"
    throw new RequestRefused({ code: "body/malformed", reason: `The body is not a signal: ${detail}. Send { signal, target, payload, id, at } with at least one of the first two` })
  }
  if (idempotencyKey === null) return exit.value
  const id = unquoted(idempotencyKey.trim())
  if (exit.value.id !== undefined && exit.value.id !== id) {
    throw new RequestRefused({ code: "signal/id-unequal", reason: `The body's id is "${exit.value.id}" and the header Idempotency-Key says "${id}". Give one of them, or both alike` })
  }
  return { ...exit.value, id }
}

/**
 * For how many seconds a request wants to wait (RFC 7240); `undefined` where it does not.
 *
 * @category getters
 * @since 0.1.0
 */
export const waitSeconds = (prefer: string | null): number | undefined => {
  const match = prefer === null ? null : /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[,;]|$)/i.exec(prefer)
  return match === null ? undefined : Math.min(Number(match[1]), MAX_WAIT_SECONDS)
}

const unquoted = (key: string): string =>
  key.length > 1 && key.startsWith("\"") && key.endsWith("\"") ? key.slice(1, -1).replaceAll(/\\(["\\])/g, "$1") : key
