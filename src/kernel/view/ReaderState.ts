/**
 * The state of the readers of a space in this process, while the space is open or
 * closed.
 *
 * @module
 */
import type { Cursor } from "./Cursor.ts"
import type { Denial } from "./Space.ts"

/** The newest denials, oldest first, and the key of the readers' cursors. */
export interface ReaderState {
  readonly denials: Array<Denial>
  readonly cursor: Cursor
}
