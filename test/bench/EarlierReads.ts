/**
 * Segments of a durable run with a thousand earlier reads, against one with a single earlier read, over SQLite. Each
 * segment writes a cell that the first one read, in a space whose nodes derive from these cells.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { Computation, Enzyme, Kernel, type Space } from "systole"
import sqlite from "../../plugins/sqlite.ts"
import { type Case, quantile } from "./Bench.ts"
import * as BenchKernel from "./BenchKernel.ts"

const MANY = 1000

/** The number of measured segments of one execution. */
const SEGMENTS = 200

/** The measured executions, and those before them. */
const EXECUTIONS = 10
const WARM = 5

const cellOf = (i: number): string => `/data/read/${i}`

/** Notes the begin of each segment after the first. */
const reader = (note: () => void) => Enzyme.make({
  name: "reader",
  query: "/signals/read",
  durable: true,
  run: async (tx, { payload }) => {
    const reads = Number(payload)
    for (let i = 0; i < reads; i++) tx.get(cellOf(i))
    tx.get("/data/sum")
    for (let i = 0; i <= SEGMENTS; i++) {
      await tx.sleep(0)
      note()
      tx.set(cellOf(i % reads), i)
    }
  }
})

const sum = Computation.make({ name: "sum", output: "/data/sum", run: (tx) => Number(tx.get("/data/other") ?? 0) })

/** The median duration of a segment, in microseconds. */
const measured = async (reads: number): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), "systole-reads-"))
  let began: Array<number> = []
  const durations: Array<number> = []
  const execute = (space: Space) => space.handled({ signal: "/signals/read", payload: reads })
  const life = Effect.gen(function*() {
    const kernel = yield* Kernel
    yield* kernel.register(reader(() => began.push(performance.now())))
    yield* kernel.register(sum)
    const space = yield* kernel.space("reads")
    for (let n = 0; n < WARM + EXECUTIONS; n++) {
      began = []
      yield* execute(space)
      if (n < WARM) continue
      for (const [i, begin] of began.entries()) if (i > 0) durations.push((begin - (began[i - 1] ?? begin)) * 1000)
    }
  })
  await Effect.runPromise(Effect.scoped(Effect.provide(life, BenchKernel.layer(BenchKernel.stored(sqlite, folder)))))
  rmSync(folder, { recursive: true, force: true })
  return quantile(durations, 0.5)
}

/** A segment of a run with many earlier reads. */
export const earlierReads: Case = {
  name: "a segment that writes a cell read before",
  unit: "µs",
  baseline: "1 earlier read",
  rounds: 1,
  warm: 0,
  contenders: { "1 earlier read": () => measured(1), [`${MANY} earlier reads`]: () => measured(MANY) }
}
