/**
 * The refusal of calls from objects of other applications.
 *
 * @module
 */
import * as Data from "effect/Data"

/**
 * The caller of an object is not part of its application.
 *
 * @category errors
 * @since 0.1.0
 */
export class ForeignCaller extends Data.TaggedError("ForeignCaller") {
  readonly code = "auth/missing"
  override get message() {
    return "The caller is no object of this application: it shows another proof. Give both the same SYSTOLE_TOKEN, or send a request"
  }
}

/**
 * Refuses a call unless it shows the proof of this application.
 *
 * @throws ForeignCaller
 * @category guards
 * @since 0.1.0
 */
export const check = (shown: string, expected: string): void => {
  if (shown !== expected) throw new ForeignCaller()
}
