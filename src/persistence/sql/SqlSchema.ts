/**
 * The tables of a space, and all statements on them.
 *
 * @module
 */
import * as Batch from "./Batch.ts"
import * as SqlArrival from "./SqlArrival.ts"
import type { SqlDriver, SqlRow, SqlStatement, SqlValue } from "./SqlDriver.ts"
import * as StoreFormat from "../StoreFormat.ts"

/**
 * The tables.
 *
 * - `cell` has its rows in the order of their creation, since documents that are created together are also changed together.
 *   It holds its parent's key for a document of a scope other than `space`.
 * - `journal`: its newest row is the head.
 * - `meta` holds the newest writer, and the size of the journal's rows up to `counted`.
 * - `caller` holds receipts with a digest, many per row, numbered by age. The journal notes them until there are many.
 * - `receipt` holds the other receipts, numbered by age.
 * - `blob` refers to `part`, so that finishing an upload moves no bytes. It has the newest beat that refers to it and
 *   the time of its next check. `code` marks the text of a module, hidden from readers.
 * - `mention` holds the content references of documents and of the queue.
 * - `upload` lists the parts to which no blob refers.
 *
 * Long texts are the last columns, so that the columns before them are read without them. `sum` is the checksum of a
 * row.
 */
const tables = [
  `CREATE TABLE IF NOT EXISTS meta (
    id INTEGER PRIMARY KEY CHECK (id = 1), format INTEGER NOT NULL, epoch INTEGER NOT NULL, asides INTEGER NOT NULL,
    counted INTEGER NOT NULL, journal_size INTEGER NOT NULL, anchor_beat INTEGER NOT NULL, anchor_hash TEXT NOT NULL) STRICT`,
  "CREATE TABLE IF NOT EXISTS cell (key TEXT NOT NULL UNIQUE, parent TEXT, sum INTEGER NOT NULL, text TEXT NOT NULL) STRICT",
  "CREATE INDEX IF NOT EXISTS cell_parent ON cell (parent, key) WHERE parent IS NOT NULL",
  `CREATE TABLE IF NOT EXISTS journal (
    beat INTEGER PRIMARY KEY, clock REAL NOT NULL, size INTEGER NOT NULL, hash TEXT NOT NULL,
    sum INTEGER NOT NULL, callers TEXT, text TEXT NOT NULL) STRICT`,
  "CREATE TABLE IF NOT EXISTS caller (age INTEGER PRIMARY KEY, clock REAL NOT NULL, size INTEGER NOT NULL, sum INTEGER NOT NULL, " +
    "text TEXT NOT NULL) STRICT",
  "CREATE TABLE IF NOT EXISTS caller_index (hash INTEGER NOT NULL, age INTEGER NOT NULL, PRIMARY KEY (hash, age)) STRICT, WITHOUT ROWID",
  `CREATE TABLE IF NOT EXISTS caller_state (
    id INTEGER PRIMARY KEY CHECK (id = 1), indexed INTEGER NOT NULL, swept INTEGER NOT NULL,
    sweep INTEGER, hash INTEGER NOT NULL, age INTEGER NOT NULL) STRICT`,
  `CREATE TABLE IF NOT EXISTS receipt (
    age INTEGER PRIMARY KEY, id TEXT NOT NULL, enzyme TEXT NOT NULL, beat INTEGER NOT NULL, sum INTEGER NOT NULL, ` +
    "UNIQUE (id, enzyme)) STRICT",
  "CREATE INDEX IF NOT EXISTS receipt_beat ON receipt (beat)",
  "CREATE TABLE IF NOT EXISTS queue (seq INTEGER PRIMARY KEY, id TEXT, sum INTEGER NOT NULL, text TEXT NOT NULL) STRICT",
  "CREATE INDEX IF NOT EXISTS queue_id ON queue (id) WHERE id IS NOT NULL",
  `CREATE TABLE IF NOT EXISTS blob (
    hash TEXT PRIMARY KEY, epoch INTEGER NOT NULL, upload INTEGER NOT NULL, sum INTEGER NOT NULL, beat INTEGER NOT NULL, due REAL, ` +
    "code INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  "CREATE INDEX IF NOT EXISTS blob_due ON blob (due)",
  "CREATE TABLE IF NOT EXISTS mention (age INTEGER PRIMARY KEY, holder TEXT NOT NULL, hash TEXT NOT NULL, UNIQUE (holder, hash)) STRICT",
  "CREATE INDEX IF NOT EXISTS mention_hash ON mention (hash)",
  "CREATE TABLE IF NOT EXISTS observation (node TEXT PRIMARY KEY, sum INTEGER NOT NULL, text TEXT NOT NULL) STRICT, WITHOUT ROWID",
  `CREATE TABLE IF NOT EXISTS part (
    epoch INTEGER NOT NULL, upload INTEGER NOT NULL, part INTEGER NOT NULL, sum INTEGER NOT NULL, bytes BLOB NOT NULL, ` +
    "UNIQUE (epoch, upload, part)) STRICT",
  "CREATE TABLE IF NOT EXISTS upload (epoch INTEGER NOT NULL, upload INTEGER NOT NULL, PRIMARY KEY (epoch, upload)) STRICT, WITHOUT ROWID"
]

/**
 * Creates the missing tables and the row of `meta`.
 */
export const create = (driver: Pick<SqlDriver, "define">): void => {
  driver.define([
    ...tables,
    `INSERT OR IGNORE INTO meta VALUES (1, ${StoreFormat.initial.format}, 0, 0, -1, 0, -1, '')`,
    "INSERT OR IGNORE INTO caller_state VALUES (1, 0, 0, NULL, 0, 0)"
  ])
}

/** The statements that make each format of the one before. They change the schema alone, whatever the number of rows. */
const steps: Readonly<Record<number, string>> = {
  11: "CREATE TABLE IF NOT EXISTS piece (owner TEXT NOT NULL, part INTEGER NOT NULL, text TEXT NOT NULL, " +
    "PRIMARY KEY (owner, part)) STRICT, WITHOUT ROWID",
  12: `ALTER TABLE meta ADD COLUMN carried INTEGER NOT NULL DEFAULT ${StoreFormat.SETTLED}`
}

const stepTo = (format: number): string => {
  const step = steps[format]
  if (step === undefined) throw new RangeError(`no step makes format ${format}`)
  return step
}

/**
 * Raises the format of a store, or the one whose form all its rows have, in the current transaction. Neither is lowered.
 */
export const raise = (driver: Pick<SqlDriver, "prepare">, to: StoreFormat.Status): void => {
  const { format: from } = SqlArrival.read(driver.prepare("SELECT format FROM meta").get()?.[0] as number)
  for (let next = from + 1; next <= to.format; next++) driver.prepare(stepTo(next)).run()
  driver.prepare(`UPDATE meta SET format = ${SqlArrival.keeping(Math.max(from, to.format))}`).run()
  if (Math.max(from, to.format) > StoreFormat.SETTLED) driver.prepare("UPDATE meta SET carried = max(carried, ?)").run(to.carried)
}

/**
 * The state of a store with a format. Up to the settled one its rows have one form.
 */
export const statusOf = (driver: Pick<SqlDriver, "prepare">, format: number): StoreFormat.Status => {
  const carried = format <= StoreFormat.SETTLED ? format : driver.prepare("SELECT carried FROM meta").get()?.[0] as number
  return { format, carried }
}

/**
 * Returns the format of the store, or `undefined` if it is empty.
 */
export const format = (driver: Pick<SqlDriver, "prepare">): number | undefined => {
  if (driver.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'meta'").get() === undefined) return undefined
  return driver.prepare("SELECT format FROM meta").get()?.[0] as number | undefined
}

/** A statement prepared at its first use. An open space never uses most statements, and each takes kilobytes of memory. */
class LateStatement implements SqlStatement {
  private readonly prepare: SqlDriver["prepare"]
  private readonly sql: string
  private parsed: SqlStatement | undefined

  constructor(prepare: SqlDriver["prepare"], sql: string) {
    this.prepare = prepare
    this.sql = sql
  }

  get(...values: ReadonlyArray<SqlValue>): SqlRow | undefined {
    return (this.parsed ??= this.prepare(this.sql)).get(...values)
  }

  all(...values: ReadonlyArray<SqlValue>): ReadonlyArray<SqlRow> {
    return (this.parsed ??= this.prepare(this.sql)).all(...values)
  }

  run(...values: ReadonlyArray<SqlValue>): void {
    (this.parsed ??= this.prepare(this.sql)).run(...values)
  }
}

/**
 * Creates the statements of one handle, each prepared once.
 */
export const statements = (driver: Pick<SqlDriver, "prepare">) => statementsOf((sql) => new LateStatement(driver.prepare, sql))

/** The statements on content and its references. */
const contentOf = (prepare: SqlDriver["prepare"]) => ({
  blob: prepare("SELECT hash, epoch, upload, sum, code FROM blob WHERE hash = ?"),
  addBlob: prepare("INSERT INTO blob VALUES (?, ?, ?, ?, -1, NULL, ?)"),
  undatedBlobs: prepare("SELECT hash FROM blob WHERE due IS NULL AND beat = -1"),
  renewBlob: prepare("UPDATE blob SET due = NULL WHERE hash = ?"),
  dateBlobs: prepare("UPDATE blob SET due = ? WHERE due IS NULL"),
  keepBlob: prepare("UPDATE blob SET beat = ? WHERE hash = ?"),
  dueBlobs: prepare("SELECT hash, epoch, upload, beat FROM blob WHERE due <= ? ORDER BY due LIMIT ?"),
  putOff: prepare("UPDATE blob SET due = ? WHERE hash = ?"),
  dropBlob: prepare("DELETE FROM blob WHERE hash = ?"),
  countParts: prepare("SELECT count(*) FROM part WHERE epoch = ? AND upload = ?"),
  mentioned: prepare("SELECT 1 FROM mention WHERE hash = ? LIMIT 1"),
  addMention: prepare("INSERT INTO mention (holder, hash) VALUES (?, ?)"),
  dropMentions: prepare("DELETE FROM mention WHERE holder = ?"),
  mentionSpan: prepare("SELECT (SELECT max(age) FROM mention) - (SELECT min(age) FROM mention) + 1"),
  mentionsAfter: prepare("SELECT age, holder FROM mention WHERE age > ? ORDER BY age LIMIT ?"),
  parts: prepare("SELECT part, sum, bytes FROM part WHERE epoch = ? AND upload = ? ORDER BY part"),
  onePart: prepare("SELECT part, sum, bytes FROM part WHERE epoch = ? AND upload = ? AND part = ?"),
  sizeOfParts: prepare("SELECT coalesce(sum(length(bytes)), 0) FROM part WHERE epoch = ? AND upload = ?"),
  addPart: prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?)"),
  dropParts: prepare("DELETE FROM part WHERE epoch = ? AND upload = ?"),
  startUpload: prepare("INSERT INTO upload VALUES (?, ?)"),
  endUpload: prepare("DELETE FROM upload WHERE epoch = ? AND upload = ?"),
  uploads: prepare("SELECT epoch, upload FROM upload")
})

/** The statements on receipts with a digest and their index. */
const callersOf = (prepare: SqlDriver["prepare"]) => ({
  callers: prepare("SELECT sum, text FROM caller WHERE age = ?"),
  addCallers: prepare("INSERT INTO caller VALUES (?, ?, ?, ?, ?)"),
  callersAfter: prepare("SELECT age, sum, text FROM caller WHERE age > ? ORDER BY age LIMIT 1"),
  callersUpTo: prepare("SELECT age, sum, text, clock FROM caller WHERE age <= ? ORDER BY age DESC LIMIT 1"),
  firstCallers: prepare("SELECT min(age) FROM caller"),
  lastCallers: prepare("SELECT max(age) FROM caller"),
  oldestCallers: prepare("SELECT clock, size, age FROM caller ORDER BY age LIMIT ?"),
  pruneCallers: prepare("DELETE FROM caller WHERE age <= ?"),
  indexedAges: prepare("SELECT age FROM caller_index WHERE hash = ? ORDER BY age DESC"),
  newestIndexed: prepare("SELECT age FROM caller_index WHERE hash = ? ORDER BY age DESC LIMIT ?"),
  indexedAfter: prepare("SELECT hash, age FROM caller_index WHERE (hash, age) > (?, ?) ORDER BY hash, age LIMIT ?"),
  addIndexed: Batch.insertion({ prepare }, { into: "INSERT OR IGNORE INTO caller_index", columns: 2 }),
  dropIndexed: prepare("DELETE FROM caller_index WHERE hash = ? AND age = ?"),
  callerState: prepare("SELECT indexed, swept, sweep, hash, age FROM caller_state"),
  setCallerState: prepare("UPDATE caller_state SET indexed = ?, swept = ?, sweep = ?, hash = ?, age = ?")
})

const statementsOf = (prepare: SqlDriver["prepare"]) => ({
  meta: prepare("SELECT counted, journal_size, anchor_beat, anchor_hash FROM meta"),
  setMeta: prepare("UPDATE meta SET counted = ?, journal_size = ?, anchor_beat = ?, anchor_hash = ?"),
  turn: prepare(
    "SELECT epoch, asides, coalesce(beat, anchor_beat), coalesce(clock, 0), coalesce(hash, anchor_hash) " +
      "FROM meta LEFT JOIN journal ON beat = (SELECT max(beat) FROM journal)"
  ),
  setWriter: prepare("UPDATE meta SET epoch = ?, asides = ?"),
  cell: prepare("SELECT sum, text FROM cell WHERE key = ?"),
  children: prepare("SELECT key FROM cell WHERE parent = ?"),
  below: prepare("SELECT key FROM cell WHERE key > ? AND key < ? ORDER BY key LIMIT ?"),
  putCells: Batch.insertion({ prepare }, {
    into: "INSERT INTO cell",
    columns: 4,
    conflict: "ON CONFLICT (key) DO UPDATE SET sum = excluded.sum, text = excluded.text"
  }),
  deleteCells: Batch.deletion({ prepare }, "DELETE FROM cell WHERE key"),

  journal: prepare("SELECT beat, clock, size, hash, sum, callers, text FROM journal WHERE beat >= ? AND beat <= ? ORDER BY beat LIMIT ?"),
  addJournal: prepare("INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, ?)"),
  clockOf: prepare("SELECT clock FROM journal WHERE beat <= ? ORDER BY beat DESC LIMIT 1"),
  sizeAfter: prepare("SELECT coalesce(sum(size), 0) FROM journal WHERE beat > ?"),
  notes: prepare("SELECT beat, clock, size, hash, sum, callers, text FROM journal WHERE beat > ? AND callers IS NOT NULL ORDER BY beat"),
  oldestJournal: prepare("SELECT beat, clock, size, hash FROM journal WHERE beat < ? ORDER BY beat LIMIT ?"),
  pruneJournal: prepare("DELETE FROM journal WHERE beat <= ?"),

  ...callersOf(prepare),
  receipts: prepare("SELECT id, enzyme, beat, sum FROM receipt WHERE id = ?"),
  receiptSpan: prepare("SELECT (SELECT max(age) FROM receipt) - (SELECT min(age) FROM receipt) + 1"),
  receiptsAfter: prepare("SELECT age, id FROM receipt WHERE age > ? ORDER BY age LIMIT ?"),
  receiptsByBeat: prepare("SELECT id, enzyme, beat, sum FROM receipt WHERE beat > ? ORDER BY beat LIMIT ?"),
  receiptsOfBeat: prepare("SELECT id, enzyme, beat, sum FROM receipt WHERE beat = ?"),
  putReceipt: prepare("INSERT OR REPLACE INTO receipt (id, enzyme, beat, sum) VALUES (?, ?, ?, ?)"),
  pruneReceipts: prepare("DELETE FROM receipt WHERE beat <= ?"),

  queue: prepare("SELECT seq, id, sum, text FROM queue WHERE seq > ? ORDER BY seq LIMIT ?"),
  anyQueued: prepare("SELECT seq FROM queue LIMIT 1"),
  waiting: prepare("SELECT seq, id, sum, text FROM queue WHERE id = ? ORDER BY seq"),
  enqueue: Batch.insertion({ prepare }, { into: "INSERT OR REPLACE INTO queue", columns: 4 }),
  dequeue: Batch.deletion({ prepare }, "DELETE FROM queue WHERE seq"),

  observations: prepare("SELECT node, sum, text FROM observation"),
  observed: prepare("SELECT node, sum, text FROM observation WHERE node = ?"),
  putObservation: prepare("INSERT OR REPLACE INTO observation VALUES (?, ?, ?)"),
  dropObservation: prepare("DELETE FROM observation WHERE node = ?"),
  ...contentOf(prepare),

  pieces: prepare("SELECT text FROM piece WHERE owner = ? ORDER BY part"),
  anyPiece: prepare("SELECT 1 FROM piece LIMIT 1"),
  addPiece: prepare("INSERT INTO piece VALUES (?, ?, ?)"),
  dropPieces: prepare("DELETE FROM piece WHERE owner = ?"),

  everyCell: prepare("SELECT key, parent, sum, text FROM cell WHERE key > ? ORDER BY key LIMIT ?"),
  isListed: prepare("SELECT count(*) FROM cell INDEXED BY cell_parent WHERE parent = ? AND key = ?"),
  everyReceipt: prepare("SELECT age, id, enzyme, beat, sum FROM receipt WHERE age > ? ORDER BY age LIMIT ?"),
  everyObservation: prepare("SELECT node, sum, text FROM observation WHERE node > ? ORDER BY node LIMIT ?"),
  everyBlob: prepare("SELECT hash, epoch, upload, sum, code FROM blob WHERE hash > ? ORDER BY hash LIMIT ?")
})

/** The statements of one handle. */
export type Statements = ReturnType<typeof statements>

/**
 * Returns the number that an aggregate query computes. Such a query always has one row.
 */
export const numberOf = (row: SqlRow | undefined): number => {
  const value = row?.[0]
  if (typeof value !== "number") throw new TypeError("an aggregate query returned no number")
  return value
}
