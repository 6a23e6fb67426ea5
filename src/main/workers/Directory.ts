/**
 * The directory: the names of all spaces, in the database of one object.
 *
 * A space is added before its first commit and removed after its data, so the directory never lacks a space.
 *
 * @module
 */
import type { Names, Storage } from "./Platform.ts"

/** The name of the object. It is not a valid name of a space. */
export const NAME = "/spaces"

/**
 * The names in the storage of an object.
 */
export class Directory {
  private readonly storage: Pick<Storage, "sql">

  constructor(storage: Pick<Storage, "sql">) {
    this.storage = storage
  }

  add(space: string): void {
    this.storage.sql.exec("CREATE TABLE IF NOT EXISTS space (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID")
    this.storage.sql.exec("INSERT OR IGNORE INTO space VALUES (?)", space)
  }

  remove(space: string): void {
    if (this.isThere) this.storage.sql.exec("DELETE FROM space WHERE name = ?", space)
  }

  /** At most `limit` names after `after`, in order. */
  list({ after, limit }: { readonly after: string; readonly limit: number }): Names {
    if (!this.isThere) return { spaces: [], next: null }
    const rows = this.rows("SELECT name FROM space WHERE name > ? ORDER BY name LIMIT ?", after, limit + 1)
    const spaces = rows.slice(0, limit).map(([name]) => String(name))
    return { spaces, next: rows.length > limit ? spaces.at(-1) ?? null : null }
  }

  /** Whether a space was ever added. Reading an empty directory writes nothing. */
  private get isThere(): boolean {
    return this.rows("SELECT 1 FROM sqlite_schema WHERE name = 'space'").length > 0
  }

  private rows(query: string, ...values: ReadonlyArray<string | number>) {
    return this.storage.sql.exec(query, ...values).raw().toArray()
  }
}
