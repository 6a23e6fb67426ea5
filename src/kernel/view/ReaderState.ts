/**
 * The memory of a process about the readers of a space, open or closed.
 *
 * @module
 */
import type { Cursor } from "./Cursor.ts"
import type { Denial } from "./Space.ts"

/** The newest refusals, oldest first, and the cursors that readers go on from. */
export interface ReaderState {
  readonly denials: Array<Denial>
  readonly cursor: Cursor
}
