/**
 * Insertion and deletion of several rows with one statement.
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
 * Changes rows of one table. Rows of one transaction may be changed in any order.
 */
export class Batch {
  private readonly columns: number
  private readonly one: SqlStatement
  private readonly many: SqlStatement

  /** `sqlOf` is the SQL of a statement for a number of rows, with `columns` values for each. */
  constructor({ prepare }: Pick<SqlDriver, "prepare">, columns: number, sqlOf: (rows: number) => string) {
    this.columns = columns
    this.one = prepare(sqlOf(1))
    this.many = prepare(sqlOf(ROWS))
  }

  /** Runs the statements over rows; the values of all rows are one flat list. */
  run(values: ReadonlyArray<SqlValue>): void {
    const { columns } = this
    const width = ROWS * columns
    let at = 0
    for (; values.length - at >= width; at += width) this.many.run(...values.slice(at, at + width))
    for (; at < values.length; at += columns) this.one.run(...values.slice(at, at + columns))
  }
}

const marks = (count: number): string => `(${Array(count).fill("?").join(", ")})`

/**
 * Inserts rows.
 */
export const insertion = (driver: Pick<SqlDriver, "prepare">, { columns, conflict = "", into }: Insertion): Batch =>
  new Batch(driver, columns, (rows) => `${into} VALUES ${Array(rows).fill(marks(columns)).join(", ")} ${conflict}`)

/**
 * Deletes rows by their keys. `from` is the SQL up to the column of the key.
 */
export const deletion = (driver: Pick<SqlDriver, "prepare">, from: string): Batch =>
  new Batch(driver, 1, (rows) => `${from} IN ${marks(rows)}`)
