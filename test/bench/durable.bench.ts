/**
 * A durable run of ten awaited requests, answered when its receipt is durable,
 * compared with ten commits written by hand. In a run of a thousand segments, a late
 * one must cost no more than an early one, and a run of a thousand earlier reads no
 * more than one without them. A run that waits
 * costs at most 1 KiB of memory.
 */
import { bench } from "./Durable.ts"
import { earlierReads } from "./EarlierReads.ts"
import { longRun } from "./LateSteps.ts"
import * as RunMemory from "./RunMemory.ts"

/** The time for about 4,000 runs. A server compiles its hot functions meanwhile. */
const WARM = 20_000

const { cases, ...rest } = await bench({ path: "/chain?durable", concurrencies: [1, 16, 64], rounds: 3, warm: WARM, counted: "runs" })

export default {
  ...rest,
  cases: [...cases, longRun, earlierReads, RunMemory.runMemory, RunMemory.runsBack],
  close: async () => {
    RunMemory.close()
    await rest.close?.()
  }
}
