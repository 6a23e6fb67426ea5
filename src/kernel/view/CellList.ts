/**
 * Lists of the records of a ledger: one cell each, directly below a folder.
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import * as Document from "../../cell/Document.ts"
import type { Value } from "../../cell/Value.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { ReadError } from "./Expected.ts"
import { MAX_ROWS } from "./PageTurns.ts"

/** Comes after all that lies below a cell, and before the next one's name. */
const LAST = "/\uffff"

/** A store that is read when all that can be seen of it is durable. */
export interface DurableStore {
  readonly durably: <A>(see: () => A) => Effect.Effect<A, ReadError>
  /** The same for a page of a list, in a turn of its own. */
  readonly page: <A>(see: () => A) => Effect.Effect<A, ReadError>
  readonly store: SpaceStore
}

/** The records of a ledger, as cells. */
export interface Records<Row> {
  readonly folder: string
  /** Whether each record has further cells below its own, which a list passes over. */
  readonly isDeep: boolean
  /** The record of a name; `undefined` where there is none. */
  rowOf(store: SpaceStore, name: string): Row | undefined
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
  { folder, isDeep }: Pick<Records<unknown>, "folder" | "isDeep">,
  { after, limit }: PageRequest
): ReadonlyArray<string> => {
  const below = (from: string | undefined, limit: number): ReadonlyArray<string> => {
    const keys = store.below(folder, { limit, ...(from === undefined ? {} : { after: `${folder}/${from}` }) })
    return keys.map((key) => key.slice(folder.length + 1))
  }
  if (!isDeep) return below(after, limit)
  const names: Array<string> = []
  for (let from = after; names.length < limit;) {
    const [name] = below(from === undefined ? undefined : `${from}${LAST}`, 1)
    if (name === undefined) break
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
  private readonly records: Records<Row>

  constructor(source: DurableStore, records: Records<Row>) {
    this.source = source
    this.records = records
  }

  /** A page, of at most {@link MAX_ROWS} records. */
  list({ after, limit }: PageRequest): Effect.Effect<Page<Row>, ReadError> {
    const { page, store } = this.source
    return page(() => {
      const most = Math.min(limit, MAX_ROWS)
      // One more than is answered tells whether there is another page.
      const names = namesBelow(store, this.records, { after, limit: most + 1 })
      const rows = names.slice(0, most).flatMap((name) => this.records.rowOf(store, name) ?? [])
      return { rows, next: most > 0 && names.length > most ? names[most - 1] : undefined }
    })
  }

  get(name: string): Effect.Effect<Row | undefined, ReadError> {
    return this.source.durably(() => this.find(name))
  }

  /** The record as the store has it now, durable or not. */
  find(name: string): Row | undefined {
    return this.records.rowOf(this.source.store, name)
  }
}
