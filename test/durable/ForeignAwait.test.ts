import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, type Transaction } from "systole"
import { TestReactor, TestSpace } from "systole/testing"
import { replays, through, turns } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const durable = (name: string, run: Enzyme.Definition["run"], options: Partial<Enzyme.Definition> = {}) =>
  Enzyme.make({ name, query: `/signals/${name}`, durable: true, ...options, run })

/** Promises of the host. Each call of a body gets one of its own, and `come` resolves those that there are by then. */
class HostPromises {
  private readonly made: Array<() => void> = []

  readonly next = (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.made.push(resolve)
    return promise
  }

  /** They are there, and the bodies that wait for them have gone on. */
  async come(space: TestSpace): Promise<void> {
    for (const resolve of this.made.splice(0)) resolve()
    await space.run(turns())
  }
}

/** The error of the only handling of an event. */
const errorOf = async (space: TestSpace, id: string) => (await space.receipt(id))?.handlings[0]?.error

/** The id of the only run that is not over. */
const oidOf = async (space: TestSpace): Promise<string> =>
  (await space.run(space.space.runs.list({ limit: 1 }))).runs[0]?.oid ?? ""

describe("a segment of a durable run", () => {
  it("that awaits a promise of its own is over in its beat, and leaves nothing", () => {
    const stuck = durable("stuck", async (tx: Transaction) => {
      tx.set("/data/first", 1)
      await tx.sleep(1)
      tx.set("/data/second", 2)
      await new HostPromises().next()
    })
    return TestSpace.use([stuck], async (space) => {
      const id = await space.signal({ signal: "/signals/stuck" })
      await space.step()
      const beat = await space.advance(1)
      const receipt = await space.receipt(id)
      assert.include(receipt?.handlings[0], { outcome: "dead", beat, attempt: 1 })
      const error = await errorOf(space, id)
      assert.strictEqual(error?.code, "run/foreign-await", JSON.stringify(space.facts))
      assert.include(error?.message, "tx.sleep(\"1 ms\")")
      for (const name of ["sha256", "tx.io.fetch", "tx.sleep", "tx.now"]) assert.include(error?.message, name)
      assert.strictEqual(await space.get("/data/first"), 1)
      assert.isUndefined(await space.get("/data/second"))
      await space.run(replays(space.space))
    })
  })

  it("that awaits a promise of its own before its first handle is over, too", () => {
    const early = durable("early", async (tx: Transaction) => {
      tx.set("/data/first", 1)
      // A handle that nobody awaits keeps no run going.
      void tx.sleep(1)
      await new HostPromises().next()
    })
    return TestSpace.use([early], async (space) => {
      const id = await space.signal({ signal: "/signals/early" })
      await space.step()
      assert.strictEqual((await errorOf(space, id))?.code, "run/foreign-await", JSON.stringify(space.facts))
      assert.isUndefined(await space.get("/data/first"))
      await space.run(replays(space.space))
    })
  })

  it("goes on over promises that its own work resolves", () => {
    const busy = durable("busy", async (tx: Transaction) => {
      await tx.sleep(1)
      for (let i = 0; i < 1000; i++) await Promise.resolve(i)
      tx.set("/data/busy", true)
      await tx.sleep(1)
    })
    return TestSpace.use([busy], async (space) => {
      const id = await space.signal({ signal: "/signals/busy" })
      await space.step()
      await space.advance(1)
      await space.advance(1)
      assert.strictEqual((await space.receipt(id))?.status, "handled", JSON.stringify(space.facts))
    })
  })
})

describe("a durable run that goes on outside its segments", () => {
  const racing = ({ next }: HostPromises) => durable("racing", async (tx: Transaction) => {
    tx.set("/data/first", 1)
    await tx.sleep(1)
    tx.set("/data/second", 2)
    await Promise.race([tx.sleep(5), next()])
    tx.set("/data/third", 3)
    await tx.sleep(5)
    return "over"
  })

  /** Runs the first two segments, and returns the id of the event. */
  const begun = async (space: TestSpace, signal: string): Promise<string> => {
    const id = await space.signal({ signal })
    await space.step()
    await space.advance(1)
    assert.strictEqual((await space.receipt(id))?.status, "pending")
    return id
  }

  for (const how of ["in memory", "in a space that is paused meanwhile"] as const) {
    it(`ends in its next beat, ${how}, and keeps what was durable`, () => {
      const host = new HostPromises()
      return TestSpace.use([racing(host)], async (space) => {
        const id = await begun(space, "/signals/racing")
        if (how !== "in memory") await space.run(through(space.space, space.space.control.pause()))
        await host.come(space)
        if (how !== "in memory") {
          await space.step()
          assert.strictEqual((await space.receipt(id))?.status, "pending")
          await space.run(through(space.space, space.space.control.resume()))
        }
        await space.idle()
        assert.strictEqual((await space.receipt(id))?.status, "dead", JSON.stringify(space.facts))
        const error = await errorOf(space, id)
        assert.strictEqual(error?.code, "run/foreign-await")
        assert.include(error?.message, "it called tx.set(\"/data/third\") outside a segment at test/durable/ForeignAwait.test.ts:")
        assert.include(error?.message, "step 1, which ends with tx.sleep(\"5 ms\")")
        assert.deepStrictEqual([await space.get("/data/second"), await space.get("/data/third")], [2, undefined])
        assert.lengthOf(await space.list(`/rt/ops/${await oidOf(space)}/step`), 2)
        await space.run(replays(space.space))
      })
    })
  }

  it("ends where its body awaits a handle", () => {
    const host = new HostPromises()
    const waiting = durable("racing", async (tx: Transaction) => {
      const [early, late] = [tx.sleep(10), tx.sleep(1000)]
      void late.then(() => {})
      await host.next()
      await early
    })
    return TestSpace.use([waiting], async (space) => {
      const id = await space.signal({ signal: "/signals/racing" })
      await space.step()
      await host.come(space)
      await space.idle()
      const error = await errorOf(space, id)
      assert.strictEqual(error?.code, "run/foreign-await")
      assert.include(error?.message, "it awaited a handle outside a segment")
      await space.run(replays(space.space))
    })
  })

  it("ends where its body ends", () => {
    const host = new HostPromises()
    const ending = durable("ending", async (tx: Transaction) => {
      await Promise.race([tx.sleep(5), host.next()])
    })
    return TestSpace.use([ending], async (space) => {
      const id = await space.signal({ signal: "/signals/ending" })
      await space.step()
      await host.come(space)
      await space.idle()
      const error = await errorOf(space, id)
      assert.strictEqual(error?.code, "run/foreign-await")
      assert.include(error?.message, "it ended outside a segment")
      await space.run(replays(space.space))
    })
  })

  it("ends though a request that lost a race is open for ever", () => {
    const host = new HostPromises()
    const asking = durable("asking", async (tx: Transaction) => {
      await Promise.race([tx.io.request({ channel: "bank", opcode: "ask" }), tx.sleep(1)])
      await host.next()
      tx.set("/data/asked", true)
    })
    const reactor = new TestReactor({ bank: { opcodes: { ask: { repeatable: true } } } })
    return TestSpace.use([asking], async (space) => {
      const id = await begun(space, "/signals/asking")
      await host.come(space)
      await space.idle()
      assert.strictEqual((await errorOf(space, id))?.code, "run/foreign-await", JSON.stringify(space.facts))
      await space.run(replays(space.space))
    }, { reactor: reactor.layer })
  })

  it("goes on from its log when its letter is sent again", () => {
    const host = new HostPromises()
    return TestSpace.use([racing(host)], async (space) => {
      const id = await begun(space, "/signals/racing")
      await host.come(space)
      await space.idle()
      await space.until(space.space.redeliver(id, "racing"))
      await space.advance(5)
      await space.advance(5)
      assert.strictEqual((await space.receipt(id))?.status, "handled", JSON.stringify(space.facts))
      assert.strictEqual(await space.get("/data/third"), 3)
      await space.run(replays(space.space))
    })
  })

  it("does not end if it has made another segment since, with another body", () => {
    const host = new HostPromises()
    return TestSpace.use([racing(host)], async (space) => {
      const id = await begun(space, "/signals/racing")
      await space.advance(5)
      await host.come(space)
      await space.advance(5)
      assert.strictEqual((await space.receipt(id))?.status, "handled", JSON.stringify(space.facts))
      await space.run(replays(space.space))
    }, { settings: { limits: { ...TestKernel.settings.limits, residentRuns: 0 } } })
  })
})

describe("an Effect as a durable body", () => {
  it("that awaits a promise of its own is over in its beat", () => {
    const stuck = durable("stuck", (tx) => Effect.gen(function*() {
      yield* Effect.sleep(1)
      tx.set("/data/second", 2)
      yield* Effect.promise(new HostPromises().next)
    }))
    return TestSpace.use([stuck], async (space) => {
      const id = await space.signal({ signal: "/signals/stuck" })
      await space.step()
      await space.advance(1)
      assert.strictEqual((await errorOf(space, id))?.code, "run/foreign-await", JSON.stringify(space.facts))
      assert.isUndefined(await space.get("/data/second"))
      await space.run(replays(space.space))
    }, { settings: { limits: { ...TestKernel.settings.limits, residentRuns: 0 } } })
  })
})
