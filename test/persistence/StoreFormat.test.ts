import { DatabaseSync } from "node:sqlite"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { StoreFormat } from "systole"
import { beat, cell, using, write } from "../../src/main/testing/contract/Batches.ts"
import * as SqliteFolder from "./SqliteFolder.ts"

/** Runs in a folder with the file of the space `shop`. */
const inFolder = (name: string, body: (layer: ReturnType<typeof SqliteFolder.layerIn>, file: string) => Effect.Effect<void, unknown>) =>
  it.effect(name, () => Effect.suspend(() => {
    const folder = mkdtempSync(join(tmpdir(), "systole-format-"))
    return body(SqliteFolder.layerIn(folder), join(folder, "shop.sqlite"))
      .pipe(Effect.ensuring(Effect.sync(() => rmSync(folder, { recursive: true, force: true }))))
  }))

/** The tables and the format of a file. */
const schemaOf = (file: string): ReadonlyArray<unknown> => {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const tables = database.prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").all()
    return [database.prepare("SELECT format FROM meta").get()?.["format"], ...tables.map(({ sql }) => sql)]
  } finally {
    database.close()
  }
}

const long = "x".repeat(1_500_000)

const filled = using("shop", (store) => write(store, beat(0, { cells: [cell("/data/a", "1")], queued: [{ seq: 0, text: "q" }] })))

describe("The format of a SQLite store", () => {
  inFolder("stays as it is until it is raised, whatever is written", (layer, file) =>
    Effect.gen(function*() {
      yield* filled
      const before = schemaOf(file)
      yield* using("shop", (store) => write(store, beat(1, { cells: [cell("/data/a", "2")] })))
      assert.deepStrictEqual(schemaOf(file), before)
      assert.strictEqual(before[0], 10)
    }).pipe(Effect.provide(layer)))

  inFolder("is 11 from the first long text on, which each version reads", (layer, file) =>
    Effect.gen(function*() {
      yield* filled
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          yield* write(store, beat(1, { cells: [cell("/data/long", JSON.stringify(long))] }))
          assert.deepStrictEqual(store.format(), StoreFormat.settled)
        }))
      assert.strictEqual(schemaOf(file)[0], 11)
      yield* using("shop", (store) => Effect.sync(() => assert.deepStrictEqual(store.format(), StoreFormat.settled)))
    }).pipe(Effect.provide(layer)))

  inFolder("is raised from 10 with a place for long texts", (layer, file) =>
    Effect.gen(function*() {
      yield* filled
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          yield* store.raise(StoreFormat.newest)
          yield* write(store, beat(1, { cells: [cell("/data/long", JSON.stringify(long))] }))
          assert.deepStrictEqual(store.format(), StoreFormat.newest)
        }))
      assert.strictEqual(schemaOf(file)[0], 12)
      yield* using("shop", (store) => Effect.sync(() => assert.strictEqual(store.read("/data/long"), JSON.stringify(long))))
    }).pipe(Effect.provide(layer)))

  inFolder("is raised from 11 with its long texts, which are replaced and removed with their parts", (layer, file) =>
    Effect.gen(function*() {
      const texts = [JSON.stringify(long), JSON.stringify(`${long}y`)]
      yield* using("shop", (store) => write(store, beat(0, { cells: [cell("/data/a", texts[0]), cell("/data/b", texts[0])] })))
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          yield* store.raise(StoreFormat.newest)
          assert.strictEqual(store.read("/data/a"), texts[0])
          yield* write(store, beat(1, { cells: [cell("/data/a", texts[1]), cell("/data/b", undefined)] }))
        }))
      yield* using("shop", (store) =>
        Effect.sync(() => assert.deepStrictEqual([store.read("/data/a"), store.read("/data/b")], [texts[1], undefined])))
      const database = new DatabaseSync(file, { readOnly: true })
      const owners = database.prepare("SELECT DISTINCT owner FROM piece").all()
      database.close()
      assert.lengthOf(owners, 1)
    }).pipe(Effect.provide(layer)))

  inFolder("that is newer is refused by its number, and nothing is written", (layer, file) =>
    Effect.gen(function*() {
      yield* filled
      const database = new DatabaseSync(file)
      database.exec(`UPDATE meta SET format = ${StoreFormat.NEWEST + 1}; PRAGMA wal_checkpoint(TRUNCATE)`)
      database.close()
      const before = readFileSync(file)
      const error = yield* Effect.flip(using("shop", () => Effect.void))
      assert.strictEqual(error.code, "store/version")
      assert.include(error.message, `has format ${StoreFormat.NEWEST + 1}`)
      assert.include(error.message, "use that version again")
      assert.isTrue(before.equals(readFileSync(file)))
    }).pipe(Effect.provide(layer)))
})
