/**
 * Lists of the records of a ledger: one cell each, directly below a folder.
 *
 * @module
 */
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { CellRecords } from "../../ledger/Outside.ts"
import type { CountedRows } from "./CountedRows.ts"

/** Comes after all that lies below a cell, and before the next one's name. */
const LAST = "/\uffff"

/** The most names that a list takes at once. Each of them may cost further rows. */
const CHUNK = 25

/** A request for a page: the name of the last record of the page before, and the most records. */
export interface PageRequest {
  readonly after?: string | undefined
  readonly limit: number
}

/** Records in the order of their cells, and where to go on; `undefined` at the end. */
export interface Page<Row> {
  readonly rows: ReadonlyArray<Row>
  readonly next: string | undefined
}

/** The names of records after one of them. */
export const namesBelow = (
  store: Pick<SpaceStore, "below">,
  { folder, isDeep }: Pick<CellRecords<unknown>, "folder" | "isDeep">,
  { after, limit }: PageRequest
): ReadonlyArray<string> => {
  const below = (from: string | undefined, limit: number): ReadonlyArray<string> => {
    const keys = store.below(folder, { limit, ...(from === undefined ? {} : { after: `${folder}/${from}` }) })
    return keys.map((key) => key.slice(folder.length + 1))
  }
  if (!isDeep) return below(after, limit)
  const names: Array<string> = []
  for (let from = after; names.length < limit;) {
    const [found] = below(from === undefined ? undefined : `${from}${LAST}`, 1)
    if (found === undefined) break
    // A run that still tries its first segment has cells below its name, and none of its own.
    const [name = ""] = found.split("/", 1)
    names.push(name)
    from = name
  }
  return names
}

/**
 * A page of the records of a ledger. It ends when it has looked at 400 rows, so it can be short before the end.
 *
 * @category getters
 * @since 0.2.0
 */
export const page = <Row>(store: CountedRows, records: CellRecords<Row>, { after, limit }: PageRequest): Page<Row> => {
  const rows: Array<Row> = []
  let last = after
  while (limit > 0) {
    // One more than is answered tells whether there is another page.
    const most = Math.min(limit - rows.length + 1, CHUNK)
    const names = namesBelow(store, records, { after: last, limit: most })
    for (const name of names) {
      if (rows.length === limit || store.isSpent) return { rows, next: last }
      const row = records.rowOf(store, name)
      if (row !== undefined) rows.push(row)
      last = name
    }
    if (names.length < most) break
  }
  return { rows, next: undefined }
}
