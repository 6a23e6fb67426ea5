/**
 * Durable runs of a thousand segments over SQLite, with their bodies in memory. It
 * compares the cost of the segments around the 10th with that of those around the
 * 1,000th.
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

/** The number of measured segments on either side, of runs, and of runs before them. */
const AROUND = 5
const RUNS = 40
const WARM = 10

const settings =
  { tempo: 100, pace: "demand", ledgers: true, create: "on-demand", open: 1000, boot: false, retention: {}, limits: defaults } as const

/** The start of each segment of the run, in milliseconds. */
let began: Array<number> = []

const sleeper = Enzyme.make({
  name: "sleeper",
  query: "/signals/sleep",
  durable: true,
  run: async (tx) => {
    for (let i = 0; i <= LATE + AROUND + 1; i++) {
      began.push(performance.now())
      tx.set("/data/run", i)
      await tx.sleep(0)
    }
  }
})

/** The durations of the segments around `at`, in microseconds. */
const around = (at: number): ReadonlyArray<number> =>
  Array.from({ length: 2 * AROUND + 1 }, (_, i) => at - AROUND + i).map((n) => ((began[n + 1] ?? 0) - (began[n] ?? 0)) * 1000)

const measured = async (): Promise<{ readonly early: number; readonly late: number }> => {
  const folder = mkdtempSync(join(tmpdir(), "systole-run-"))
  const layer = Kernel.layer.pipe(
    Layer.provide(sqlite.provides.persistence!({ folder, options: {} }).pipe(Layer.provide(HashLayer.layer))),
    Layer.provide(Layer.mergeAll(HashLayer.layer, SystemPacemaker.layer, Registry.layer, Scheduler.layer(), Reactor.none)),
    Layer.provide(Layer.succeed(KernelSettings, settings))
  )
  const early: Array<number> = []
  const late: Array<number> = []
  const life = Effect.gen(function*() {
    const kernel = yield* Kernel
    yield* kernel.register(sleeper)
    const space = yield* kernel.space("run")
    for (let run = 0; run < WARM + RUNS; run++) {
      began = []
      yield* space.handled({ signal: "/signals/sleep" })
      if (run < WARM) continue
      early.push(...around(EARLY))
      late.push(...around(LATE))
    }
  })
  await Effect.runPromise(Effect.scoped(Effect.provide(life, layer)))
  rmSync(folder, { recursive: true, force: true })
  return { early: quantile(early, 0.5), late: quantile(late, 0.5) }
}

let running: ReturnType<typeof measured> | undefined

/** Both figures come from the same runs. */
export const longRun: Case = {
  name: "one long durable run: a segment",
  unit: "µs",
  baseline: `segment ${EARLY}`,
  rounds: 1,
  warm: 0,
  contenders: {
    [`segment ${EARLY}`]: async () => (await (running ??= measured())).early,
    [`segment ${LATE}`]: async () => (await (running ??= measured())).late
  }
}
