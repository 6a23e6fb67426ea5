/**
 * Runs many beats, and prints how many bytes each of them left in the old generation of V8's heap.
 *
 * @module
 */
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { getHeapSpaceStatistics } from "node:v8"
import { Computation, defaults, Enzyme, Kernel, KernelSettings, Registry } from "systole"
import sqlite from "../../plugins/sqlite.ts"
import * as HashLayer from "../support/HashLayer.ts"
import * as SystemPacemaker from "../support/SystemPacemaker.ts"

/** Groups before anything is measured, groups that are measured, and signals of each group. */
const WARM = 1000
const MEASURED = 2000
const SIGNALS = 16

const old = (): number => getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")!.space_used_size

const count = Enzyme.make({
  name: "count",
  query: "/signals/young/count",
  bind: ["/data/young"],
  lane: "space",
  writes: ["/data/young/**"],
  run: (tx, event) => tx.set(event.target!, event.payload)
})

const sum = Computation.make({
  name: "sum",
  output: "/data/sum",
  run: (tx) => Number(tx.get("/data/young/k0#/n") ?? 0) + 1
})

const folder = mkdtempSync(join(tmpdir(), "systole-young-"))
const layer = Kernel.layer.pipe(
  Layer.provide(Layer.mergeAll(sqlite.provides.persistence!({ folder, options: {} }).pipe(Layer.provide(HashLayer.layer)), HashLayer.layer, SystemPacemaker.layer, Registry.layer)),
  Layer.provide(Layer.succeed(KernelSettings, { tempo: 100, pace: "demand", ledgers: true, create: "on-demand", boot: false, retention: {}, limits: defaults }))
)

const program = Effect.gen(function*() {
  const kernel = yield* Kernel
  yield* kernel.register(count)
  yield* kernel.register(sum)
  const space = yield* kernel.space("young")
  let sent = 0
  let left = 0
  let seen = old()
  for (let group = 0; group < WARM + MEASURED; group++) {
    for (let i = 0; i < SIGNALS; i++) {
      const n = sent++
      space.post({ signal: "/signals/young/count", target: `/data/young/k${n % 256}`, payload: { n } }, { accepted: () => {}, fail: (error) => { throw error } })
    }
    yield* space.idle
    // What a collection of the whole heap takes back does not count.
    const now = old()
    if (group >= WARM) left += Math.max(0, now - seen)
    seen = now
  }
  return Math.round(left / (MEASURED * SIGNALS))
})

console.log(await Effect.runPromise(Effect.scoped(Effect.provide(program, layer))))
rmSync(folder, { recursive: true, force: true })
