/**
 * Prints the numbers of runs under way of each case, by name: before a collection, after it, and at the end.
 *
 * @module
 */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { defaults, Enzyme, type Transaction } from "systole"
import { TestSpace } from "systole/testing"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as GlobalGuards from "../../src/main/guard/GlobalGuards.ts"
import { turns } from "../kernel/TestSpace.ts"
import { foreign } from "../support/ForeignPromise.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

/** Collects garbage until so many runs are under way. */
const collected = async (until: number): Promise<number> => {
  for (let tries = 0; tries < 50 && GlobalGuards.underWay() > until; tries++) {
    collect()
    await foreign()
  }
  return GlobalGuards.underWay()
}

/** Forty durable runs that wait, of which four may stay in memory. */
const waiting = async (run: Enzyme.Definition["run"]) => {
  const enzyme = Enzyme.make({ name: "waiting", query: "/signals/wait", durable: true, run })
  const counts: Array<number> = []
  await TestSpace.use([enzyme], async (space) => {
    for (let n = 0; n < 40; n++) {
      await space.signal({ signal: "/signals/wait" })
      await space.step()
    }
    counts.push(GlobalGuards.underWay(), await collected(4))
  }, { settings: { limits: { ...defaults, residentRuns: 4 } } })
  return [...counts, await collected(0)]
}

/** A run that awaits a promise that never settles, until its time is over. */
const stuck = async () => {
  const enzyme = Enzyme.make({ name: "stuck", query: "/signals/stuck", retry: { attempts: 1 }, run: () => new Promise(() => {}) })
  const counts: Array<number> = []
  await TestSpace.use([enzyme], async (space) => {
    await space.signal({ signal: "/signals/stuck" })
    const stepped = space.step()
    await space.run(turns())
    counts.push(GlobalGuards.underWay())
    await space.run(TestClock.adjust(1000))
    await stepped
    counts.push(await collected(0))
  })
  return counts
}

console.log(JSON.stringify({
  functions: await waiting(async (tx) => (tx as Transaction).sleep({ beats: 1000 })),
  effects: await waiting(() => Effect.sleep(60_000)),
  stuck: await stuck()
}))
