/**
 * The pages of the lists of a space.
 *
 * @module
 */
import type { Value } from "../../cell/Value.ts"
import type { JournalRow } from "../../persistence/Persistence.ts"

/** A page of a list: at most `limit` items after a cursor. */
export interface Page<Cursor = string> {
  readonly after?: Cursor | undefined
  readonly limit: number
}

/** A page of the cells below another one. */
export interface CellRequest extends Page {
  /** Whether the folders of the runtime are left out, unless the other cell lies in one. */
  readonly isOwn?: boolean | undefined
}

/** Keys of cells in code-unit order, and the cursor of the next page; `undefined` at the end. */
export interface KeyPage {
  readonly keys: ReadonlyArray<string>
  readonly next: string | undefined
}

/** Names in code-unit order, and the cursor of the next page; `undefined` at the end. */
export interface NamePage {
  readonly names: ReadonlyArray<string>
  readonly next: string | undefined
}

/** A cell. */
export interface ListedCell {
  readonly key: string
  /** Absent in a page without values, and for a cell whose links do not end. */
  readonly value?: Value
}

/** Cells in the order of their keys, and the cursor of the next page; `undefined` at the end. */
export interface CellPage {
  readonly cells: ReadonlyArray<ListedCell>
  readonly next: string | undefined
}

/** Beats, newest first, and the beat before which the next page begins; `undefined` at the end. */
export interface BeatPage {
  readonly rows: ReadonlyArray<JournalRow>
  readonly next: number | undefined
}
