import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { join } from "node:path"
import { Kernel, replay } from "systole"
import { CellAgent } from "systole/plugins/agent"
import { KernelSettings } from "../../src/kernel/model/Limits.ts"
import { ModuleHost } from "../../src/loader/ModuleHost.ts"
import * as Loader from "../../src/loader/Loader.ts"
import * as Restored from "../../src/loader/Restored.ts"
import * as HostHash from "../../src/main/host/HostHash.ts"
import * as HostModules from "../../src/main/module/HostModules.ts"
import { action, fileOf } from "../agent/TestAgent.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** The bundle of a project's module as version 0.1.0 made it: that version exported the agent as `systole`. */
const TEXT = `// enzymes/agent.ts
import { ActionMembers, ActionType as Types, CellAgent, Enzyme } from "systole-import:systole";
var ping = Types.make({ type: "ping", run: async (order) => ({ result: "ping " + typeof ActionMembers }) });
var told = Enzyme.make({ name: "told", query: "/signals/told", run: (tx) => tx.set("/data/told", CellAgent.SAVE) });
var agent_default = [ping, told, ...CellAgent.enzymes(["ping"])];
export {
  agent_default as default
};
`

const HASH = createHash("sha256").update(TEXT).digest("hex")
const CELL = "/data/agent/files/heartbeat.md"

type Provided = Layer.Success<ReturnType<typeof TestKernel.layer>> | ModuleHost

/** A runtime over the store of a folder. */
const life = <A, E>(root: string, effect: Effect.Effect<A, E, Provided>) =>
  Effect.provide(effect, Layer.fresh(
    TestKernel.layer({}, SqliteFolder.layerIn(join(root, "data"))).pipe(
      Layer.provide(Layer.provide(Restored.layer, Layer.succeed(KernelSettings, TestKernel.settings))),
      Layer.provideMerge(HostModules.layer(root).pipe(Layer.provide(HostHash.layer)))
    )
  ))

const space = Effect.flatMap(Kernel, (kernel) => kernel.space("test", { create: true }))

describe("A store of a project whose module has the agent from where an earlier version had it", () => {
  it.live("replays with that module, also where the project has it no longer", () =>
    Effect.gen(function*() {
      const root = yield* SqliteFolder.folder
      yield* life(root, Effect.gen(function*() {
        const kernel = yield* Kernel
        const { enzymes } = yield* Effect.fromResult(Loader.decode(yield* ModuleHost.use((host) => host.restore(HASH, TEXT))))
        for (const { enzyme } of enzymes) yield* kernel.register(enzyme, { hash: HASH, text: TEXT })
        const opened = yield* space
        const text = fileOf(action("pinged", { type: "ping", status: "pending" }))
        yield* opened.signal({ signal: CellAgent.SAVE, target: CELL, payload: { text } })
        yield* opened.signal({ signal: "/signals/told" })
        for (let beat = 0; beat < 12; beat++) yield* opened.step
        assert.strictEqual(yield* opened.get("/data/told"), CellAgent.SAVE)
        const records = (yield* opened.below("/data/agent", { limit: 100 })).filter((cell) => cell.endsWith("/actions/pinged"))
        assert.include(JSON.stringify(yield* opened.get(records[0] ?? "/data/none")), "ping object")
      }))
      yield* life(root, Effect.gen(function*() {
        const opened = yield* space
        const { beats, changed, difference, impossible } = yield* opened.examine((history) => replay(history, undefined, Infinity))
        assert.deepStrictEqual([beats > 2, changed, difference, impossible], [true, [], undefined, undefined])
      }))
    }))
})
