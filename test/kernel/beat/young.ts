/**
 * Runs many beats, and prints the bytes that each signal leaves in the old generation of V8's heap.
 *
 * @module
 */
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { getHeapSpaceStatistics } from "node:v8"
import { Computation, defaults, Enzyme, Kernel, KernelSettings, Reactor, Registry, Scheduler, Slices } from "systole"
import { unsynced } from "../../../plugins/sqlite.ts"
import * as HostPacemaker from "../../../src/main/host/HostPacemaker.ts"
import { platform } from "../../../src/main/node.ts"
import { collectV8 } from "../../../src/main/host/IdleCollector.ts"
import * as HashLayer from "../../support/HashLayer.ts"
import { present } from "../../support/Present.ts"

/** The numbers of warm-up signals, of measured signals, of concurrent signals, and of targets. */
const WARM = 16_000
const MEASURED = 32_000
const AT_ONCE = Number(process.argv[2])
const TARGETS = Number(process.argv[3])

const old = (): number => present(getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")).space_used_size

const count = Enzyme.make({
  name: "count",
  query: "/signals/young/count",
  bind: ["/data/young"],
  lane: "space",
  writes: ["/data/young/**"],
  run: (tx, event) => tx.set(present(event.target), event.payload)
})

const sum = Computation.make({
  name: "sum",
  output: "/data/sum",
  run: (tx) => Number(tx.get("/data/young/k0#/n") ?? 0) + 1
})

// Nothing waits for the disk: a sync makes no objects.
const folder = mkdtempSync(join(tmpdir(), "systole-young-"))
const turn = platform.serving?.() ?? platform.turn
const layer = Kernel.layer(Slices.all).pipe(
  Layer.provide(unsynced(0)({ folder, options: {} })),
  Layer.provide(Layer.mergeAll(HostPacemaker.layer(turn), Registry.layer, Scheduler.layer(), Reactor.none)),
  Layer.provide(HashLayer.layer),
  Layer.provide(Layer.succeed(KernelSettings, {
    tempo: 100, pace: "demand", ledgers: true, create: "on-demand", open: 1000, boot: false, retention: {}, limits: defaults
  }))
)

const program = Effect.gen(function*() {
  const kernel = yield* Kernel
  yield* kernel.register(count)
  yield* kernel.register(sum)
  const space = yield* kernel.space("young")
  let sent = 0
  let left = 0
  let seen = old()
  while (sent < WARM + MEASURED) {
    for (let i = 0; i < AT_ONCE; i++) {
      const n = sent++
      space.post(
        { signal: "/signals/young/count", target: `/data/young/k${n % TARGETS}`, payload: { n } },
        { accepted: () => {}, fail: (error) => { throw error } }
      )
    }
    yield* space.idle
    // A major collection promotes all live objects, as it does while a server is idle.
    if (sent - AT_ONCE < WARM && sent >= WARM) yield* Effect.promise(collectV8)
    // The objects that such a collection frees do not count.
    const now = old()
    if (sent > WARM) left += Math.max(0, now - seen)
    seen = now
  }
  return Math.round(left / MEASURED)
})

console.log(await Effect.runPromise(Effect.scoped(Effect.provide(program, layer))))
rmSync(folder, { recursive: true, force: true })
