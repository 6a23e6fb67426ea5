/**
 * Rows that go into a table several at a time.
 *
 * To run a statement costs a host about as much as SQLite takes for a row, so
 * most rows share one statement with others.
 *
 * @module
 */
import type { SqlDriver, SqlStatement, SqlValue } from "./SqlDriver.ts"

/** Rows of one statement. Few, since the statement is as long as they are, and some databases take no more than 100 values. */
const ROWS = 8

/** A statement that adds rows. */
export interface Insertion {
  readonly into: string
  readonly columns: number
  /** What follows the values. */
  readonly conflict?: string
}

/**
 * Adds rows to one table. Within a transaction, the order of the rows means nothing.
 *
 * @category models
 * @since 0.1.0
 */
export class Bulk {
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

  /** Adds rows whose values stand in one list, one row after another. */
  add(values: ReadonlyArray<SqlValue>): void {
    const { columns } = this
    const width = ROWS * columns
    let at = 0
    for (; values.length - at >= width; at += width) this.many.run(...values.slice(at, at + width))
    for (; at < values.length; at += columns) this.one.run(...values.slice(at, at + columns))
  }
}
