/**
 * Chains of a thousand steps, each a beat, over SQLite. It compares the cost of the
 * steps around the 10th with that of the steps around the 1,000th.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { defaults, Enzyme, Kernel, KernelSettings, Registry, Reactor, Scheduler } from "systole"
import sqlite from "../../plugins/sqlite.ts"
import * as HashLayer from "../support/HashLayer.ts"
import * as SystemPacemaker from "../support/SystemPacemaker.ts"
import { type Case, quantile } from "./Bench.ts"

const EARLY = 10
const LATE = 1000

/** The number of measured steps on either side, and of chains: a single step is noise. */
const AROUND = 5
const CHAINS = 100

/** The number of chains before the measured ones. */
const WARM = 20

const settings =
  { tempo: 100, pace: "demand", ledgers: true, create: "on-demand", open: 1000, boot: false, retention: {}, limits: defaults } as const

/** The start of each step of the running chain, in milliseconds. */
let began: Array<number> = []

const step = Enzyme.make({
  name: "step",
  query: "/signals/step",
  writes: ["/data/chain"],
  run: (tx, event) => {
    began.push(performance.now())
    const left = event.payload as number
    if (left === 0) tx.set("/data/chain", began.length)
    else tx.signal({ signal: "/signals/step", payload: left - 1 })
  }
})

/** The durations of the steps around `at`, in microseconds. */
const around = (at: number): ReadonlyArray<number> =>
  Array.from({ length: 2 * AROUND + 1 }, (_, i) => at - AROUND + i).map((n) => (began[n + 1]! - began[n]!) * 1000)

const measured = async (): Promise<{ readonly early: number; readonly late: number }> => {
  const folder = mkdtempSync(join(tmpdir(), "systole-chain-"))
  const layer = Kernel.layer.pipe(
    Layer.provide(sqlite.provides.persistence!({ folder, options: {} }).pipe(Layer.provide(HashLayer.layer))),
    Layer.provide(Layer.mergeAll(HashLayer.layer, SystemPacemaker.layer, Registry.layer, Scheduler.layer(), Reactor.none)),
    Layer.provide(Layer.succeed(KernelSettings, settings))
  )
  const early: Array<number> = []
  const late: Array<number> = []
  const life = Effect.gen(function*() {
    const kernel = yield* Kernel
    yield* kernel.register(step)
    const space = yield* kernel.space("chain")
    for (let chain = 0; chain < WARM + CHAINS; chain++) {
      began = []
      yield* space.signal({ signal: "/signals/step", payload: LATE + AROUND + 1 })
      yield* space.idle
      if (chain < WARM) continue
      early.push(...around(EARLY))
      late.push(...around(LATE))
    }
  })
  await Effect.runPromise(Effect.scoped(Effect.provide(life, layer)))
  rmSync(folder, { recursive: true, force: true })
  return { early: quantile(early, 0.5), late: quantile(late, 0.5) }
}

let running: Promise<{ readonly early: number; readonly late: number }> | undefined

/** Both figures come from one run of all chains. */
export const longChain: Case = {
  name: "one long chain: a step",
  unit: "µs",
  baseline: `step ${EARLY}`,
  rounds: 1,
  warm: 0,
  contenders: {
    [`step ${EARLY}`]: async () => (await (running ??= measured())).early,
    [`step ${LATE}`]: async () => (await (running ??= measured())).late
  }
}
