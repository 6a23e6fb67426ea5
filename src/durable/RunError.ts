/**
 * The failures of durable runs.
 *
 * @module
 */
import * as Data from "effect/Data"
import { CANCELLED, CODE_MISSING, FOREIGN, FULL, OWN, STALE, TAKEN_BACK } from "./RunCode.ts"

/**
 * A body made other calls than its step log has. `expected` and `actual` name both sides.
 */
export class RunDiverged extends Data.TaggedError("RunDiverged")<{
  readonly segment: number
  readonly expected: string
  readonly actual: string
}> {
  readonly code = "run/diverged"
  get difference(): string {
    return `Segment ${this.segment} of the step log has ${this.expected}, and the code made ${this.actual}`
  }
  override get message() {
    return `${this.difference}. ` +
      "Make the same calls in the same order, and take time, chance and data from the transaction alone; or start the run anew"
  }
}

/**
 * A run writes an address from a value that an earlier segment read and that another writer changed since.
 */
export class RunStale extends Data.TaggedError("RunStale")<{ readonly address: string; readonly read: string; readonly segment: number }> {
  readonly code = STALE
  readonly [OWN] = true
  override get message() {
    return `${this.address} cannot be written: segment ${this.segment} read ${this.read}, and another writer changed it since. ` +
      "Read it again after the await, use tx.increment, or declare order: \"strict\""
  }
}

/**
 * A run waits for a signal that it does not hear, so that one that came earlier would be lost.
 */
export class RunUnheard extends Data.TaggedError("RunUnheard")<{ readonly signal: string; readonly target: string }> {
  readonly code = "run/unheard"
  override get message() {
    const { signal, target } = this
    return `The run waits for ${signal} at ${target} and does not hear it, so one that came before the wait would be lost. ` +
      `Declare hears: [{ signal: "${signal}", target: "${target}" }] in the enzyme, or call tx.hear("${signal}", "${target}") ` +
      "before the call that provokes the answer"
  }
}

/**
 * A run waits for the end of an event that would not be reported to it.
 */
export class EventUnsent extends Data.TaggedError("EventUnsent")<{ readonly id: string; readonly reason: string }> {
  readonly code = "run/event-unsent"
  override get message() {
    return `The run cannot wait for the end of event ${this.id}: ${this.reason}. Call tx.waitForEvent once, with the id that ` +
      "tx.signal returned, before the next await; the promise may be awaited later. Another space can send a signal as its answer, " +
      "for tx.waitForSignal"
  }
}

/**
 * A run exceeds a limit of its step log.
 */
export class StepsFull extends Data.TaggedError("StepsFull")<{ readonly limit: string }> {
  readonly code = "run/steps-full"
  override get message() {
    return `The step log of the run is full: its limit is ${this.limit}. Read less in one segment, or go on in another run`
  }
}

/**
 * A run cannot continue: the module with which it began cannot be loaded, and its log does not fit the present module of that name.
 */
export class CodeMissing extends Data.TaggedError("CodeMissing")<{ readonly digest: string; readonly reason: string }> {
  readonly code = CODE_MISSING
  readonly [OWN] = true
  override get message() {
    return `The run began with module /cas/${this.digest}, which cannot be loaded. Its log does not fit the present one: ${this.reason}. ` +
      `Start a build with --keep ${this.digest}, load a module that makes the same calls, or cancel the run`
  }
}

/**
 * A body awaited a promise that is no handle of its run, or went on outside its segments after one. `last` names the last
 * recorded step.
 */
export class ForeignAwait extends Data.TaggedError("ForeignAwait")<{ readonly reason: string; readonly last: string }> {
  readonly code = FOREIGN
  readonly [OWN] = true
  override get message() {
    return `The run awaited a promise of its own: ${this.reason}. ${this.last}. Await handles of the transaction alone: ` +
      "tx.io.fetch or tx.io.request for the world, tx.sleep for a time, tx.waitForSignal for a signal. tx.now is the clock, and " +
      "systole exports sha256, hmac and base64, which return at once"
  }
}

/**
 * The space has the maximum number of waiting durable runs. The run is retried.
 */
export class RunsFull extends Data.TaggedError("RunsFull")<{ readonly limit: number }> {
  readonly code = FULL
  readonly [OWN] = true
  override get message() {
    return `The space has ${this.limit} durable runs that wait, which is the limit. Cancel some, or raise limits.waitingRuns`
  }
}

/**
 * A run was cancelled. It is the failure of the handles that were open, and of a run that was ended at once.
 */
export class RunCancelled extends Data.TaggedError("RunCancelled")<{ readonly oid: string }> {
  readonly code = CANCELLED
  readonly [OWN] = true
  override get message() {
    return `The run ${this.oid} was cancelled. Undo its effects, and end`
  }
}

/**
 * The body of a run cancelled a sleep, or its wait for a signal.
 */
export class WaitCancelled extends Data.TaggedError("WaitCancelled")<{ readonly name: string }> {
  readonly code = "run/wait-cancelled"
  override get message() {
    return `The run cancelled its own wait, ${this.name}. Await what it needs, or catch this error`
  }
}

/**
 * A run began after the beat to which its space was rolled back.
 */
export class RunTakenBack extends Data.TaggedError("RunTakenBack")<{ readonly oid: string }> {
  readonly code = TAKEN_BACK
  readonly [OWN] = true
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
export class RunAbsent extends Data.TaggedError("RunAbsent")<{ readonly oid: string }> {
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
export class RunState extends Data.TaggedError("RunState")<{ readonly oid: string; readonly verb: string; readonly reason: string }> {
  readonly code = "run/state"
  override get message() {
    return `The run ${this.oid} cannot do "${this.verb}": ${this.reason}`
  }
}

declare module "../ledger/LedgerError.ts" {
  interface Refusals {
    readonly run: RunAbsent | RunState
  }
}
