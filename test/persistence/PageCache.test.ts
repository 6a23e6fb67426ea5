import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { Persistence } from "systole"
import { beat, cell, write } from "../../src/main/testing/contract/Batches.ts"
import * as SqliteFolder from "./SqliteFolder.ts"

/** The cache sizes of all databases opened from now on: pages, or KiB if negative. */
const cachesOf = Effect.acquireRelease(
  Effect.sync(() => {
    const { exec } = DatabaseSync.prototype
    const databases = new Set<DatabaseSync>()
    DatabaseSync.prototype.exec = function(sql) {
      databases.add(this)
      return exec.call(this, sql)
    }
    const sizes = () =>
      [...databases].filter((database) => database.isOpen).map(
        (database) => database.prepare("PRAGMA cache_size").get()!["cache_size"] as number
      )
    return { sizes, end: () => void (DatabaseSync.prototype.exec = exec) }
  }),
  ({ end }) => Effect.sync(end)
).pipe(Effect.map(({ sizes }) => sizes))

const RESTING = 8
const BUSY = -2000

const opened = (space: string) => Persistence.use((persistence) => persistence.open(space, { create: true }))

const inFolder = (name: string, body: Effect.Effect<void, unknown, Persistence | Scope.Scope>) =>
  it.effect(
    name,
    () => Effect.flatMap(SqliteFolder.folder, (folder) => Effect.provide(body, SqliteFolder.layerIn(folder))).pipe(Effect.scoped)
  )

describe("SQLite's memory for an open space", () => {
  inFolder("is little until the space is busy", Effect.gen(function*() {
    const caches = yield* cachesOf
    const resting = yield* opened("resting")
    const busy = yield* opened("busy")
    yield* write(resting, beat(0, { cells: [cell("/data/a", "1")] }))
    assert.deepStrictEqual(caches(), [RESTING, RESTING])
    for (let n = 0; n < 200; n++) yield* write(busy, beat(n, { cells: [cell("/data/a", String(n))] }))
    assert.deepStrictEqual(caches(), [RESTING, BUSY])
  }))

  inFolder("is much for 64 spaces at most, the ones that were busy last", Effect.gen(function*() {
    const caches = yield* cachesOf
    for (let i = 0; i < 70; i++) {
      const store = yield* opened(`space-${i}`)
      // One beat with many cells counts as much use as many beats.
      yield* write(store, beat(0, { cells: Array.from({ length: 300 }, (_, n) => cell(`/data/${n}`, String(n))) }))
      for (let n = 0; n < 300; n++) store.read(`/data/${n}`)
    }
    const sizes = caches()
    assert.strictEqual(sizes.filter((size) => size === BUSY).length, 64)
    assert.deepStrictEqual(sizes.slice(-6), Array(6).fill(BUSY))
  }))
})
