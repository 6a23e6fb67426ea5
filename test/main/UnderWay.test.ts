import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { defaults, Enzyme, type Transaction } from "systole"
import { TestClock } from "effect/testing"
import { TestSpace } from "systole/testing"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as GlobalGuards from "../../src/main/GlobalGuards.ts"
import { turns } from "../kernel/TestSpace.ts"
import * as Host from "../scripts/Host.ts"
import { foreign } from "../support/ForeignPromise.ts"

/** Collects garbage until so many runs are under way. */
const collected = async (until: number): Promise<number> => {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  for (let tries = 0; tries < 50 && GlobalGuards.underWay() > until; tries++) {
    collect()
    await foreign()
  }
  return GlobalGuards.underWay()
}

// Hosts differ in how a program collects its garbage.
describe.runIf(Host.current() === "node")("The number of runs under way", () => {
  const bodies: Readonly<Record<string, Enzyme.Definition["run"]>> = {
    "asynchronous functions": async (tx) => (tx as Transaction).sleep({ beats: 1000 }),
    "Effects": () => Effect.sleep(60_000)
  }
  it.each(Object.entries(bodies))("has the bodies in memory, and none that was dropped while it waited: %s", async (_, body) => {
    const waiting = Enzyme.make({ name: "waiting", query: "/signals/wait", durable: true, run: body })
    await TestSpace.use([waiting], async (space) => {
      for (let n = 0; n < 40; n++) {
        await space.signal({ signal: "/signals/wait" })
        await space.step()
      }
      assert.isAtLeast(GlobalGuards.underWay(), 4)
      assert.strictEqual(await collected(4), 4)
    }, { settings: { limits: { ...defaults, residentRuns: 4 } } })
    assert.strictEqual(await collected(0), 0)
  })

  it("has no run that exceeded its limit and awaits a promise that never settles", async () => {
    const stuck = Enzyme.make({ name: "stuck", query: "/signals/stuck", retry: { attempts: 1 }, run: () => new Promise(() => {}) })
    await TestSpace.use([stuck], async (space) => {
      await space.signal({ signal: "/signals/stuck" })
      const stepped = space.step()
      await space.run(turns())
      assert.strictEqual(GlobalGuards.underWay(), 1)
      await space.run(TestClock.adjust(1000))
      await stepped
      assert.strictEqual(await collected(0), 0)
    })
  })
})
