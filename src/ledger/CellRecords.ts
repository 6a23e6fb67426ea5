/**
 * Records of a ledger that are cells: one each, directly below a folder.
 *
 * @module
 */
import type { PageRequest } from "../contract/Face.ts"
import type { Page, PageStore, RecordStore } from "./Outside.ts"

/** Comes after all that lies below a cell, and before the next one's name. */
const LAST = "/\uffff"

/** The most names that a list takes at once. Each of them may cost further rows. */
const CHUNK = 25

/** The records of a ledger, as cells directly below a folder. */
export interface CellRecords<Row> {
  readonly folder: string
  /** Whether each record has further cells below its own, which a list passes over. */
  readonly isDeep: boolean
  /** The record of a name; `undefined` where there is none. */
  rowOf(store: RecordStore, name: string): Row | undefined
}

/**
 * The names of records after one of them.
 */
export const namesBelow = (
  store: Pick<RecordStore, "below">,
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
 * The list of such records, as pages.
 */
export const pages = <Row>(records: CellRecords<Row>) => (store: PageStore, { after, limit }: PageRequest): Page<Row> => {
  const rows: Array<Row> = []
  let last = after
  while (limit > 0) {
    // One more than is answered shows whether there is another page.
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
