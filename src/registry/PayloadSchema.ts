/**
 * The decoding of payloads by schemas.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"

/**
 * The failure of a run whose payload does not match the schema of its enzyme.
 */
export class InvalidPayload extends Data.TaggedError("InvalidPayload")<{ readonly reason: string }> {
  readonly code = "payload/invalid"
  override get message() {
    return `The payload does not fit what the enzyme takes: ${this.reason}. Send one that does`
  }
}

/** The most characters of a reason. */
const MAX_REASON = 2000

/** The decoders of schemas, each made with its first payload. */
const decoders = new WeakMap<object, (payload: unknown) => Exit.Exit<unknown, unknown>>()

/**
 * Decodes a payload by a schema.
 *
 * @throws InvalidPayload
 */
export const decode = (schema: Schema.Decoder<unknown>, payload: unknown): unknown => {
  const decoded = attempt(schema, payload)
  if ("reason" in decoded) throw new InvalidPayload(decoded)
  return decoded.value
}

/**
 * Decodes a value by a schema, or gives the reason why it does not fit.
 */
export const attempt = (schema: Schema.Decoder<unknown>, value: unknown): { readonly value: unknown } | { readonly reason: string } => {
  let decoder = decoders.get(schema)
  if (decoder === undefined) decoders.set(schema, decoder = Schema.decodeUnknownExit(schema, { errors: "all" }))
  const decoded = decoder(value)
  if (Exit.isSuccess(decoded)) return { value: decoded.value }
  const error = Cause.squash(decoded.cause)
  return { reason: (error as Error).message.slice(0, MAX_REASON).replaceAll("\n", " ") }
}
