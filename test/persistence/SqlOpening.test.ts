import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Address, type SqlDriver, SqlStore } from "systole"
import { beat, cell, reason, using, write } from "../../src/main/testing/contract/Batches.ts"

/** The spaces of one database in memory. `before` runs before each transaction; `reads` lists the statements that were prepared. */
const memory = (before: () => void = () => {}) => {
  const database = new DatabaseSync(":memory:")
  const reads: Array<string> = []
  const driver: SqlDriver = {
    place: "memory",
    prepare: (sql) => {
      reads.push(sql)
      const statement = database.prepare(sql)
      statement.setReturnArrays(true)
      return statement as never
    },
    define: (statements) => database.exec(statements.join(";")),
    transaction: (body) => {
      before()
      database.exec("BEGIN")
      const result = body()
      database.exec("COMMIT")
      return result
    },
    due: () => 7,
    setDue: () => {},
    sync: undefined,
    close: () => {}
  }
  const layer = SqlStore.layer({
    spaces: () => [],
    remove: () => Effect.void,
    due: () => 0,
    look: (_, body) => body(driver),
    open: () => driver
  })
  return { layer, reads, database }
}

describe("The opening of a SQL store", () => {
  it.effect("reads nothing of a store that it creates, except whether there is one", () => {
    const { layer, reads } = memory()
    return using("shop", (store) =>
      Effect.sync(() => {
        const found = reads.filter((sql) => !sql.includes("sqlite_schema"))
        assert.deepStrictEqual([found, store.head(), store.epoch], [[], { beat: -1, clock: 0, hash: "" }, 0])
      })).pipe(Effect.provide(layer))
  })

  it.effect("reads nothing of a store that it created until the first commit, and then finds what that wrote", () => {
    const { layer, reads } = memory()
    const { key } = Address.parse("/data/a")
    return using("shop", (store) =>
      Effect.gen(function*() {
        const seen = () => [store.read(key), store.below("/data", { limit: 9 }), [...store.queue()], store.observations(), store.undated()]
        assert.deepStrictEqual([seen(), store.children("space", "/data")], [[undefined, [], [], [], []], []])
        assert.deepStrictEqual(reads.filter((sql) => !sql.includes("sqlite_schema")), [])
        yield* write(store, beat(0, { cells: [cell("/data/a", "1")] }))
        assert.deepStrictEqual([seen(), store.children("space", "/data")], [["1", [key], [], [], []], ["a"]])
      })).pipe(Effect.provide(layer))
  })

  it.effect("finds what another process wrote that creates the same store", () => {
    let isFirst = true
    const other = (): void => {
      if (!isFirst) return
      isFirst = false
      Effect.runSync(using("shop", (store) => write(store, beat(0), beat(1))).pipe(Effect.provide(here.layer)))
    }
    const here = memory(other)
    return using("shop", (store) =>
      Effect.gen(function*() {
        assert.deepStrictEqual([store.head().beat, store.epoch], [1, 1])
        yield* write(store, beat(2))
      })).pipe(Effect.provide(here.layer))
  })

  it.effect("takes nothing for its own that another process writes after it created the store", () => {
    const { database, layer } = memory()
    return using("shop", (store) =>
      Effect.gen(function*() {
        yield* using("shop", (other) => write(other, beat(0)))
        store.append(beat(0))
        assert.strictEqual(yield* reason(store.flush), "StaleWriter")
        assert.deepStrictEqual({ ...database.prepare("SELECT count(*) AS n FROM journal").get() }, { n: 1 })
      })).pipe(Effect.provide(layer))
  })
})
