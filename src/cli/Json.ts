/**
 * JSON on the command line.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as JsonText from "../cell/JsonText.ts"
import { CliFailure, exits } from "./CliFailure.ts"

/**
 * Parses a JSON argument. `name` identifies it in the error message.
 */
export const parse = (name: string, text: string): Effect.Effect<unknown, CliFailure> =>
  Effect.try({
    try: () => JsonText.parse(text),
    catch: (error) =>
      new CliFailure({
        exit: exits.usage,
        code: "json/invalid",
        message: messageOf(name, error as JsonText.InvalidJson)
      })
  })

const messageOf = (name: string, { code, reason }: JsonText.InvalidJson): string =>
  code === "json/syntax"
    ? `${name} is not JSON: ${reason}. A text needs quotes of its own, as in '"text"'`
    : `${name} is refused: ${reason}`
