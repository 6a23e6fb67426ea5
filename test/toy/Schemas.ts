/**
 * The schemas of alarms: requests from outside, and alarms in answers.
 *
 * @module
 */
import * as Schema from "effect/Schema"

/** The request of a new alarm. */
export const request = () => Schema.Struct({
  key: Schema.String.annotate({ description: "The key of the alarm" }),
  beats: Schema.Number.annotate({ description: "The beats until it rings" })
})

/** An alarm. */
export const row = () => Schema.Struct({
  key: Schema.String,
  state: Schema.Literals(["armed", "rung", "done"]),
  since: Schema.Number,
  asked: Schema.Number,
  answer: Schema.optionalKey(Schema.Unknown)
})
