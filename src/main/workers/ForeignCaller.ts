/**
 * The refusal of calls from objects of other applications.
 *
 * @module
 */
import { isSame } from "../../access/Token.ts"
import * as Redacted from "../../cell/Redacted.ts"

/**
 * The caller of an object is not part of its application.
 */
export class ForeignCaller extends Error {
  readonly _tag = "ForeignCaller"
  override readonly name = "ForeignCaller"
  readonly code = "auth/missing"

  constructor() {
    super("The caller is no object of this application: it shows another proof. Give both the same SYSTOLE_TOKEN, or send a request")
  }
}

/**
 * Refuses a call unless it shows the proof of this application.
 *
 * @throws ForeignCaller
 */
export const check = (shown: string, expected: Redacted.Redacted): void => {
  if (!isSame(shown, Redacted.value(expected))) throw new ForeignCaller()
}
