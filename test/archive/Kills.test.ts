import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cpSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { node, root as project } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import * as Trials from "../support/Trials.ts"
import * as Kills from "./Kills.ts"

/** The folders that a process leaves which ends at a write: the files as they are at that moment, and those at the end. */
const left = (root: string, frame: Uint8Array) => {
  const folder = join(root, "now")
  const folders: Array<string> = []
  const keep = (): void => {
    const at = join(root, String(folders.length))
    mkdirSync(at)
    cpSync(folder, at, { recursive: true })
    folders.push(at)
  }
  mkdirSync(folder)
  return Effect.as(Kills.inFolder(folder, (kernel) => Kills.send(kernel, frame), Kills.tellingWrites(keep)), { folders, folder })
}

describe("An import whose process ends", () => {
  it.live("N33 at any write has left the whole space or none, goes on, and is removed after an hour without a part", () =>
    Effect.gen(function*() {
      const root = yield* SqliteFolder.folder
      const frame = yield* Kills.frame
      const { folder, folders } = yield* left(root, frame)
      const whole = yield* Kills.inFolder(folder, Kills.found)
      assert.isAbove(whole.length, 8)
      assert.isAbove(folders.length, 40)
      const seen = new Set<string>()
      for (const at of Trials.some(folders, { least: 6, always: [...folders.slice(0, 1), ...folders.slice(-4)] })) {
        const state = yield* Kills.inFolder(at, Kills.found)
        seen.add(typeof state === "string" ? state : "whole")
        if (typeof state !== "string") assert.deepStrictEqual(state, whole, at)
        else {
          cpSync(at, `${at}-given-up`, { recursive: true })
          yield* Kills.inFolder(at, (kernel) => Kills.send(kernel, frame))
          assert.deepStrictEqual(yield* Kills.inFolder(at, Kills.found), whole, at)
          yield* Kills.inFolder(`${at}-given-up`, (kernel) => Effect.gen(function*() {
            yield* kernel.resume
            yield* Kills.givenUp
            assert.strictEqual(yield* Kills.found(kernel), "space/unknown", at)
          }))
        }
      }
      assert.deepStrictEqual([...seen].sort(), ["space/importing", "space/unknown", "whole"])
    }).pipe(Effect.scoped))

  it.live("N33 by kill -9 of a process leaves the same", () =>
    Effect.gen(function*() {
      const root = yield* SqliteFolder.folder
      const frame = yield* Kills.frame
      const file = join(root, "home.frame")
      writeFileSync(file, frame)
      const { folder, folders } = yield* left(root, frame)
      const whole = yield* Kills.inFolder(folder, Kills.found)
      // The first writes, some in the middle, and those around the last commit.
      const last = folders.length - 1
      const writes = Trials.form({ short: [last >> 1, last - 2], long: Array.from(folders.keys()) })
      for (const write of writes) {
        const at = join(root, `killed-${write}`)
        const args = ["--import", join(project, "test/scripts/source.mjs"), join(project, "test/archive/KilledImport.ts")]
        const { code, output } = yield* Effect.promise(() => run([node(), ...args, at, file, String(write)]))
        assert.notStrictEqual(code, 0, output)
        const state = yield* Kills.inFolder(at, Kills.found)
        if (typeof state !== "string") assert.deepStrictEqual(state, whole)
        else yield* Kills.inFolder(at, (kernel) => Kills.send(kernel, frame))
        assert.deepStrictEqual(yield* Kills.inFolder(at, Kills.found), whole)
      }
    }).pipe(Effect.scoped))
})
