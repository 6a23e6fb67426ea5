/**
 * JSON on the command line.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { CliFailure, exits } from "./CliFailure.ts"

/**
 * The value of a JSON text that stands in the command line as `name`.
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
