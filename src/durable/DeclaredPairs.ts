/**
 * Declared pairs: the signals that a run hears before its log has them.
 *
 *     /rt/ops/<oid>/heard   the pairs, as the attempts at the next segment declared them
 *
 * An attempt that fails leaves no step. Its run hears what its enzyme declares all the same, and the cell keeps the numbers of
 * these pairs, which follow those of the log. The step of the segment replaces it.
 *
 * @module
 */
import type * as Address from "../cell/Address.ts"
import * as Document from "../cell/Document.ts"
import * as Cells from "./Cells.ts"
import type { Pair } from "./Pairs.ts"

/** The cell of the declared pairs of a run. */
export const addressOf = (oid: string): Address.Address => Cells.address(oid, "heard")

/** The declared pairs of a run; none if its log has all. */
export const read = (oid: string, read: Cells.Read): ReadonlyArray<Pair> => {
  const document = read(addressOf(oid).key)
  return document === undefined ? none : Document.read(document, []) as unknown as ReadonlyArray<Pair>
}

/** Declared pairs as a document. */
export const write = (pairs: ReadonlyArray<Pair>): Document.Document => Document.encode(pairs)

const none: ReadonlyArray<Pair> = []
