import fs, { copyFileSync, readdirSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { beat, cell, using, write } from "../../src/main/testing/contract/Batches.ts"
import { current } from "../scripts/Host.ts"
import * as SqliteFolder from "./SqliteFolder.ts"

const { linkSync } = fs

/** Lets no file get a second name; `before` are the steps of another process just before. */
const without = (code: string, before: (place: string) => void = () => {}) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      fs.linkSync = (_, place) => {
        before(String(place))
        throw Object.assign(new Error("no hard links"), { code })
      }
      syncBuiltinESMExports()
    }),
    () => Effect.sync(() => {
      fs.linkSync = linkSync
      syncBuiltinESMExports()
    })
  )

const filled = (folder: string) =>
  Effect.provide(using("shop", (store) => write(store, beat(0, { cells: [cell("/data/x", "1")] }))), SqliteFolder.layerIn(folder))

const stored = (folder: string) =>
  Effect.provide(using("shop", (store) => Effect.sync(() => store.read("/data/x"))), SqliteFolder.layerIn(folder))

// Deno and Bun bind the imports of a built-in module for good, so its functions cannot be replaced there.
describe.runIf(current() === "node")("A folder on a file system without hard links", () => {
  for (const code of ["EPERM", "ENOTSUP", "EXDEV"]) {
    it.effect(`holds spaces that are created and opened again: ${code}`, () =>
      Effect.gen(function*() {
        yield* without(code)
        const folder = yield* SqliteFolder.folder
        yield* filled(folder)
        assert.strictEqual(yield* stored(folder), "1")
        assert.deepStrictEqual(readdirSync(join(folder, ".made")).sort(), [".lock", "shop"])
      }))
  }

  it.effect("keeps the file that another process created meanwhile", () =>
    Effect.gen(function*() {
      const [first, second] = [yield* SqliteFolder.folder, yield* SqliteFolder.folder]
      yield* filled(first)
      yield* without("EPERM", (place) => copyFileSync(join(first, "shop.sqlite"), place))
      assert.strictEqual(yield* stored(second), "1")
    }))

  it.effect("reports any other failure", () =>
    Effect.gen(function*() {
      yield* without("EACCES")
      const folder = yield* SqliteFolder.folder
      const error = yield* Effect.flip(filled(folder))
      assert.include(error.message, "no hard links")
      assert.deepStrictEqual(readdirSync(join(folder, ".made")), [])
    }))
})
