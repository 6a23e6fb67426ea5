/**
 * The space that a command concerns.
 *
 * @module
 */
import * as Argument from "effect/cli/Argument"

/**
 * The argument that names a space.
 */
export const name = Argument.String("space").pipe(Argument.withDescription("The name of a space: a-z, 0-9 and -"))

/**
 * The HTTP path of a space.
 */
export const path = (space: string): string => `/v1/spaces/${encodeURIComponent(space)}`
