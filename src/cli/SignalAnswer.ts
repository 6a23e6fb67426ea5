/**
 * The answers of the ingress to a signal.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Receipt } from "../kernel/model/Receipt.ts"
import { CliFailure, exitOf, exits } from "./CliFailure.ts"

/** A receipt after a wait, with the `code` of an end without success, else the acceptance. */
export type Answer =
  | Receipt & { readonly code?: string; readonly reason?: string }
  | { readonly id: string; readonly beat?: number; readonly receipt: string }

/**
 * Fails unless the answer tells that the signal is handled.
 */
export const checkHandled = (answer: Answer): Effect.Effect<void, CliFailure> => {
  const status = "status" in answer ? answer.status : "pending"
  if (status === "handled") return Effect.void
  if (!("status" in answer) || status === "pending") {
    return Effect.fail(new CliFailure({
      exit: exits.pending,
      code: "signal/pending",
      message: `Signal ${answer.id} is accepted, and not handled yet. Its receipt comes when it is: send it again with the same --id, ` +
        "or ask at the receipt's link"
    }))
  }
  const { code = `signal/${status}`, reason = `Signal ${answer.id} is ${status}; its receipt says how that came about` } = answer
  // The code of a dead letter may be one that asks to try again, as a refusal: the event is over.
  return Effect.fail(new CliFailure({ exit: status === "dead" ? exits.failed : exitOf(code), code, message: reason }))
}
