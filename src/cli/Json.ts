/**
 * JSON on the command line.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { CliFailure, exits } from "./CliFailure.ts"

/**
 * Parses a JSON argument. `name` identifies it in the error message.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (name: string, text: string): Effect.Effect<unknown, CliFailure> =>
  Effect.try({
    try: () => JSON.parse(text) as unknown,
    catch: (error) =>
      new CliFailure({
        exit: exits.usage,
        code: "json/invalid",
        message: `${name} is not JSON: ${(error as Error).message}. A text needs quotes of its own, as in '"text"'`
      })
  })
