/**
 * The order of receipts: by beat, id and enzyme.
 *
 * @module
 */
import type { ReceiptRow } from "./Persistence.ts"

const compareTexts = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0

/** Compares two receipts. */
export const compare = (a: ReceiptRow, b: ReceiptRow): number =>
  a.beat - b.beat || compareTexts(a.id, b.id) || compareTexts(a.enzyme, b.enzyme)

/** Receipts in their order, each once. */
export const sorted = (rows: ReadonlyArray<ReceiptRow>): ReadonlyArray<ReceiptRow> => {
  const all = rows.toSorted(compare)
  return all.filter((row, i) => i === 0 || compare(all[i - 1]!, row) !== 0)
}

/** The most rows of a page. */
const PAGE = 256

/** The receipts of a store in memory after a beat, in their order and in pages. */
export function* pages(rows: ReadonlyArray<ReceiptRow>, after: number): Iterable<ReadonlyArray<ReceiptRow>> {
  const all = sorted(rows.filter(({ beat }) => beat > after))
  for (let at = 0; at < all.length; at += PAGE) yield all.slice(at, at + PAGE)
}
