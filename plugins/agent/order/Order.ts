/**
 * Orders: the payloads of the events that run actions.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import { type Action, ID } from "../document/Action.ts"
import { Progress } from "./Record.ts"

const Fields = Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Record(Schema.String, Schema.String)]))

/** The keys of control files and the ids of actions, of which the addresses of cells consist. */
const Key = Schema.String.pipe(Schema.check(Schema.isPattern(/^[0-9a-f]{32}$/)))
const Id = Schema.String.pipe(Schema.check(Schema.isPattern(ID)))

const part = {
  /** The key of the control file in the ledger, and its path. */
  file: Key,
  path: Schema.String,
  action: Id,
  name: Schema.String,
  type: Schema.String,
  occurrence: Schema.String,
  attempt: Schema.Int,
  attempts: Schema.Int,
  pendings: Schema.Int,
  timeoutMs: Schema.Int,
  /** The time at which it was given, by the clock of the wake; absent in orders of earlier versions. */
  at: Schema.optionalKey(Schema.Int),
  fields: Fields,
  /** The digest of the block as a person wrote it; absent in orders of earlier versions. */
  digest: Schema.optionalKey(Schema.String)
}

const Delay = Schema.Struct({ kind: Schema.Literals(["immediate", "fixed", "linear", "exponential"]), base: Schema.Int, cap: Schema.Int })

/** The fields of a member that its composite action obeys. */
const memberPart = {
  /** The condition, with its time zone. */
  condition: Schema.optionalKey(Schema.Struct({ text: Schema.String, zone: Schema.String })),
  retry: Schema.optionalKey(Schema.Struct({ delay: Delay, on: Schema.Array(Schema.String) })),
  /** The other members that have to be completed before. */
  after: Schema.optionalKey(Schema.Array(Schema.String))
}

/** The parts of the order of a composite action. */
const compositePart = {
  progress: Schema.optionalKey(Progress),
  /** The facts that the conditions of members read: at the begin of the attempt, with the latest event of each action. */
  facts: Schema.optionalKey(Schema.Struct({
    files: Schema.Array(Schema.String),
    variables: Schema.Array(Schema.String),
    outcomes: Schema.Record(Schema.String, Schema.Struct({ outcome: Schema.String, event: Schema.optionalKey(Schema.String) }))
  }))
}

const Part = Schema.Struct({ ...part, ...memberPart, ...compositePart })

/**
 * An order: one attempt of an action. It contains all that the run depends on, except for cells.
 *
 * @category models
 * @since 0.1.0
 */
export interface Order extends Schema.Schema.Type<typeof Part> {
  /** The actions that a composite action runs, in order. */
  readonly members?: ReadonlyArray<Order>
  /** Whether the order is for a member, for whose end a composite action waits. */
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
  ...memberPart,
  ...compositePart,
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
 * The fields with which an action runs. A person approves a program by these, so they are all that its type reads.
 */
export const fieldsOf = ({ captureOutput, outputFile, params }: Action): Fields => ({
  ...Object.fromEntries([...params].map(([name, value]) =>
    [name, typeof value === "string" ? value : value instanceof Map ? Object.fromEntries(value) : [...value.values()].join("\n")])),
  ...captureOutput ? { capture_output: "true" } : {},
  ...outputFile === undefined ? {} : { output_file: outputFile }
})

/**
 * The signal of an order.
 */
export const signal = (type: string): string => `/signals/agent/${type}`

/**
 * The signal by which an order tells the run that waits for it that it has ended. Its target is the record. It is a signal of
 * the runtime, so readers cannot send it.
 */
export const ENDED = "/CEP:sig_agent/ended"

/**
 * The cell of the permit of an action: the latest order that a wake gave, or that a composite action gave to its member. A run
 * compares its order with it, because others may send the signals of orders, too.
 */
export const permit = (file: string, action: string): string => `/data/agent/${file}/permits/${action}`

/** The beginning of the path of a control file in a cell, before the address of the cell. */
const CELL = "cell:"

/** The path of a control file in a cell. No path of a disk begins like it. */
export const pathOf = (cell: string): string => `${CELL}${cell}`

/** Whether a run of the space waits for the end of an order: a composite action for a member, or the wake of a file in a cell. */
export const isAwaited = ({ isMember, path }: Order): boolean => isMember === true || path.startsWith(CELL)
