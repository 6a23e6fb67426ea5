/**
 * Opening of a SQL store: its format, newest writer and counters.
 *
 * @module
 */
import * as Backend from "../Backend.ts"
import { LongTexts } from "./LongTexts.ts"
import type { Anchor, Arrival, Head, OpenOptions, Progress } from "../Persistence.ts"
import { NoSuchSpace, PersistenceError, StoreDamaged, StoreVersion } from "../PersistenceError.ts"
import * as SqlArrival from "./SqlArrival.ts"
import type { SqlDriver } from "./SqlDriver.ts"
import { SqlRows } from "./SqlRows.ts"
import * as SqlSchema from "./SqlSchema.ts"
import * as StoreFormat from "../StoreFormat.ts"

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

/** Reads how far the store has come. */
export const progressOf = (sql: SqlSchema.Statements): Progress => {
  const { head, writer } = readTurn(sql)
  return Backend.progressOf(head, writer, sql.anyQueued.get() !== undefined)
}

/** Reads how far a store has come that is not open. */
export const progressIn = (space: string, driver: Pick<SqlDriver, "place" | "prepare">): Progress => {
  const format = SqlSchema.format(driver)
  if (format === undefined) throw new PersistenceError({ reason: new NoSuchSpace({ space }) })
  checkRead({ space, place: driver.place }, SqlArrival.read(format), {})
  return progressOf(SqlSchema.statements(driver))
}

/** Reads the newest writer and the head. */
export const readTurn = (sql: SqlSchema.Statements): { readonly writer: Backend.Writer; readonly head: Head } => {
  const [epoch, asides, beat, clock, hash] = sql.turn.get() as [number, number, number, number, string]
  return { writer: { epoch, asides }, head: { beat, clock, hash } }
}

/** The options of an opening that decide what is created. */
type How = Pick<OpenOptions, "create" | "importing">

/** The state of a handle at its opening. */
interface Opening {
  readonly writer: Backend.Writer
  readonly head: Head
  /** Whether this opening created the store: it is empty then. */
  readonly isNew: boolean
  readonly due: number | undefined
  readonly arrival: Arrival | undefined
  readonly journalSize: number
  /** The receipts that only the journal notes. */
  readonly notes: ReadonlyArray<string>
  readonly rows: SqlRows
  readonly sql: SqlSchema.Statements
  readonly texts: LongTexts
  readonly formats: StoreFormat.Status
}

/** The state of a new store, of which nothing is read. */
const empty = {
  writer: { epoch: 0, asides: 0 },
  head: { beat: -1, clock: 0, hash: "" },
  isNew: true,
  due: 0,
  journalSize: 0,
  notes: []
}

/** Reads the initial state of a handle; writes only to create a new store. */
export const begin = (space: string, driver: SqlDriver, options: How): Opening => {
  const { format, isNew, ...marked } = formatOf(space, driver, options)
  const arrival = SqlArrival.find(driver, { format, ...marked })
  const sql = SqlSchema.statements(driver)
  const rows = new SqlRows({ space, place: driver.place }, sql)
  const formats = isNew ? StoreFormat.initial : SqlSchema.statusOf(driver, format)
  const texts = new LongTexts(sql, () => SqlSchema.raise(driver, StoreFormat.settled), StoreFormat.has(formats, "longTexts"))
  return { ...isNew ? empty : stored(space, driver, { rows, sql }), arrival, rows, sql, texts, formats }
}

/** Reads the state of a store that exists. */
const stored = (space: string, driver: SqlDriver, { rows, sql }: Pick<Opening, "rows" | "sql">) => {
  // Read first: the first write checks that this is unchanged, so all reads below are consistent.
  const turn = readTurn(sql)
  const { counted, journalSize } = readMeta(sql)
  // The predecessor of the next entry must be undamaged.
  rows.confirm(turn.head.beat)
  if (turn.head.beat < counted) throw damaged(space, driver, `its journal ends with beat ${turn.head.beat}, and had beat ${counted}`)
  return {
    ...turn,
    isNew: false,
    due: driver.due(),
    journalSize: journalSize + SqlSchema.numberOf(sql.sizeAfter.get(counted)),
    notes: rows.notes(counted)
  }
}

/** The format of the store, and whether it gets its tables here. */
const formatOf = (
  space: string, driver: SqlDriver, { create, importing = false }: How
): SqlArrival.MarkedFormat & { readonly isNew: boolean } => {
  const found = SqlSchema.format(driver)
  if (found === undefined && !create) throw new PersistenceError({ reason: new NoSuchSpace({ space }) })
  // Another process may create it meanwhile.
  const made = found ?? driver.transaction(() => SqlSchema.format(driver) ?? makeTables(driver, importing))
  const isNew = typeof made !== "number"
  const marked = SqlArrival.read(isNew ? StoreFormat.initial.format : made)
  if (isNew) return { ...marked, isNew, state: importing ? "importing" : "space" }
  checkRead({ space, place: driver.place }, marked, { importing })
  return { ...marked, isNew }
}

/** Refuses a store of another format, and one that is not as the options say. */
const checkRead = (
  at: { readonly space: string; readonly place: string },
  { format, state }: SqlArrival.MarkedFormat,
  options: Pick<OpenOptions, "importing">
): void => {
  if (!StoreFormat.isRead(format)) {
    const reads = [StoreFormat.OLDEST, StoreFormat.NEWEST] as const
    throw new PersistenceError({ reason: new StoreVersion({ ...at, found: format, reads }) })
  }
  Backend.checkArrival(at.space, state === "importing" ? { note: "", isWhole: false } : undefined, options)
}

const makeTables = (driver: SqlDriver, importing: boolean): "new" => {
  SqlSchema.create(driver)
  if (importing) driver.define(SqlArrival.create)
  return "new"
}

const damaged = (space: string, { place }: SqlDriver, detail: string): PersistenceError =>
  new PersistenceError({ reason: new StoreDamaged({ space, place, detail }) })

