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
import type { Database } from "../../access/Database.ts"
import type { Store } from "../../access/TokenSet.ts"
import * as Withdrawn from "../../access/WithdrawnCredentials.ts"

/** The names of the files of tokens, and of withdrawn credentials. No space can have them. */
const FILE = "@access.sqlite"
const WITHDRAWN = "@withdrawn.sqlite"

/** The time to wait for another process, in milliseconds. */
const BUSY = 1000

const databaseOf = (database: DatabaseSync): Database => ({
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

/** Uses a file that is there. It is open for one call, so that it can be replaced and restored. */
const using = <A>(file: string, body: (database: Database) => A): A => {
  const database = new DatabaseSync(file, { timeout: BUSY })
  try {
    database.exec("PRAGMA synchronous = FULL")
    return body(databaseOf(database))
  } finally {
    database.close()
  }
}

/** Uses a file, which is made with its first row. */
const making = <A>(file: string, body: (database: Database) => A): A => {
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    // An empty file is an empty database, and has its permissions from the beginning.
    closeSync(openSync(file, "a", 0o600))
  }
  return using(file, body)
}

/** Uses a file if it is there. */
const looking = <A>(file: string, body: (database: Database) => A, absent: A): A =>
  existsSync(file) ? using(file, body) : absent

/**
 * The store of tokens in a data folder.
 */
export const inFolder = (folder: string): Store => {
  const [file, withdrawn] = [join(folder, FILE), join(folder, WITHDRAWN)]
  const unless = <A extends { readonly revision: string }>(known: string | undefined, none: A): A | undefined =>
    known === none.revision ? undefined : none
  return Withdrawn.combine({
    load: async (known) => looking(file, (database) => AccessTable.load(database, known), unless(known, AccessTable.none)),
    save: async (change) => making(file, (database) => AccessTable.save(database, change)),
    use: async (id, day) => looking(file, (database) => AccessTable.use(database, id, day), undefined),
    key: async (drawn) => drawn === undefined
      ? looking(file, (database) => AccessTable.key(database), undefined)
      : making(file, (database) => AccessTable.key(database, drawn))
  }, {
    load: async (known) => looking(withdrawn, (database) => Withdrawn.load(database, known), unless(known, Withdrawn.none)),
    add: async (change) => making(withdrawn, (database) => Withdrawn.add(database, change)),
    spend: async (spent) => making(withdrawn, (database) => Withdrawn.spend(database, spent))
  })
}

/**
 * The store of tokens in memory, which ends with the process.
 */
export const inMemory = (): Store => {
  const open = () => databaseOf(new DatabaseSync(":memory:"))
  return Withdrawn.combine(AccessTable.tableOf(open()), Withdrawn.tableOf(open()))
}

/** Random bytes of the host. */
export const draw = (bytes: number): Uint8Array => randomBytes(bytes)
