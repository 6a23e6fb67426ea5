/**
 * The refusals of operations.
 *
 * @module
 */
import * as Data from "effect/Data"

/** The request is malformed. */
export class InvalidOperation extends Data.TaggedError("InvalidOperation")<{ readonly reason: string }> {
  readonly code = "ops/invalid"
  override get message() {
    return `The operation is refused: ${this.reason}`
  }
}

/** The operation does not exist. */
export class OperationAbsent extends Data.TaggedError("OperationAbsent")<{ readonly oid: string }> {
  readonly code = "ops/absent"
  override get message() {
    return `There is no operation "${this.oid.slice(0, 200)}". List those there are, or start one`
  }
}

/** The operation is closed, so it is immutable. */
export class OperationClosed extends Data.TaggedError("OperationClosed")<{ readonly oid: string; readonly status: string }> {
  readonly code = "ops/closed"
  override get message() {
    return `Operation "${this.oid}" is closed with ${this.status}, which seals it. Start another one for what is left to do`
  }
}

/** The operation is the runtime's own work: requests to the world, or a durable run. */
export class OperationHeld extends Data.TaggedError("OperationHeld")<{ readonly oid: string }> {
  readonly code = "ops/held"
  override get message() {
    return `Operation "${this.oid}" is work of the runtime, which alone changes its state and closes it. Await it, or start one of your own`
  }
}

/** No enzyme would take the signal of an await. */
export class AwaitUnheard extends Data.TaggedError("AwaitUnheard")<{ readonly oid: string; readonly signal: string }> {
  readonly code = "ops/unheard"
  override get message() {
    return `No enzyme would take ${this.signal} at operation "${this.oid}". Await with a signal that the awaiting enzyme's query ` +
      "matches, or bind one that takes it at /rt/ops"
  }
}

/** A limit on watchers is reached. */
export class WatchersFull extends Data.TaggedError("WatchersFull")<{ readonly limit: string }> {
  readonly code = "ops/full"
  override get message() {
    return `There are ${this.limit}, which is the limit. Let some of them end, or await with a ttl`
  }
}

declare module "../ledger/LedgerError.ts" {
  interface Refusals {
    readonly op: InvalidOperation | OperationAbsent | OperationClosed | OperationHeld | AwaitUnheard | WatchersFull
  }
}
