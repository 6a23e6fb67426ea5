/**
 * What a process remembers of the readers of a space, whether the space is open or closed.
 *
 * @module
 */
import type { Cursor } from "./Cursor.ts"
import type { Denial } from "./Space.ts"

/** The newest refusals, oldest first, and the cursors that readers go on from. */
export interface Readership {
  readonly denials: Array<Denial>
  readonly cursor: Cursor
}
