/**
 * Opening of a SQL store: its format, newest writer and counters.
 *
 * @module
 */
import type { Writer } from "./Backend.ts"
import { LongTexts } from "./LongTexts.ts"
import type { Anchor, Head } from "./Persistence.ts"
import { NoSuchSpace, PersistenceError, StoreDamaged, StoreVersion } from "./PersistenceError.ts"
import type { SqlDriver } from "./SqlDriver.ts"
import { SqlRows } from "./SqlRows.ts"
import * as SqlSchema from "./SqlSchema.ts"

/** The row of `meta` without the epoch. */
interface Meta {
  /** The newest beat that `size` includes. Receipts up to it are in rows. */
  readonly counted: number
  readonly journalSize: number
  readonly anchor: Anchor
}

export const readMeta = (sql: SqlSchema.Statements): Meta => {
  const [counted, journalSize, anchorBeat, anchorHash] = sql.meta.get() as [number, number, number, string]
  return { counted, journalSize, anchor: { beat: anchorBeat, hash: anchorHash } }
}

/** Reads the newest writer and the head. */
export const readTurn = (sql: SqlSchema.Statements): { readonly writer: Writer; readonly head: Head } => {
  const [epoch, asides, beat, clock, hash] = sql.turn.get() as [number, number, number, number, string]
  return { writer: { epoch, asides }, head: { beat, clock, hash } }
}

/** Reads the initial state of a handle; writes only to create a new store. */
export const begin = (space: string, driver: SqlDriver, create: boolean) => {
  const format = formatOf(space, driver, create)
  const sql = SqlSchema.statements(driver)
  // Read first: the first write checks that this is unchanged, so all reads below are consistent.
  const turn = readTurn(sql)
  const { counted, journalSize } = readMeta(sql)
  const rows = new SqlRows({ space, place: driver.place }, sql)
  // The predecessor of the next entry must be undamaged.
  rows.confirm(turn.head.beat)
  if (turn.head.beat < counted) throw damaged(space, driver, `its journal ends with beat ${turn.head.beat}, and had beat ${counted}`)
  return {
    ...turn,
    due: driver.due(),
    sql,
    texts: new LongTexts(sql, () => SqlSchema.createPieces(driver), format === SqlSchema.LONG),
    journalSize: journalSize + SqlSchema.numberOf(sql.sizeAfter.get(counted)),
    notes: rows.notes(counted),
    rows
  }
}

/** The format of the store. A new store gets its tables. */
const formatOf = (space: string, driver: SqlDriver, create: boolean): number => {
  const format = SqlSchema.format(driver)
  if (format === undefined && !create) throw new PersistenceError({ reason: new NoSuchSpace({ space }) })
  if (format === undefined) driver.transaction(() => SqlSchema.create(driver))
  if (format === undefined || format === SqlSchema.FORMAT || format === SqlSchema.LONG) return format ?? SqlSchema.FORMAT
  throw new PersistenceError({ reason: new StoreVersion({ space, place: driver.place, found: format, reads: SqlSchema.FORMAT }) })
}

const damaged = (space: string, { place }: SqlDriver, detail: string): PersistenceError =>
  new PersistenceError({ reason: new StoreDamaged({ space, place, detail }) })

