/**
 * Orders: the payloads of the events that run actions.
 *
 * @module
 */
import * as Schema from "effect/Schema"

const Fields = Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Record(Schema.String, Schema.String)]))

const part = {
  /** The key of the control file in the ledger, and its path. */
  file: Schema.String,
  path: Schema.String,
  action: Schema.String,
  name: Schema.String,
  type: Schema.String,
  occurrence: Schema.String,
  attempt: Schema.Int,
  attempts: Schema.Int,
  pendings: Schema.Int,
  timeoutMs: Schema.Int,
  fields: Fields
}

const Member = Schema.Struct(part)

/**
 * The schema of an order.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Order = Schema.Struct({
  ...part,
  /** The actions that a composite action runs, in order. */
  members: Schema.optionalKey(Schema.Array(Member)),
  /** Whether a composite action waits for the end. */
  isMember: Schema.optionalKey(Schema.Boolean)
})

/**
 * An order: one attempt of an action. It contains all that the run depends on, except for cells.
 *
 * @category models
 * @since 0.1.0
 */
export type Order = typeof Order.Type

/**
 * The order of a member of a composite action.
 *
 * @category models
 * @since 0.1.0
 */
export type Member = typeof Member.Type

/**
 * The fields of an action by name, without the ones that the agent itself reads. A list of `- key: value` is a table.
 *
 * @category models
 * @since 0.1.0
 */
export type Fields = typeof Fields.Type

/**
 * The signal of an order.
 *
 * @category getters
 * @since 0.1.0
 */
export const signal = (type: string): string => `/signals/agent/${type}`

/** The signal by which a member tells its composite action that it has ended. Its target is the record. */
export const ENDED = "/signals/agent/ended"
