/**
 * Problem details: the body of each refused request (RFC 9457).
 *
 * @module
 */
import * as Schema from "effect/Schema"

const text = Schema.String
const given = Schema.optionalKey

/**
 * The schema of a problem. A client decides by its `code`.
 *
 * @category schemas
 * @since 0.2.0
 */
export const schema = () => Schema.Struct({
  type: text,
  title: text,
  status: Schema.Number,
  detail: text,
  code: text,
  /** The time of the next useful retry, in milliseconds since 1970. */
  retry_at: given(Schema.Number),
  /** The events that an own id names, newest first. */
  events: given(Schema.Array(Schema.Struct({ id: text, status: text, enzymes: Schema.Array(text) }))),
  /** The receipt of an event that ended without success. */
  event: given(Schema.Unknown)
})
