/**
 * The failures of durable runs.
 *
 * @module
 */
import * as Schema from "effect/Schema"

/**
 * A body made other calls than its step log has. `expected` and `actual` name both sides.
 *
 * @category errors
 * @since 0.1.0
 */
export class RunDiverged extends Schema.TaggedError<RunDiverged>()("RunDiverged", {
  segment: Schema.Number,
  expected: Schema.String,
  actual: Schema.String
}) {
  readonly code = "run/diverged"
  override get message() {
    return `Segment ${this.segment} of the step log has ${this.expected}, and the code made ${this.actual}. ` +
      "Make the same calls in the same order, and take time, chance and data from the transaction alone; or start the run anew"
  }
}

/**
 * A run writes an address from a value that an earlier segment read and that another writer changed since.
 *
 * @category errors
 * @since 0.1.0
 */
export class RunStale extends Schema.TaggedError<RunStale>()("RunStale", {
  address: Schema.String,
  read: Schema.String,
  segment: Schema.Number
}) {
  readonly code = "run/stale"
  override get message() {
    return `${this.address} cannot be written: segment ${this.segment} read ${this.read}, and another writer changed it since. ` +
      "Read it again after the await, use tx.increment, or declare order: \"strict\""
  }
}

/**
 * A run exceeds a limit of its step log.
 *
 * @category errors
 * @since 0.1.0
 */
export class StepsFull extends Schema.TaggedError<StepsFull>()("StepsFull", { limit: Schema.String }) {
  readonly code = "run/steps-full"
  override get message() {
    return `The step log of the run is full: its limit is ${this.limit}. Read less in one segment, or go on in another run`
  }
}

/** The code of a run whose module is missing. */
export const CODE_MISSING = "run/code-missing"

/**
 * A run cannot go on: the module with which it began cannot be loaded, and its log does not fit the present module of that name.
 *
 * @category errors
 * @since 0.1.0
 */
export class CodeMissing extends Schema.TaggedError<CodeMissing>()("CodeMissing", { digest: Schema.String, reason: Schema.String }) {
  readonly code = CODE_MISSING
  override get message() {
    return `The run began with module /cas/${this.digest}, which cannot be loaded. Its log does not fit the present one: ${this.reason} ` +
      `Start a build with --keep ${this.digest}, load a module that makes the same calls, or cancel the run`
  }
}

/** The code of a run that awaits a promise which is not a handle. */
export const FOREIGN = "run/foreign-await"

/**
 * A body went on outside its segments, after a promise that is not a handle.
 *
 * @category errors
 * @since 0.1.0
 */
export class ForeignAwait extends Schema.TaggedError<ForeignAwait>()("ForeignAwait", { reason: Schema.String }) {
  readonly code = FOREIGN
  override get message() {
    return `The run awaits a promise of its own: ${this.reason}. Await tx.sleep, tx.waitForSignal and requests of tx.io alone`
  }
}

/** The code of a run that the space has no room for. */
export const FULL = "run/full"

/**
 * The space has the maximum number of waiting durable runs. The run is retried.
 *
 * @category errors
 * @since 0.1.0
 */
export class RunsFull extends Schema.TaggedError<RunsFull>()("RunsFull", { limit: Schema.Number }) {
  readonly code = FULL
  override get message() {
    return `The space has ${this.limit} durable runs that wait, which is the limit. Cancel some, or raise limits.waitingRuns`
  }
}

/** The code of a cancelled run. */
export const CANCELLED = "run/cancelled"

/**
 * A run was cancelled. It is the failure of the handles that were open, and of a run that was ended at once.
 *
 * @category errors
 * @since 0.1.0
 */
export class RunCancelled extends Schema.TaggedError<RunCancelled>()("RunCancelled", { oid: Schema.String }) {
  readonly code = CANCELLED
  override get message() {
    return `The run ${this.oid} was cancelled. Undo its effects, and end`
  }
}

/** The code of a run that a rollback took back. */
export const TAKEN_BACK = "run/taken-back"

/**
 * A run began after the beat to which its space was rolled back.
 *
 * @category errors
 * @since 0.1.0
 */
export class RunTakenBack extends Schema.TaggedError<RunTakenBack>()("RunTakenBack", { oid: Schema.String }) {
  readonly code = TAKEN_BACK
  override get message() {
    return `The run ${this.oid} began after the beat to which the space was rolled back. Send its letter again to start it over`
  }
}

/**
 * There is no such durable run.
 *
 * @category errors
 * @since 0.1.0
 */
export class RunAbsent extends Schema.TaggedError<RunAbsent>()("RunAbsent", { oid: Schema.String }) {
  readonly code = "run/absent"
  override get message() {
    return `There is no durable run "${this.oid.slice(0, 200)}". List the runs, and name one of them`
  }
}

/**
 * A command does not fit the state of a run: a run that is over cannot be cancelled, and one that lives cannot be sent again.
 *
 * @category errors
 * @since 0.1.0
 */
export class RunState extends Schema.TaggedError<RunState>()("RunState", {
  oid: Schema.String,
  verb: Schema.String,
  reason: Schema.String
}) {
  readonly code = "run/state"
  override get message() {
    return `The run ${this.oid} cannot do "${this.verb}": ${this.reason}`
  }
}
