/**
 * The port of the space in which an agent works.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Record from "./Record.ts"

/**
 * A request to the space failed. `problem` is the stable code of its refusal.
 */
export class LedgerFailed extends Data.TaggedError("LedgerFailed")<{ readonly problem: string; readonly reason: string }> {
  readonly code = "agent/ledger"
  override get message() {
    return `The ledger of the agent cannot be used: ${this.reason} (${this.problem})`
  }
}

/** An event for the space. Two with one id are handled once. */
export interface AgentEvent {
  readonly id: string
  readonly signal: string
  readonly payload: unknown
}

/** The end of a run that left no record. */
export type Failure = NonNullable<Record.Record["failure"]>

/**
 * The cells and the events of one space.
 */
export class SpaceClient extends Context.Service<SpaceClient, {
  /** The queries of the enzymes. */
  readonly queries: Effect.Effect<ReadonlyArray<string>, LedgerFailed>
  /** The value of a cell; `undefined` if it is absent. */
  readonly get: (cell: string) => Effect.Effect<unknown, LedgerFailed>
  /** The values of the cells directly below a cell, in few requests. */
  readonly all: (cell: string) => Effect.Effect<ReadonlyArray<unknown>, LedgerFailed>
  /** The names directly below a cell. */
  readonly list: (cell: string) => Effect.Effect<ReadonlyArray<string>, LedgerFailed>
  readonly set: (cell: string, value: unknown) => Effect.Effect<void, LedgerFailed>
  /** Deletes a cell, which may be absent. */
  readonly remove: (cell: string) => Effect.Effect<void, LedgerFailed>
  /** Waits until the record in a cell may have changed, at most so many milliseconds. */
  readonly changed: (cell: string, millis: number) => Effect.Effect<void>
  /**
   * Sends an event and waits until it is handled. An event of the same id with another payload counts as known. A failure tells
   * why its run was given up, where the ledger knows that.
   */
  readonly send: (event: AgentEvent) => Effect.Effect<"handled" | "known" | "unhandled" | Failure, LedgerFailed>
}>()("systole/agent/SpaceClient") {}

/** The part of a receipt that tells the end of an event. */
export interface OrderEnd {
  readonly status: string
  readonly handlings?: ReadonlyArray<{ readonly error?: { readonly code: string; readonly message: string } }>
}

/** The end of an event by its receipt: with the failure of the run that was given up, such as on a host without its channel. */
export const sentOf = ({ handlings = [], status }: OrderEnd): "handled" | "unhandled" | Failure => {
  if (status === "handled") return status
  const [error] = handlings.flatMap((each) => each.error ?? [])
  return error === undefined ? "unhandled" : { code: error.code, message: error.message.slice(0, MAX_MESSAGE) }
}

/** The most characters of the message of a run that was given up. */
const MAX_MESSAGE = 500

const SIGNAL = /^\/signals\/agent\/([A-Za-z0-9_-]+)$/

/**
 * The types of actions that the enzymes of the space run.
 */
export const types: Effect.Effect<ReadonlySet<string>, LedgerFailed, SpaceClient> = SpaceClient.use(({ queries }) =>
  Effect.map(queries, (found) => new Set(found.flatMap((query) => SIGNAL.exec(query)?.[1] ?? []))))

/**
 * The records of the actions of a file.
 */
export const records = Effect.fn("SpaceClient.records")(function*(file: string) {
  const ledger = yield* SpaceClient
  const found = yield* ledger.all(Record.folder(file))
  return new Map(found.flatMap((value) => {
    const record = Record.read(value)
    return record === undefined ? [] : [[record.action, record] as const]
  }))
})

/** The time between two looks at a record, in milliseconds. */
const LOOK_MILLIS = 250

/**
 * The wait of a ledger that is told of no change: the time until the next look.
 */
export const look = (_: string, millis: number): Effect.Effect<void> => Effect.sleep(Math.min(LOOK_MILLIS, millis))

/**
 * Waits until an attempt that another process began has ended, at most so many milliseconds. Returns the last record.
 */
export const awaitEnd = Effect.fn("SpaceClient.awaitEnd")(function*(
  at: { readonly file: string; readonly action: string },
  millis: number
) {
  const ledger = yield* SpaceClient
  const cell = Record.cell(at.file, at.action)
  const until = (yield* Clock.currentTimeMillis) + millis
  for (;;) {
    const record = Record.read(yield* ledger.get(cell))
    const left = until - (yield* Clock.currentTimeMillis)
    if (record === undefined || record.status !== "running" || left <= 0) return record
    yield* ledger.changed(cell, left)
  }
})
