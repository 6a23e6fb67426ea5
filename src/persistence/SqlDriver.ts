/**
 * What the SQL store needs of a host: SQLite, synchronously.
 *
 * A driver is small enough to be written for each host in a page: `node:sqlite`
 * on Node, Deno and Bun, a Durable Object's storage on Workers. All SQL is in
 * the store, so the drivers cannot differ in what is stored.
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import type { PersistenceError } from "./PersistenceError.ts"

/** A value in a column. Booleans and big integers are not stored. */
export type SqlValue = string | number | Uint8Array | null

/** A row: the values in the order of the columns that were asked for. */
export type SqlRow = ReadonlyArray<SqlValue>

/** A statement that is parsed once and run many times, with one value for each `?`. */
export interface SqlStatement {
  get(...values: ReadonlyArray<SqlValue>): SqlRow | undefined
  all(...values: ReadonlyArray<SqlValue>): ReadonlyArray<SqlRow>
  run(...values: ReadonlyArray<SqlValue>): void
}

/**
 * One open database. What it throws is a {@link PersistenceError}.
 *
 * @category models
 * @since 0.1.0
 */
export interface SqlDriver {
  /** Where the data lies, for messages. */
  readonly place: string
  readonly prepare: (sql: string) => SqlStatement
  /** Runs `body` whole or not at all, with no other writer between; throws what `body` throws. */
  readonly transaction: <A>(body: () => A) => A
  /** The stored moment at which the space next has something to do: 0 at first. */
  readonly due: () => number | undefined
  /** Stores that moment, in the transaction under way. */
  readonly setDue: (moment: number | undefined) => void
  /** Waits until all transactions are durable; `undefined` where each is when it ends. */
  readonly sync: Effect.Effect<void, PersistenceError> | undefined
  readonly close: () => void
}

/**
 * Where the databases of spaces are: one for each space.
 *
 * @category models
 * @since 0.1.0
 */
export interface SqlSource {
  /** Opens a space's database, which is empty when it was made just now; the name is known to be valid. */
  readonly open: (space: string, options: { readonly create: boolean }) => SqlDriver
  /** The stored moment at which a space next has something to do, or up to a second less, read without opening its database. */
  readonly due: (space: string) => number | undefined
  /** The names of the spaces there are. */
  readonly spaces: () => ReadonlyArray<string>
}
