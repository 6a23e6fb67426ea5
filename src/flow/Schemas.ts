/**
 * The schemas of flows: requests from outside, and instances in answers.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as CellValue from "../contract/CellValue.ts"
import type { Instance } from "./Instance.ts"

const text = Schema.String
const count = Schema.Number

const limits = {
  steps: Schema.optionalKey(count.annotate({ description: "The most steps; 0 for no limit" })),
  beats: Schema.optionalKey(Schema.Union([count, text]).annotate({
    description: "The most beats from now, also as a time such as 10s; 0 for no limit"
  }))
}

/** The request of a new instance. */
export const request = () => Schema.Struct({
  flow: text.annotate({ description: "The name of the flow" }),
  inst: Schema.optionalKey(text.annotate({ description: "The id of the instance; minted unless given" })),
  input: Schema.optionalKey(Schema.Unknown.annotate({ description: "The input of the flow" })),
  ...limits
})

/** The limits of an instance. */
export const budget = () => Schema.Struct(limits)

/** An instance in a list. */
export const row = () => Schema.Struct({
  inst: text,
  flow: text,
  state: Schema.Literals(["ready", "waiting", "paused", "done", "error", "cancelled"]),
  pc: text,
  started: count,
  steps_used: count,
  note: Schema.optionalKey(text)
})

/** A whole instance, which is one document. */
export const instance = CellValue.of<Instance & { readonly inst: string }>
