/**
 * The ends of cancelled runs.
 *
 * A run that ends by its cancellation has undone its effects, so its last segment is merged although the run failed. A
 * segment that is refused leaves nothing, and the undoing of a cancelled run is lost with it.
 *
 * @module
 */
import type { Cancellations } from "../../durable/Cancellations.ts"
import { RunStale, StepsFull } from "../../durable/RunError.ts"
import type { Draft } from "../../stage/Draft.ts"
import * as Semantics from "../../stage/Semantics.ts"
import { failure, undoFailure } from "../model/Failure.ts"
import type { RunFailure, Outcome } from "../model/InFlight.ts"

/** A segment that has ended, and the cancellations that its run was given. */
interface Ended {
  readonly draft: Draft
  readonly cancellations: Cancellations
}

/** The outcome of a body that raised an error: an end by its cancellation, or a failure. */
export const outcomeOf = (error: unknown, failed: RunFailure, { cancellations, draft }: Ended): RunFailure => {
  if (!Semantics.follows(draft.moment, "undoIsMerged") || draft.refusal !== undefined || failed.kind === "fatal") return failed
  const cancellation = cancellations.endOf(error)
  return cancellation === undefined ? failed : { ...failure(cancellation), thrown: error, undo: "merged" }
}

/** The outcome of a segment of a cancelled run: if it is refused, what undoes the effects of the run is lost. */
export const judge = (outcome: Outcome, draft: Draft): Outcome => {
  const isRefused = "code" in outcome && (draft.refusal !== undefined || isWholly(outcome.thrown))
  return isRefused && Semantics.follows(draft.moment, "undoIsMerged") ? undoFailure(outcome) : outcome
}

/** Whether a segment was refused as a whole: by its earlier reads, or by the length of the log. */
const isWholly = (thrown: unknown): boolean => thrown instanceof RunStale || thrown instanceof StepsFull
