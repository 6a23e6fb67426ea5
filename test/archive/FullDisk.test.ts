import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync } from "node:fs"
import type { SqlDriver } from "systole"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import * as Kills from "./Kills.ts"

/** A driver whose file has so many pages at most: SQLite fails as on a full disk. */
const ofPages = (pages: number) => (driver: SqlDriver): SqlDriver => {
  driver.prepare(`PRAGMA max_page_count = ${pages}`).get()
  return driver
}

/** The most pages that each import has; the last one has room for all. */
const PAGES = [1, 30, 60, 90, 120, 100_000]

describe("An import on a full disk", () => {
  it.live("is refused by name at any size, leaves no space and no file, and is whole once there is room", () =>
    Effect.scoped(Effect.gen(function*() {
      const frame = yield* Kills.frame
      const folder = yield* SqliteFolder.folder
      const states: Array<string> = []
      for (const pages of PAGES) {
        const sent = (kernel: Parameters<typeof Kills.send>[0]) => Effect.match(Kills.send(kernel, frame), {
          onFailure: ({ code, message }) => `${code} ${message}`,
          onSuccess: () => "whole"
        })
        const state = yield* Kills.inFolder(folder, sent, ofPages(pages))
        states.push(state.slice(0, "store/unavailable".length))
        if (state === "whole") break
        assert.include(state, "full", String(pages))
        yield* Kills.inFolder(folder, (kernel) => Effect.gen(function*() {
          assert.strictEqual(yield* Kills.found(kernel), "space/unknown", String(pages))
          assert.deepStrictEqual(yield* kernel.spaces, [])
        }))
        assert.deepStrictEqual(readdirSync(folder, { recursive: true }), [".made"], String(pages))
      }
      assert.deepStrictEqual([states[0], states.at(-1)], ["store/unavailable", "whole"])
      assert.isAtLeast(states.length, 4, "it fails in the middle, too")
    })))
})
