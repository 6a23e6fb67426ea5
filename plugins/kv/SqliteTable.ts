/**
 * A key-value table in an SQLite file, through `node:sqlite`: the same on Node, Deno and Bun.
 *
 * The host's modules are taken when the file is opened, so that Workers can load this module.
 *
 * @module
 */
import type { DatabaseSync } from "node:sqlite"
import { Channel } from "systole"
import type { Page, Query, StoredValue, Table } from "./Table.ts"

/** "Sykv" in the header of the file, so that no other program's database is opened. */
const APPLICATION = 0x53796b76

/** The time to wait for another process, in milliseconds. */
const BUSY = 250

/** The expired entries that one write removes. */
const EXPIRED = 100

/** The file of a table, relative to a root. */
interface Place {
  readonly root: string
  readonly file: string
}

const SCHEMA = `
CREATE TABLE IF NOT EXISTS entries (
  space TEXT NOT NULL, key BLOB NOT NULL, kind TEXT NOT NULL, value BLOB NOT NULL, expires INTEGER, PRIMARY KEY (space, key)
);
CREATE INDEX IF NOT EXISTS expiry ON entries (expires) WHERE expires IS NOT NULL;
`

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The codes of SQLite, with the codes of the channel. Deno does not report every number, so the message is examined, too. */
const failures: ReadonlyArray<readonly [numbers: ReadonlyArray<number>, message: RegExp, code: string, retryable: boolean]> = [
  [[5, 6], /\b(?:is|table is) locked\b/, "kv/busy", true],
  [[13], /\bis full\b/, "kv/full", true],
  [[11, 26], /not a database|malformed/, "kv/damaged", false]
]

/** The failure for an error of SQLite. */
const failure = (file: string, error: unknown): Channel.ChannelError => {
  if (error instanceof Channel.ChannelError) return error
  const { errcode = 0, message } = error as { readonly errcode?: number; readonly message?: string }
  const detail = String(message ?? error)
  const known = failures.find(([numbers, pattern]) => numbers.includes(errcode & 0xff) || pattern.test(detail))
  const [, , code = "kv/failed", retryable = false] = known ?? []
  return Channel.fail(code, `the key-value table ${file} failed: ${detail}`, { retryable })
}

const open = ({ file, root }: Place): DatabaseSync => {
  const { mkdirSync } = process.getBuiltinModule("node:fs")
  const { dirname, resolve } = process.getBuiltinModule("node:path")
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  const path = resolve(root, file)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const database = new DatabaseSync(path, { timeout: BUSY })
  try {
    const [application] = Object.values(database.prepare("PRAGMA application_id").get() ?? {})
    const [tables] = Object.values(database.prepare("SELECT count(*) FROM sqlite_master").get() ?? {})
    if (application !== APPLICATION && (application !== 0 || tables !== 0)) {
      throw Channel.fail("kv/damaged", `the file ${file} is the SQLite database of another program`)
    }
    database.exec(`PRAGMA application_id = ${APPLICATION}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`)
    database.exec(SCHEMA)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** The prefix, followed by a byte that UTF-8 never has: the end of all keys with that prefix. */
const endOf = (prefix: Uint8Array): Uint8Array => Uint8Array.of(...prefix, 0xff)

/** The statements over an open file. All of them take the present time, in milliseconds. */
const over = (database: DatabaseSync, now: () => number) => {
  const get = database.prepare("SELECT kind, value FROM entries WHERE space = ? AND key = ? AND (expires IS NULL OR expires > ?)")
  const put = database.prepare("INSERT OR REPLACE INTO entries (space, key, kind, value, expires) VALUES (?, ?, ?, ?, ?)")
  const remove = database.prepare("DELETE FROM entries WHERE space = ? AND key = ?")
  const expire = database.prepare("DELETE FROM entries WHERE rowid IN (SELECT rowid FROM entries WHERE expires <= ? LIMIT ?)")
  const list = database.prepare(
    "SELECT key FROM entries WHERE space = ? AND key >= ? AND key < ? AND key > ? AND (expires IS NULL OR expires > ?) ORDER BY key LIMIT ?"
  )
  return {
    get: (space: string, key: string): StoredValue | undefined => {
      const found = get.get(space, encoder.encode(key), now())
      const row = found as { readonly kind: StoredValue["kind"]; readonly value: Uint8Array } | undefined
      return row === undefined ? undefined : { kind: row.kind, bytes: row.value }
    },
    put: (space: string, key: string, { bytes, kind, ttl }: StoredValue & { readonly ttl?: number | undefined }): void => {
      database.exec("BEGIN IMMEDIATE")
      try {
        expire.run(now(), EXPIRED)
        put.run(space, encoder.encode(key), kind, bytes, ttl === undefined ? null : now() + ttl)
        database.exec("COMMIT")
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK")
        throw error
      }
    },
    delete: (space: string, key: string): void => void remove.run(space, encoder.encode(key)),
    list: (space: string, { cursor = "", limit, prefix }: Query): Page => {
      const from = encoder.encode(prefix)
      const rows = list.all(space, from, endOf(from), encoder.encode(cursor), now(), limit + 1)
      const keys = rows.slice(0, limit).map(({ key }) => decoder.decode(key as Uint8Array))
      const last = keys.at(-1)
      return rows.length > limit && last !== undefined ? { keys, cursor: last } : { keys }
    }
  }
}

/** The table in a file, which is opened by the first request. `now` is the time in milliseconds since 1970. */
export const make = ({ now, ...place }: Place & { readonly now: () => number }): Table => {
  let opened: { readonly database: DatabaseSync; readonly table: ReturnType<typeof over> } | undefined
  const attempt = async <A>(run: (table: ReturnType<typeof over>) => A): Promise<A> => {
    try {
      if (opened === undefined) {
        const database = open(place)
        opened = { database, table: over(database, now) }
      }
      return run(opened.table)
    } catch (error) {
      throw failure(place.file, error)
    }
  }
  return {
    get: (space, key) => attempt((table) => table.get(space, key)),
    put: (space, key, value) => attempt((table) => table.put(space, key, value)),
    delete: (space, key) => attempt((table) => table.delete(space, key)),
    list: (space, query) => attempt((table) => table.list(space, query)),
    close: async () => {
      opened?.database.close()
      opened = undefined
    }
  }
}
