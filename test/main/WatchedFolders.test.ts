import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { EventEmitter } from "node:events"
import type { FSWatcher } from "node:fs"
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { WatchedFolders } from "../../src/main/module/WatchedFolders.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(realpathSync(tmpdir()), "systole-watched-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** A host that tells no change, as over some mounts. */
const silent = (): FSWatcher => Object.assign(new EventEmitter(), { close: () => {}, ref: () => {}, unref: () => {} }) as never

describe("The folders of loaded modules", () => {
  it.effect("are looked at each minute, because the host may tell no changes", () =>
    Effect.gen(function*() {
      const folder = yield* temporary
      const file = join(folder, "a.ts")
      writeFileSync(file, "1")
      const folders = new WatchedFolders(silent)
      folders.add(folder)
      let changes = 0
      const fiber = yield* Effect.forkChild(Stream.runForEach(folders.changes, () => Effect.sync(() => changes++)), {
        startImmediately: true
      })
      const turn = Effect.promise(() => new Promise<void>((resolve) => void setImmediate(resolve)))
      const minute = Effect.andThen(TestClock.adjust("1 minute"), turn)
      for (let i = 0; i < 50; i++) yield* minute
      // The start is one, for what changed before the watch.
      assert.strictEqual(changes, 1)
      changes = 0
      // The looks of the disk take their own time, so each minute finds another size.
      for (let size = 2; changes === 0 && size < 10_000; size++) {
        writeFileSync(file, "1".repeat(size))
        yield* minute
      }
      yield* Fiber.interrupt(fiber)
      assert.isAbove(changes, 0)
    }))
})
