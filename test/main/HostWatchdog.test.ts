import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Reporter } from "../../src/diagnostic/Reporter.ts"
import * as HostWatchdog from "../../src/main/watchdog/HostWatchdog.ts"
import * as WatchdogFiles from "../../src/main/watchdog/WatchdogFiles.ts"

const mark = { beat: 3, enzyme: "loop", event: "2.0.0" }

describe("The files of the watchdog", () => {
  it.effect("survive a crash, and later marks apply to a reopened space", () =>
    Effect.gen(function*() {
      const data = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "systole-watch-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
      )
      const folder = WatchdogFiles.folderOf(data)
      WatchdogFiles.appendBegin(folder, "shop", 17)
      WatchdogFiles.write(folder, "shop", [mark])
      yield* Effect.scoped(Effect.gen(function*() {
        const watchdog = yield* HostWatchdog.make({ data, reporter: new Reporter(() => {}), stuckMillis: 1000, stopMillis: 1000 })
        assert.deepStrictEqual(watchdog.recordOf("shop"), { began: 17, marks: [mark] })
        assert.deepStrictEqual(watchdog.recordOf("other"), { began: undefined, marks: [] })
        watchdog.note("shop", [])
        assert.deepStrictEqual(watchdog.recordOf("shop"), { began: 17, marks: [] })
        assert.deepStrictEqual(WatchdogFiles.read(folder, "shop"), [])
        watchdog.note("shop", [mark])
        watchdog.close("shop")
        assert.deepStrictEqual(watchdog.recordOf("shop"), { began: undefined, marks: [mark] })
      }))
      assert.deepStrictEqual(WatchdogFiles.takeRecords(folder).get("shop"), { began: undefined, marks: [mark] }, "the end was clean")
      assert.isFalse(existsSync(join(folder, "begun.log")))
    }))
})
