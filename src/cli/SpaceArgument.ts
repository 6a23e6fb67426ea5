/**
 * The space that a command concerns.
 *
 * @module
 */
import * as Argument from "effect/cli/Argument"

/**
 * The argument that names a space.
 *
 * @category references
 * @since 0.1.0
 */
export const name = Argument.String("space").pipe(Argument.withDescription("The name of a space: a-z, 0-9 and -"))

/**
 * The HTTP path of a space.
 *
 * @category getters
 * @since 0.1.0
 */
export const path = (space: string): string => `/v1/spaces/${encodeURIComponent(space)}`
