/**
 * The secret that encrypts the cursors of readers.
 *
 * @module
 */
import * as Context from "effect/Context"

/** The secret for the cursors of a space, by its origin: a space that is created again has other cursors. */
export type CursorKey = (origin: string) => string

/**
 * The secret of the host. With it a cursor is valid for every opening of its space, which a host needs that opens spaces anew
 * for each call. Without it, each opening has a random one.
 */
export const CurrentCursorKey = Context.Reference<CursorKey | undefined>("systole/kernel/CursorKey", { defaultValue: () => undefined })
