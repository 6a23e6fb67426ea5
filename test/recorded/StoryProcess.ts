/**
 * One process over the stores of a story.
 *
 * @module
 */
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { Hash, Kernel, SystemGrants } from "systole"
import { TestReactor } from "systole/testing"
import * as Loader from "../../src/loader/Loader.ts"
import * as Restored from "../../src/loader/Restored.ts"
import type { ModuleHost } from "../../src/loader/ModuleHost.ts"
import * as HostHash from "../../src/main/host/HostHash.ts"
import * as HostModules from "../../src/main/module/HostModules.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import * as TestKernel from "../support/TestKernel.ts"
import "../support/Bundler.ts"
import type { Stage, Story } from "./Story.ts"

/** The folder of the stores, below the root of a project. */
export const data = (root: string): string => join(root, "data")

/** The services of a process: the services of a story, and the hash. */
export interface Process extends Stage {
  readonly hash: Hash["Service"]
}

/** The folder of the modules of a story. */
const sources: Loader.Sources = { enzymes: ["enzymes"], plugins: [], required: [], millis: 10_000 }

const none: Loader.LoadedModules = { enzymes: [], nodes: [], plugins: [], broken: [], disabled: [] }

/** Runs a process with the story's modules over the stores below `root`, until the effect ends. */
export const live = <A, E>(story: Story, root: string, run: (process: Process) => Effect.Effect<A, E>): Effect.Effect<A, unknown> => {
  const reactor = new TestReactor(story.channels)
  return Effect.gen(function*() {
    const [kernel, hash] = [yield* Kernel, yield* Hash]
    for (const module of [...story.enzymes, ...story.nodes]) yield* kernel.register(module)
    let found = none
    const context = yield* Effect.context<Kernel | ModuleHost>()
    const reload = Effect.suspend(() => Loader.reload(found, sources))
    const load = Effect.provideContext(Effect.map(reload, (now) => void (found = now)), context)
    return yield* run({ kernel, hash, root, load, reactor })
  }).pipe(
    Effect.provide(Layer.fresh(
      TestKernel.layer(story.settings, SqliteFolder.layerIn(data(root)), { reactor: reactor.layer }).pipe(
        Layer.provide([Restored.layer, Layer.succeed(SystemGrants, new Set(story.grants))]),
        Layer.provideMerge(HostModules.layer(root).pipe(Layer.provide(HostHash.layer)))
      )
    ))
  )
}
