/**
 * Failures: the outcome for a thrown error.
 *
 * @module
 */
import { codeOf, isTagged, tagOf } from "../../registry/Outcome.ts"
import type { Outcome } from "./InFlight.ts"

/** An outcome with an error. */
type Failed = Extract<Outcome, { readonly code: string }>

/** The outcome for a thrown value. The value may be of any type, and inspecting it may throw again. */
export const failure = (error: unknown): Failed => {
  try {
    return describe(error)
  } catch {
    return { kind: "dead", tag: "Defect", code: "run/failed", message: "what the run threw cannot be read" }
  }
}

const describe = (error: unknown): Failed => {
  const kind = isTagged(error, "Retry") ? "retry" : isTagged(error, "Fatal") ? "fatal" : "dead"
  return { kind, tag: tagOf(error), code: codeOf(error), message: messageOf(error), thrown: error }
}

/** The message of a thrown value of any type. */
export const messageOf = (error: unknown): string =>
  String((error as { readonly message?: unknown } | null)?.message ?? error).slice(0, 2000)
