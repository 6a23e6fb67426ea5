/**
 * Insertion of several rows with one statement.
 *
 * Running a statement costs a host about as much as SQLite needs for a row, so most rows share a statement.
 *
 * @module
 */
import type { SqlDriver, SqlStatement, SqlValue } from "./SqlDriver.ts"

/** Rows per statement. The limit is small because some databases accept at most 100 values per statement. */
const ROWS = 8

/** A statement that inserts rows. */
export interface Insertion {
  readonly into: string
  readonly columns: number
  /** The SQL after the values, such as an `ON CONFLICT` clause. */
  readonly conflict?: string
}

/**
 * Inserts rows into one table. Rows of one transaction may be inserted in any order.
 *
 * @category models
 * @since 0.1.0
 */
export class BatchInsert {
  private readonly columns: number
  private readonly one: SqlStatement
  private readonly many: SqlStatement

  constructor({ prepare }: Pick<SqlDriver, "prepare">, { columns, conflict = "", into }: Insertion) {
    this.columns = columns
    const row = `(${Array(columns).fill("?").join(", ")})`
    const adding = (rows: number) => prepare(`${into} VALUES ${Array(rows).fill(row).join(", ")} ${conflict}`)
    this.one = adding(1)
    this.many = adding(ROWS)
  }

  /** Inserts rows; the values of all rows are one flat list. */
  add(values: ReadonlyArray<SqlValue>): void {
    const { columns } = this
    const width = ROWS * columns
    let at = 0
    for (; values.length - at >= width; at += width) this.many.run(...values.slice(at, at + width))
    for (; at < values.length; at += columns) this.one.run(...values.slice(at, at + columns))
  }
}
