/**
 * Journal lines of changed documents.
 *
 * @module
 */
import type { StagedDocument } from "../../stage/Stage.ts"

/** One changed document: its writers, and its value before and after. */
export type CellLine =
  readonly [key: string, writers: number | ReadonlyArray<number>, before: readonly [unknown?], after: readonly [unknown?]]

/** A changed document with its writers; the values are JSON, `undefined` for an absent document. */
export interface CellRecord {
  readonly key: string
  readonly writers: ReadonlyArray<number>
  readonly before: unknown
  readonly after: unknown
}

/** The line of a changed document, as JSON text. */
export const write = ({ address, after, before, writers }: StagedDocument): string =>
  `["${address.key}",${writers.length === 1 ? writers[0] : `[${writers.join()}]`},[${before?.text ?? ""}],[${after?.text ?? ""}]]`

/** The changed document of a line. */
export const read = ([key, writers, [before], [after]]: CellLine): CellRecord =>
  ({ key, writers: typeof writers === "number" ? [writers] : writers, before, after })
