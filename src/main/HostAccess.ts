/**
 * The tokens of a server: a file beside the spaces, or memory for a project without stored data.
 *
 * @module
 */
import { randomBytes } from "node:crypto"
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as AccessTable from "../access/AccessTable.ts"
import type { Store } from "../access/TokenSet.ts"

/** The name of the file. No space can have it. */
const FILE = "@access.sqlite"

/** The time to wait for another process, in milliseconds. */
const BUSY = 1000

const databaseOf = (database: DatabaseSync): AccessTable.Database => ({
  rows: (query, ...values) => {
    const statement = database.prepare(query)
    statement.setReturnArrays(true)
    return statement.all(...values) as unknown as ReadonlyArray<ReadonlyArray<unknown>>
  },
  transaction: (body) => {
    database.exec("BEGIN IMMEDIATE")
    try {
      const result = body()
      database.exec("COMMIT")
      return result
    } catch (failure) {
      database.exec("ROLLBACK")
      throw failure
    }
  }
})

/** Uses the file, which is made with the first token. It is open for one call, so that it can be replaced and restored. */
const using = <A>(folder: string, { isMade }: { readonly isMade: boolean }, body: (database: AccessTable.Database) => A): A | undefined => {
  const file = join(folder, FILE)
  const isThere = existsSync(file)
  if (!isThere && !isMade) return undefined
  if (!isThere) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // An empty file is an empty database, and has its permissions from the beginning.
    closeSync(openSync(file, "a", 0o600))
  }
  const database = new DatabaseSync(file, { timeout: BUSY })
  try {
    database.exec("PRAGMA synchronous = FULL")
    return body(databaseOf(database))
  } finally {
    database.close()
  }
}

/**
 * The store of tokens in a data folder.
 *
 * @category constructors
 * @since 0.2.0
 */
export const inFolder = (folder: string): Store => ({
  load: async (known) =>
    existsSync(join(folder, FILE))
      ? using(folder, { isMade: false }, (database) => AccessTable.load(database, known))
      : known === "" ? undefined : { revision: "", tokens: [] },
  save: async (change) => using(folder, { isMade: true }, (database) => AccessTable.save(database, change)) ?? "changed",
  use: async (id, day) => using(folder, { isMade: false }, (database) => AccessTable.use(database, id, day))
})

/**
 * The store of tokens in memory, which ends with the process.
 *
 * @category constructors
 * @since 0.2.0
 */
export const inMemory = (): Store => {
  const database = databaseOf(new DatabaseSync(":memory:"))
  return {
    load: async (known) => AccessTable.load(database, known),
    save: async (change) => AccessTable.save(database, change),
    use: async (id, day) => AccessTable.use(database, id, day)
  }
}

/** Random bytes of the host. */
export const draw = (bytes: number): Uint8Array => randomBytes(bytes)
