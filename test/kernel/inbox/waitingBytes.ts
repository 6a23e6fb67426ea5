/**
 * Prints the bytes that a waiting run takes in the memory of the inbox.
 *
 * @module
 */
import process from "node:process"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { TimerQueue } from "../../../src/kernel/inbox/TimerQueue.ts"
import { WaitingRuns } from "../../../src/kernel/inbox/WaitingRuns.ts"
import { waiting } from "./WaitingRun.ts"

const COUNT = 20_000

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

/** The bytes in use after a collection. */
const used = (): number => {
  collect()
  collect()
  return process.memoryUsage().heapUsed
}

/** The bytes of a run. What is compiled meanwhile adds to the first measurement. */
const measured = (): number => {
  const runs = new WaitingRuns(new TimerQueue())
  const before = used()
  for (let n = 0; n < COUNT; n++) runs.add(waiting(n, [["/signals/answer/given", `/data/questions/${n}`, 1]]))
  const bytes = (used() - before) / COUNT
  if (runs.open !== COUNT) throw new Error(`${runs.open} runs wait`)
  return bytes
}

console.log(Math.min(measured(), measured()))
