/**
 * The databases of credentials: two files of a server, or two objects of a Worker.
 *
 * @module
 */

/** A database. */
export interface Database {
  /** The rows of one statement, each with the values of its columns in order. */
  readonly rows: (query: string, ...values: ReadonlyArray<string>) => ReadonlyArray<ReadonlyArray<unknown>>
  readonly transaction: <A>(body: () => A) => A
}

/** The table of the revision, which each database has from its first change on. */
export const REVISION = "CREATE TABLE IF NOT EXISTS revision (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT NOT NULL) STRICT"

/** Whether a table was ever made. The look writes nothing. */
export const isThere = ({ rows }: Database, table: string): boolean =>
  rows("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", table).length > 0

/** The revision of a database; empty before the first. */
export const revisionOf = (database: Database): string =>
  isThere(database, "revision") ? String(database.rows("SELECT text FROM revision")[0]?.[0] ?? "") : ""

/** Sets the revision of a database that has its table. */
export const setRevision = ({ rows }: Database, revision: string): void => {
  rows("INSERT OR REPLACE INTO revision VALUES (1, ?)", revision)
}
