/**
 * Late steps of long work over SQLite, against early ones: a chain of a thousand
 * signals, each handled in a beat, and a durable run of a thousand segments with
 * its body in memory. It compares the steps around the 10th with those around the
 * 1,000th.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { Enzyme, Kernel, type Space } from "systole"
import sqlite from "../../plugins/sqlite.ts"
import { type Case, quantile } from "./Bench.ts"
import * as BenchKernel from "./BenchKernel.ts"

const EARLY = 10
const LATE = 1000

/** The number of measured steps on either side: a single step is noise. */
const AROUND = 5

/** The number of steps of one execution. */
const STEPS = LATE + AROUND + 1

/** The work of which a step is measured. */
interface Work {
  /** Its name, and that of a step. */
  readonly name: string
  readonly step: string
  /** The measured executions, and those before them. */
  readonly executions: number
  readonly warm: number
  /** The enzyme, which notes the begin of each step. */
  readonly enzyme: (note: () => void) => Enzyme.Enzyme
  readonly execute: (space: Space) => Effect.Effect<unknown, unknown>
}

/** The median durations of early and late steps, in microseconds. */
interface Measured {
  readonly early: number
  readonly late: number
}

const measured = async ({ enzyme, execute, executions, warm }: Work): Promise<Measured> => {
  const folder = mkdtempSync(join(tmpdir(), "systole-late-"))
  let began: Array<number> = []
  const around = (at: number): ReadonlyArray<number> =>
    Array.from({ length: 2 * AROUND + 1 }, (_, i) => at - AROUND + i).map((n) => ((began[n + 1] ?? 0) - (began[n] ?? 0)) * 1000)
  const early: Array<number> = []
  const late: Array<number> = []
  const life = Effect.gen(function*() {
    const kernel = yield* Kernel
    yield* kernel.register(enzyme(() => began.push(performance.now())))
    const space = yield* kernel.space("late")
    for (let n = 0; n < warm + executions; n++) {
      began = []
      yield* execute(space)
      if (n < warm) continue
      early.push(...around(EARLY))
      late.push(...around(LATE))
    }
  })
  await Effect.runPromise(Effect.scoped(Effect.provide(life, BenchKernel.layer(BenchKernel.stored(sqlite, folder)))))
  rmSync(folder, { recursive: true, force: true })
  return { early: quantile(early, 0.5), late: quantile(late, 0.5) }
}

/** Both figures come from the same executions. */
const caseOf = (work: Work): Case => {
  let running: Promise<Measured> | undefined
  return {
    name: `${work.name}: a ${work.step}`,
    unit: "µs",
    baseline: `${work.step} ${EARLY}`,
    rounds: 1,
    warm: 0,
    contenders: {
      [`${work.step} ${EARLY}`]: async () => (await (running ??= measured(work))).early,
      [`${work.step} ${LATE}`]: async () => (await (running ??= measured(work))).late
    }
  }
}

/** A chain of signals, each handled in a beat of its own. */
export const longChain: Case = caseOf({
  name: "one long chain",
  step: "step",
  executions: 100,
  warm: 20,
  enzyme: (note) =>
    Enzyme.make({
      name: "step",
      query: "/signals/step",
      writes: ["/data/chain"],
      run: (tx, { payload }) => {
        note()
        const left = payload as number
        if (left === 0) tx.set("/data/chain", "over")
        else tx.signal({ signal: "/signals/step", payload: left - 1 })
      }
    }),
  execute: (space) => Effect.andThen(space.signal({ signal: "/signals/step", payload: STEPS }), space.idle)
})

/** A durable run of segments. */
export const longRun: Case = caseOf({
  name: "one long durable run",
  step: "segment",
  executions: 40,
  warm: 10,
  enzyme: (note) =>
    Enzyme.make({
      name: "sleeper",
      query: "/signals/sleep",
      durable: true,
      run: async (tx) => {
        for (let i = 0; i <= STEPS; i++) {
          note()
          tx.set("/data/run", i)
          await tx.sleep(0)
        }
      }
    }),
  execute: (space) => space.handled({ signal: "/signals/sleep" })
})
