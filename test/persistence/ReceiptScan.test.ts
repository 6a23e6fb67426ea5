import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { SqlDriver, SqlRow } from "systole"
import { beat, using, write } from "../../src/main/testing/contract/Batches.ts"
import * as SqliteFolder from "./SqliteFolder.ts"

/** A driver that notes each row that is read from a table. */
const noting = (table: string, read: (row: SqlRow) => void) => (driver: SqlDriver): SqlDriver => ({
  ...driver,
  prepare: (sql) => {
    const statement = driver.prepare(sql)
    if (!sql.includes(`FROM ${table} `)) return statement
    return {
      run: (...values) => statement.run(...values),
      get: (...values) => {
        const row = statement.get(...values)
        if (row !== undefined) read(row)
        return row
      },
      all: (...values) => {
        const rows = statement.all(...values)
        rows.forEach(read)
        return rows
      }
    }
  }
})

describe("SqlStore over node:sqlite, at the receipts after a beat", () => {
  it.effect("reads the rows that were written since, whatever their number", () =>
    Effect.scoped(Effect.gen(function*() {
      let read = 0
      const folder = yield* SqliteFolder.folder
      const noted = Effect.provide(SqliteFolder.layerIn(folder, 0, noting("caller", () => void read++)))
      yield* noted(using("shop", (store) => Effect.gen(function*() {
        for (let n = 0; n < 60; n++) {
          const receipts = Array.from({ length: 40 }, (_, i) => ({ id: `${n}.${i}`, enzyme: "", beat: n, digest: "d" }))
          yield* write(store, beat(n, { receipts }))
        }
        const pin = store.pin(-1)
        const count = (after: number): readonly [receipts: number, rows: number] => {
          read = 0
          return [[...pin.receipts(59, after)].flat().length, read]
        }
        assert.deepStrictEqual(count(-1), [60 * 40, 2 * 60])
        // Each row with such receipts is read twice, then that of the beat itself, and one that is older.
        assert.deepStrictEqual([count(57), count(59)], [[80, 6], [0, 2]])
        pin.release()
      })))
    })))
})
