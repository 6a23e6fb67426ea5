import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { tmpdir } from "node:os"
import { Persistence, Plugin } from "systole"
import { Reporter } from "../../src/diagnostic/Reporter.ts"
import * as Config from "../../src/loader/Config.ts"
import * as Project from "../../src/main/composition/Project.ts"
import * as Slices from "../../src/main/composition/Slices.ts"
import * as HostPacemaker from "../../src/main/host/HostPacemaker.ts"
import * as ManifestModules from "../../src/main/module/ManifestModules.ts"

const layers = {
  "is slow": Layer.effect(Persistence, Effect.never),
  "is slow, and ignores its interruption": Layer.effect(Persistence, Effect.uninterruptible(Effect.never))
}

describe("A project with a store that", () => {
  it.live.each(Object.entries(layers))("%s is refused by its name", ([, layer]) =>
    Effect.gen(function*() {
      const plugin = Plugin.make({ name: "sqlite", version: "1.0.0", provides: { persistence: () => layer } })
      const config = yield* Config.decode({ limits: { moduleMillis: 100 } })
      const refused = yield* Effect.flip(Project.open(config, {
        root: tmpdir(), slices: Slices.all, modules: ManifestModules.layer({ "systole/plugins/sqlite": { module: plugin, hash: "" } }),
        pacemaker: HostPacemaker.layer((run) => void setImmediate(run)), isOwnProcess: false, reporter: new Reporter(() => {})
      }))
      assert.strictEqual(refused.code, "config/invalid")
      assert.include(refused.message, `the persistence "sqlite" is not built within 100 ms, the limit moduleMillis`)
    }))
})
