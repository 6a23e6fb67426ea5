/**
 * The storage of an object over a database in memory, for the host of a space outside its platform.
 *
 * @module
 */
import { DatabaseSync } from "node:sqlite"
import type { Storage } from "../../src/main/workers/Platform.ts"

type Row = ReadonlyArray<string | number | ArrayBuffer | null>

/** The storage, its alarm, and the values beside its database. */
export interface MemoryObject {
  readonly storage: Storage
  readonly alarm: () => number | null
  readonly values: ReadonlyMap<string, unknown>
}

export const make = (): MemoryObject => {
  let database = new DatabaseSync(":memory:")
  let alarm: number | null = null
  const values = new Map<string, unknown>()
  const rowsOf = (query: string, given: ReadonlyArray<string | number | Uint8Array | null>): ReadonlyArray<Row> => {
    const statement = database.prepare(query)
    statement.setReturnArrays(true)
    const rows = statement.all(...given) as unknown as ReadonlyArray<ReadonlyArray<string | number | Uint8Array | null>>
    return rows.map((row) => row.map((value) => value instanceof Uint8Array ? value.slice().buffer : value))
  }
  const storage: Storage = {
    sql: {
      databaseSize: 0,
      exec: (query, ...given) => {
        // Only a list of definitions has several statements.
        if (query.includes(";\n")) database.exec(query)
        const rows = query.includes(";\n") ? [] : rowsOf(query, given as ReadonlyArray<string | number | Uint8Array | null>)
        return { raw: () => ({ toArray: () => rows }) }
      }
    },
    transactionSync: (body) => {
      database.exec("BEGIN")
      try {
        const result = body()
        database.exec("COMMIT")
        return result
      } catch (failure) {
        database.exec("ROLLBACK")
        throw failure
      }
    },
    getAlarm: async () => alarm,
    setAlarm: async (moment) => {
      alarm = Number(moment)
    },
    deleteAlarm: async () => {
      alarm = null
    },
    deleteAll: async () => {
      database = new DatabaseSync(":memory:")
      values.clear()
    },
    get: async (key: string) => values.get(key) as never,
    put: async (key: string, value: unknown) => void values.set(key, value),
    delete: async (key: string) => values.delete(key),
    sync: async () => {}
  }
  return { storage, alarm: () => alarm, values }
}
