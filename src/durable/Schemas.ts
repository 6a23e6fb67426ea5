/**
 * The schemas of durable runs in answers.
 *
 * @module
 */
import * as Schema from "effect/Schema"

const text = Schema.String
const count = Schema.Number

/** A handle that a run has open. */
const awaited = () => Schema.Struct({
  number: count,
  /** `sleep`, a request by its id, or a signal and its cell. */
  object: text,
  /** The beat of the segment that made it. */
  since: count,
  /** The end of a sleep: a beat, milliseconds since 1970, or both. */
  due: Schema.optionalKey(Schema.Struct({ beat: Schema.optional(count), moment: Schema.optional(count) }))
})

const shown = () => ({
  /** Its operation, which names the run; the id of its event. */
  oid: text,
  event: text,
  /** The id as the event's caller gave it, until its receipt is pruned. */
  own: Schema.optionalKey(text),
  enzyme: text,
  /** The beat of its newest step, from which it waits. */
  since: count,
  /**
   * `waiting` for a result; `running` if its next segment is due or repeated; `held` while the space is paused or the
   * enzyme is absent, and without its module; `dead` if it was given up; `over`.
   */
  state: Schema.Literals(["waiting", "running", "held", "dead", "over"]),
  /** The reason for which it is held, the code of its failure, or its closing status. */
  note: Schema.optionalKey(text),
  /** The number of its next segment; of a run that is over, the number of its steps. */
  segment: count,
  /** The number of the attempt at its next segment. */
  attempt: Schema.optionalKey(count),
  /** The cancellation that its next segment executes; `back` for a run that a rollback ends. */
  cancel: Schema.optionalKey(Schema.Literals(["await", "now", "back"])),
  /** Its open handles. A list leaves out those of a log over 16,384 characters. */
  awaits: Schema.optionalKey(Schema.Array(awaited()))
})

/** A durable run in a list. */
export const row = () => Schema.Struct(shown())

/** One step of a run. */
const step = () => Schema.Struct({
  segment: count,
  beat: count,
  /** The clock of that beat, in milliseconds since 1970. */
  now: count,
  /** The results with which the segment began: the number of the handle, and `ok` or the code of its failure. */
  results: Schema.Array(text),
  /** The calls of the segment, without their results, at most 100; and the number of all its calls. */
  calls: Schema.Array(text),
  called: count,
  /** The handles that were open at its end. */
  on: Schema.Array(text)
})

/** A run with its newest 100 steps. */
export const details = () => Schema.Struct({ ...shown(), begun: count, steps: Schema.Array(step()) })

/** A handle that a run has open. */
export type AwaitedRow = ReturnType<typeof awaited>["Type"]
/** A durable run in a list. */
export type RunRow = ReturnType<typeof row>["Type"]
/** One step of a run. */
export type StepRow = ReturnType<typeof step>["Type"]
/** A run with its newest 100 steps. */
export type RunDetails = ReturnType<typeof details>["Type"]
