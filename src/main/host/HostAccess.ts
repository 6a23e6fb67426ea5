/**
 * The tokens of a server: a file beside the spaces, or memory for a project without stored data.
 *
 * @module
 */
import { randomBytes } from "node:crypto"
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as AccessTable from "../../access/AccessTable.ts"
import type { Store } from "../../access/TokenSet.ts"
import * as Withdrawn from "../../access/Withdrawn.ts"

/** The names of the files of tokens, and of withdrawn ones. No space can have them. */
const FILE = "@access.sqlite"
const WITHDRAWN = "@withdrawn.sqlite"

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

/** Uses a file, which is made with its first row. It is open for one call, so that it can be replaced and restored. */
const using = <A>(
  file: string,
  { isMade }: { readonly isMade: boolean },
  body: (database: AccessTable.Database) => A
): A | undefined => {
  const isThere = existsSync(file)
  if (!isThere && !isMade) return undefined
  if (!isThere) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
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
 */
export const inFolder = (folder: string): Store => {
  const [file, withdrawn] = [join(folder, FILE), join(folder, WITHDRAWN)]
  return {
    load: async (known) => {
      if (!existsSync(file)) return known === "" ? undefined : { revision: "", tokens: [] }
      const snapshot = using(file, { isMade: false }, (database) => AccessTable.load(database, known))
      return snapshot && Withdrawn.applied(snapshot, using(withdrawn, { isMade: false }, Withdrawn.load) ?? new Map())
    },
    save: async (change) => {
      if (Withdrawn.isOf(change)) using(withdrawn, { isMade: true }, (database) => Withdrawn.add(database, change))
      return using(file, { isMade: true }, (database) => AccessTable.save(database, change)) ?? "changed"
    },
    use: async (id, day) => using(file, { isMade: false }, (database) => AccessTable.use(database, id, day)),
    key: async (drawn) => using(file, { isMade: drawn !== undefined }, (database) => AccessTable.key(database, drawn)),
    spend: async (spent) => using(file, { isMade: true }, (database) => AccessTable.spend(database, spent)) ?? "full"
  }
}

/**
 * The store of tokens in memory, which ends with the process.
 */
export const inMemory = (): Store => AccessTable.storeOf(databaseOf(new DatabaseSync(":memory:")))

/** Random bytes of the host. */
export const draw = (bytes: number): Uint8Array => randomBytes(bytes)
