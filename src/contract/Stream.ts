/**
 * The events of streams.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as CellValue from "./CellValue.ts"
import type { Answers } from "./Endpoint.ts"

/** A failure that ends a stream, as the problem details of an answer. */
const problem = () => Schema.Struct({
  type: Schema.String,
  title: Schema.String,
  status: Schema.Number,
  detail: Schema.String,
  code: Schema.String,
  retry_at: Schema.optionalKey(Schema.Number)
})

/** Events that each stream may have: a value that follows after missed ones, and the failure that ends it. */
export const events = { reset: () => Schema.Struct({ reason: Schema.String }), problem } satisfies Answers

/** The stream of a cell: its value now, and after each change. */
export const ofCell = { value: CellValue.schema, absent: () => Schema.Null, ...events } satisfies Answers
