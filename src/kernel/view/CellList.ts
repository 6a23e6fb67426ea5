/**
 * Lists of the records of a ledger: one cell each, directly below a folder.
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import * as Document from "../../cell/Document.ts"
import type { Value } from "../../cell/Value.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { CellRecords } from "../../ledger/Outside.ts"
import type { CountedRows } from "./CountedRows.ts"
import type { ReadError } from "./Expected.ts"

/** Comes after all that lies below a cell, and before the next one's name. */
const LAST = "/\uffff"

/** The most names that a list takes at once. Each of them may cost further rows. */
const CHUNK = 25

/** A store that is read when all that can be seen of it is durable. */
export interface DurableStore {
  readonly durably: <A>(see: () => A) => Effect.Effect<A, ReadError>
  /** The same for a page of a list, in a turn of its own. */
  readonly page: <A>(see: () => A) => Effect.Effect<A, ReadError>
  /** The store, whose reads count for the page in progress. */
  readonly store: CountedRows
}

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

/** The value of a cell. */
export const valueAt = (store: Pick<SpaceStore, "read">, key: string): Value => {
  const text = store.read(key)
  return text === undefined ? undefined : Document.read(Document.decode(text), [])
}

/**
 * The records of one ledger in an open space.
 *
 * @category models
 * @since 0.1.0
 */
export class CellList<Row> {
  private readonly source: DurableStore
  private readonly records: CellRecords<Row>

  constructor(source: DurableStore, records: CellRecords<Row>) {
    this.source = source
    this.records = records
  }

  /** A page. It ends when it has looked at 400 rows, so it can be short before the end. */
  list({ after, limit }: PageRequest): Effect.Effect<Page<Row>, ReadError> {
    return this.source.page(() => !(limit > 0) ? { rows: [], next: undefined } : this.found(after, limit))
  }

  private found(after: string | undefined, limit: number): Page<Row> {
    const { store } = this.source
    const rows: Array<Row> = []
    let last = after
    for (;;) {
      // One more than is answered tells whether there is another page.
      const most = Math.min(limit - rows.length + 1, CHUNK)
      const names = namesBelow(store, this.records, { after: last, limit: most })
      for (const name of names) {
        if (rows.length === limit || store.isSpent) return { rows, next: last }
        const row = this.records.rowOf(store, name)
        if (row !== undefined) rows.push(row)
        last = name
      }
      if (names.length < most) return { rows, next: undefined }
    }
  }

  get(name: string): Effect.Effect<Row | undefined, ReadError> {
    return this.source.durably(() => this.find(name))
  }

  /** The record as the store has it now, durable or not. */
  find(name: string): Row | undefined {
    return this.records.rowOf(this.source.store, name)
  }
}
