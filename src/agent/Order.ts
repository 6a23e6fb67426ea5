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

const Part = Schema.Struct(part)

/**
 * An order: one attempt of an action. It contains all that the run depends on, except for cells.
 *
 * @category models
 * @since 0.1.0
 */
export interface Order extends Schema.Schema.Type<typeof Part> {
  /** The actions that a composite action runs, in order. */
  readonly members?: ReadonlyArray<Order>
  /** Whether a composite action waits for the end. */
  readonly isMember?: boolean
}

/**
 * The schema of an order.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Order: Schema.Codec<Order> = Schema.Struct({
  ...part,
  members: Schema.optionalKey(Schema.Array(Schema.suspend((): Schema.Codec<Order> => Order))),
  isMember: Schema.optionalKey(Schema.Boolean)
})

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
