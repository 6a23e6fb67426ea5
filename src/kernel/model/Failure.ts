/**
 * Failures: the outcome for a thrown error.
 *
 * @module
 */
import { afterOf, codeOf, isTagged, tagOf } from "../../registry/Outcome.ts"
import { UNDO_LOST } from "../../durable/RunCode.ts"
import type { RunFailure } from "./InFlight.ts"

/** The most characters of a message. */
const MAX_MESSAGE = 2000

/** The outcome for a thrown value. The value may be of any type, and inspecting it may throw again. */
export const failure = (error: unknown): RunFailure => {
  try {
    return describe(error)
  } catch {
    return { kind: "dead", tag: "Defect", code: "run/failed", message: "what the run threw cannot be read" }
  }
}

const describe = (error: unknown): RunFailure => {
  const kind = isTagged(error, "Retry") ? "retry" : isTagged(error, "Fatal") ? "fatal" : "dead"
  const outcome = { kind, tag: tagOf(error), code: codeOf(error), message: messageOf(error), thrown: error } as const
  const after = kind === "retry" ? afterOf(error) : undefined
  return after === undefined ? outcome : { ...outcome, after }
}

/** The outcome of a run that ended by its cancellation, and whose last segment is refused with a code. */
export const undoFailure = ({ code, message: reason }: Pick<RunFailure, "code" | "message">, tag = "RunUndoLost"): RunFailure => {
  const refused = `The run was cancelled, and nothing of its last segment is kept, because it was refused with ${code}`
  const remedy = "Mend the cause, send the run again, and cancel it again; or undo its effects by other means"
  const message = `${refused}: ${reason}. ${remedy}`.slice(0, MAX_MESSAGE)
  return { kind: "dead", tag, code: UNDO_LOST, message }
}

/** The message of a thrown value of any type. */
export const messageOf = (error: unknown): string =>
  String((error as { readonly message?: unknown } | null)?.message ?? error).slice(0, MAX_MESSAGE)
