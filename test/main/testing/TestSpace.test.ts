import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Computation, Enzyme, Retry } from "systole"
import { expectCell, expectReceipt, expectSignal, TestSpace } from "systole/testing"

const count = Enzyme.make({ name: "count", query: "/signals/count", run: (tx) => tx.increment("/data/count") })

const double = Computation.make({ name: "double", output: "/data/double", run: (tx) => 2 * Number(tx.get("/data/count") ?? 0) })

/** Passes its payload on, a minute later. */
const relay = Enzyme.make({
  name: "relay",
  query: "/signals/relay",
  run: (tx, { payload }) => void tx.signal({ signal: "/signals/count", payload, at: { ms: 60_000 } })
})

const failure = (work: Promise<unknown>): Promise<string> => work.then(() => "", (error: Error) => error.message)

describe("TestSpace", () => {
  it("runs the beats of a signal and answers its receipt", () =>
    TestSpace.use([count], async (space) => {
      const receipt = await space.handled({ signal: "/signals/count" })
      expectReceipt(receipt, { handlings: { count: { outcome: "ok", attempt: 1 } } })
      await expectCell(space, "/data/count", 1)
      assert.deepStrictEqual(await space.receipt(receipt.id), receipt)
    }))

  it("brings a derived cell up to date", () =>
    TestSpace.use([count, double], async (space) => {
      await space.handled({ signal: "/signals/count" })
      assert.isUndefined(await space.get("/data/double"))
      await expectCell(space, "/data/double", 2)
      assert.strictEqual(await space.get("/data/double"), 2)
    }))

  it("sends the events of a schedule when the test moves the time", () => {
    const looks = Enzyme.make({ name: "look", query: "/signals/look", schedule: { every: "5m" }, run: (tx) => tx.increment("/data/looks") })
    return TestSpace.use([looks], async (space) => {
      await space.idle()
      await space.advance(299_999)
      await space.idle()
      await expectCell(space, "/data/looks", undefined)
      await space.advance(1)
      await space.idle()
      await expectCell(space, "/data/looks", 1)
    })
  })

  it("keeps time still until the test moves it", () =>
    TestSpace.use([count, relay], async (space) => {
      await space.handled({ signal: "/signals/relay", payload: { n: 1 } })
      await space.idle()
      await space.advance(59_999)
      await expectCell(space, "/data/count", undefined)
      await space.advance(1)
      await expectCell(space, "/data/count", 1)
    }))

  it("tells the signals that runs sent, with their payloads", () =>
    TestSpace.use([relay], async (space) => {
      await space.signal({ signal: "/signals/count", at: { ms: 5000 } })
      await space.step()
      expectSignal(space, { times: 0 })
      await space.handled({ signal: "/signals/relay", payload: { n: 1 } })
      const [sent] = expectSignal(space, { signal: "/signals/count", payload: { n: 1 }, times: 1 })
      assert.deepInclude(sent, { beat: 1, payload: { n: 1 }, space: undefined })
    }))

  it("runs as many beats as attempts need", () => {
    const flaky = Enzyme.make({
      name: "flaky",
      query: "/signals/flaky",
      run: (_, { attempt }) => attempt < 4 ? new Retry({ reason: "not yet" }) : attempt
    })
    return TestSpace.use([flaky], async (space) => {
      expectReceipt(await space.handled({ signal: "/signals/flaky" }), { value: 4 })
      assert.isAbove(await space.step(), 4)
    })
  })

  it("says what waits where a handling is not over in its beats", () =>
    TestSpace.use([count], async (space) => {
      const message = await failure(space.handled({ signal: "/signals/count", at: { ms: 5000 } }))
      assert.match(message, /^the signal \/signals\/count is not over after 1000 beats\./)
      assert.match(message, /These wait: \S+ on \/signals\/count \(delayed, due at 5000 ms\)/)
    }))

  it("names a run whose own promise never settles, for each way to run beats", async () => {
    const shape = { name: "hangs", query: "/signals/hangs", limitMs: 10 }
    const hangs = Enzyme.make({ ...shape, run: () => new Promise(() => {}) })
    const effect = Enzyme.make({ ...shape, run: () => Effect.never })
    const ways: ReadonlyArray<(space: TestSpace) => Promise<unknown>> = [
      async (space) => {
        await space.signal({ signal: "/signals/hangs" })
        await space.step()
      },
      (space) => space.handled({ signal: "/signals/hangs" })
    ]
    for (const enzyme of [hangs, effect]) {
      for (const way of ways) {
        const message = await failure(TestSpace.use([enzyme], async (space) => void await way(space)))
        assert.match(message, /^A run of "hangs" awaits a promise of its own that has not settled for 30 ms\./)
        assert.include(message, "Its limit of 10 ms is on the clock of the test")
      }
    }
  })

  it("lets a run await a promise that settles, and end by its limit where the test moves the clock", async () => {
    const settles = Enzyme.make({ name: "settles", query: "/signals/settles", run: async () => {
      await new Promise<void>((resolve) => void queueMicrotask(resolve))
      return "settled"
    } })
    const hangs = Enzyme.make({ name: "hangs", query: "/signals/hangs", retry: { attempts: 1 }, run: () => new Promise(() => {}) })
    await TestSpace.use([settles, hangs], async (space) => {
      assert.strictEqual((await space.handled({ signal: "/signals/settles" })).handlings[0]?.value, "settled")
      const id = await space.signal({ signal: "/signals/hangs" })
      const beat = space.step()
      await space.run(TestClock.adjust(1000))
      await beat
      assert.strictEqual((await space.receipt(id))?.handlings[0]?.error?.code, "run/timeout")
    })
  })

  it("answers what else is asked of the space", () =>
    TestSpace.use([count], async (space) => {
      assert.strictEqual(await space.until(space.space.set("/data/count", 41)), 0)
      await space.handled({ signal: "/signals/count" })
      assert.deepStrictEqual([await space.pull("/data/count"), await space.list("/data")], [42, ["count"]])
    }))

  it("shares nothing with another space", async () => {
    for (let i = 0; i < 2; i++) {
      await TestSpace.use([count], async (space) => {
        await space.handled({ signal: "/signals/count" })
        await expectCell(space, "/data/count", 1)
      })
    }
  })

  it("rejects with the failure of the body, and where a module is refused", async () => {
    assert.strictEqual(await failure(TestSpace.use([], () => Promise.reject(new Error("of the body")))), "of the body")
    assert.match(await failure(TestSpace.use([count, { ...count, query: "no path" }], () => {})), /no path|count/)
  })

  it("rejects where a node makes something else in its second run, unless the test expects it", async () => {
    let drawn = 0
    const draws = Computation.make({ name: "draws", output: "/data/drawn", run: () => drawn++ })
    const pulled = (unstable: ReadonlyArray<string>) =>
      TestSpace.use([draws], async (space) => void await space.pull("/data/drawn"), { unstable })
    assert.match(await failure(pulled([])), /\["draws \/data\/drawn"\]; the test expects \[\]$/)
    await pulled(["draws /data/drawn"])
  })
})
