/**
 * Signals as callers write them.
 *
 * @module
 */
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type { PostedSignal } from "../kernel/Space.ts"
import * as Emission from "../stage/Emission.ts"
import type { At } from "../stage/Launch.ts"
import { RequestRefused } from "./Problem.ts"

/** The longest that a caller may wait for a receipt, in seconds. */
export const MAX_WAIT_SECONDS = 60

const isAt = (value: unknown): value is At => {
  const [[kind, amount] = ["", 0], ...others] = typeof value === "object" && value !== null ? Object.entries(value) : []
  return others.length === 0 && ["beat", "beats", "ms"].includes(kind) && Number.isSafeInteger(amount) && amount >= 0
}

const AtSchema = Schema.declare(isAt, { expected: "one of { beat }, { beats } and { ms }, with a whole number from 0," })

const Body = Schema.Struct({
  signal: Schema.optionalKey(Schema.String),
  target: Schema.optionalKey(Schema.String),
  payload: Schema.optionalKey(Schema.Unknown),
  id: Schema.optionalKey(Schema.NonEmptyString),
  at: Schema.optionalKey(AtSchema)
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
  if (id === undefined) {
    throw new RequestRefused({ code: "signal/id-malformed", reason: `The header Idempotency-Key says ${idempotencyKey.slice(0, 200)}. Send it once; put a key that holds a comma or a quote between quotes, with \\ before each quote in it` })
  }
  if (exit.value.id !== undefined && exit.value.id !== id) {
    throw new RequestRefused({ code: "signal/id-unequal", reason: `The body's id is "${exit.value.id}" and the header Idempotency-Key says "${id}". Give one of them, or both alike` })
  }
  return { ...exit.value, id }
}

/** Most characters of a caller's id. */
const MAX_ID = 512

/**
 * Refuses a signal that no space would take, whatever its beat.
 *
 * @throws InvalidSignal, InvalidAddress, InvalidValue
 * @category guards
 * @since 0.1.0
 */
export const check = (request: PostedSignal): void => {
  Emission.make("", request, -1)
  const length = request.id?.length ?? 1
  if (length < 1 || length > MAX_ID) throw new Emission.InvalidSignal({ reason: `its id has ${length} characters; give 1 to ${MAX_ID}` })
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

/** A key without its quotes; `undefined` for what can only be several, which a host puts together with commas. */
const unquoted = (key: string): string | undefined => {
  if (/^[^",]*$/.test(key)) return key
  return /^"(?:[^"\\]|\\.)*"$/.test(key) ? key.slice(1, -1).replaceAll(/\\(["\\])/g, "$1") : undefined
}
