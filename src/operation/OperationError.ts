/**
 * The refusals of operations.
 *
 * @module
 */
import * as Schema from "effect/Schema"

/** The request is malformed. */
export class InvalidOperation extends Schema.TaggedError<InvalidOperation>()("InvalidOperation", { reason: Schema.String }) {
  readonly code = "ops/invalid"
  override get message() {
    return `The operation is refused: ${this.reason}`
  }
}

/** The operation does not exist. */
export class OperationAbsent extends Schema.TaggedError<OperationAbsent>()("OperationAbsent", { oid: Schema.String }) {
  readonly code = "ops/absent"
  override get message() {
    return `There is no operation "${this.oid.slice(0, 200)}". List those there are, or start one`
  }
}

/** The operation is closed, so it is immutable. */
export class OperationClosed extends Schema.TaggedError<OperationClosed>()(
  "OperationClosed",
  { oid: Schema.String, status: Schema.String }
) {
  readonly code = "ops/closed"
  override get message() {
    return `Operation "${this.oid}" is closed with ${this.status}, which seals it. Start another one for what is left to do`
  }
}

/** The operation is the runtime's own work: requests to the world, or a durable run. */
export class OperationHeld extends Schema.TaggedError<OperationHeld>()("OperationHeld", { oid: Schema.String }) {
  readonly code = "ops/held"
  override get message() {
    return `Operation "${this.oid}" is work of the runtime, which alone changes its state and closes it. Await it, or start one of your own`
  }
}

/** No enzyme would take the signal of an await. */
export class AwaitUnheard extends Schema.TaggedError<AwaitUnheard>()("AwaitUnheard", { oid: Schema.String, signal: Schema.String }) {
  readonly code = "ops/unheard"
  override get message() {
    return `No enzyme would take ${this.signal} at operation "${this.oid}". Await with a signal that the awaiting enzyme's query ` +
      "matches, or bind one that takes it at /rt/ops"
  }
}

/** A limit on watchers is reached. */
export class WatchersFull extends Schema.TaggedError<WatchersFull>()("WatchersFull", { limit: Schema.String }) {
  readonly code = "ops/full"
  override get message() {
    return `There are ${this.limit}, which is the limit. Let some of them end, or await with a ttl`
  }
}
