/**
 * Journal rows in memory: an array ordered by beat, possibly with gaps.
 *
 * @module
 */
import type { JournalRow } from "./Persistence.ts"

/**
 * Returns the index of the first row of `beat` or a later one.
 */
export const seek = (rows: ReadonlyArray<JournalRow>, beat: number): number => {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = rows[middle]
    if (row !== undefined && row.beat < beat) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Returns at most `limit` rows from `from` to `to`, both included.
 */
export const range = (
  rows: ReadonlyArray<JournalRow>,
  bounds: { readonly from: number; readonly to: number; readonly limit?: number }
): ReadonlyArray<JournalRow> => {
  const start = seek(rows, bounds.from)
  const end = seek(rows, bounds.to + 1)
  return rows.slice(start, Math.min(end, start + (bounds.limit ?? end)))
}
