/**
 * The port between the SQL store and a host: synchronous SQLite.
 *
 * A driver is about a page of code: `node:sqlite` on Node, Deno and Bun, a Durable Object's storage on Workers. All SQL
 * is in the store, so drivers cannot differ in the stored data.
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import type { PersistenceError } from "../PersistenceError.ts"

/** A value in a column. Booleans and bigints are not stored. */
export type SqlValue = string | number | Uint8Array | null

/** A row: the values in the order of the selected columns. */
export type SqlRow = ReadonlyArray<SqlValue>

/** A prepared statement. Each method takes one value per `?`. */
export interface SqlStatement {
  /** Returns the first row, or `undefined` if there is none. */
  get(...values: ReadonlyArray<SqlValue>): SqlRow | undefined
  /** Returns all rows. */
  all(...values: ReadonlyArray<SqlValue>): ReadonlyArray<SqlRow>
  /** Runs the statement without returning rows. */
  run(...values: ReadonlyArray<SqlValue>): void
}

/**
 * One open database. Its methods throw {@link PersistenceError}.
 *
 * @category models
 * @since 0.1.0
 */
export interface SqlDriver {
  /** The location of the data, for error messages. */
  readonly place: string
  /** Prepares a statement for repeated use. */
  readonly prepare: (sql: string) => SqlStatement
  /** Runs statements without values that create the tables of a new space, in the current transaction. */
  readonly define: (statements: ReadonlyArray<string>) => void
  /**
   * Runs `body` in an exclusive write transaction, rolled back if `body` throws; rethrows its error. Throws `StoreBusy`
   * without a call of `body` if another writer holds the database.
   */
  readonly transaction: <A>(body: () => A) => A
  /** Returns the stored wake time of the space, in milliseconds since 1970: 0 at first, `undefined` for never. */
  readonly due: () => number | undefined
  /** Stores the wake time, in the current transaction. A host that sleeps arms its alarm with it, in the same commit. */
  readonly setDue: (moment: number | undefined) => void
  /** Waits until all transactions are durable; `undefined` if each transaction is durable when it ends. */
  readonly sync: Effect.Effect<void, PersistenceError> | undefined
  /** Closes the database. */
  readonly close: () => void
}

/**
 * The databases of spaces, one per space.
 *
 * @category models
 * @since 0.1.0
 */
export interface SqlSource {
  /** Opens a space's database; a new database is empty. The name is valid. */
  readonly open: (space: string, options: { readonly create: boolean }) => SqlDriver
  /** Returns the stored wake time of a space without opening its database. The result may be up to one second early. */
  readonly due: (space: string) => number | undefined
  /** Reads a space's database without opening it as {@link open} does. Its data stay as they are, also if another process has it open. */
  readonly look: <A>(space: string, body: (driver: Pick<SqlDriver, "place" | "prepare">) => A) => A
  /** Removes a space's database. The name is valid. */
  readonly remove: (space: string) => Effect.Effect<void, PersistenceError>
  /** Returns the names of the existing spaces, in no order. They are read while they are taken. */
  readonly spaces: () => Iterable<string>
  /** Throws while the place takes no more data. Absent for a place that cannot determine it. */
  readonly ready?: () => void
}
