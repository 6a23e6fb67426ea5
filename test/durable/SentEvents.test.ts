import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme, Retry, type Event, type Space, type Transaction } from "systole"
import { TestSpace } from "systole/testing"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { begun, replays, steps, through } from "../kernel/TestSpace.ts"

/** A durable enzyme for the signals of its name. */
const durable = (name: string, run: (tx: Transaction, event: Event) => unknown, options: Partial<Enzyme.Definition> = {}) =>
  Enzyme.make({ name, query: `/signals/${name}`, durable: true, ...options, run })

const plain = (name: string, run: (tx: Transaction, event: Event) => unknown, options: Partial<Enzyme.Definition> = {}) =>
  Enzyme.make({ name, query: `/signals/${name}`, ...options, run })

/** Sends the signal that it is told, waits for its end, and returns that. */
const parent = durable("parent", async (tx, { payload }) => {
  const end = await tx.waitForEvent(tx.signal(payload as { readonly signal: string }))
  tx.set("/data/end", end)
  return end
})

/** Asks the run to send a signal. */
const asking = (signal: string, rest: object = {}) => ({ signal: "/signals/parent", payload: { signal, payload: 1, ...rest } })

/** The part of an end that is the same in each space. */
const endOf = (end: unknown) => {
  const { beat: _, id: __, ...rest } = (end ?? {}) as Readonly<{ [name: string]: unknown }>
  return rest
}

const end = (space: Space) => Effect.map(space.get("/data/end"), endOf)

const failing = plain("failing", () => {
  throw new RangeError("never")
})

describe("a run that waits for the end of an event", () => {
  it("is told once all its handlings are over", () => {
    const quick = plain("work", (tx) => tx.set("/data/quick", true))
    const slow = plain("slow", (_, { attempt }) => {
      if (attempt < 4) throw new Retry({ reason: "not yet" })
    }, { query: "/signals/work" })
    // Its attempts share no beat with those of the other one, so a replay of one beat does not know of both.
    const slower = durable("slower", (tx) => tx.sleep(100_000), { query: "/signals/work" })
    return TestSpace.use([parent, quick, slow, slower], async (space) => {
      const id = await space.signal(asking("/signals/work"))
      await space.step(4)
      assert.strictEqual((await space.receipt(id))?.status, "pending")
      await space.advance(60_000)
      await space.step(10)
      assert.isUndefined(await space.get("/data/end"), "one of them goes on")
      await space.advance(60_000)
      await space.step(40)
      assert.deepStrictEqual(await space.run(end(space.space)), { status: "handled" })
      assert.strictEqual((await space.receipt(id))?.status, "handled")
      await space.run(replays(space.space))
    })
  })

  it("is told of the first handling that is given up, with its code", () => {
    const endless = plain("endless", () => {
      throw new Retry({ reason: "not yet" })
    }, { query: "/signals/failing", retry: { attempts: 1000 } })
    return TestSpace.use([parent, failing, endless], async (space) => {
      await space.signal(asking("/signals/failing"))
      await space.step(4)
      const dead = { status: "dead", enzyme: "failing", tag: "RangeError", code: "run/failed" }
      assert.deepStrictEqual(await space.run(end(space.space)), dead)
      await space.run(replays(space.space))
    })
  })

  it("is told that nothing takes it, and that a circle of enzymes does not", () => {
    const circle = ["a", "b"].map((name) =>
      plain(name, () => {}, { query: "/signals/circle", before: [name === "a" ? "b" : "a"] }))
    return TestSpace.use([parent, ...circle], async (space) => {
      for (const [signal, status] of [["/signals/nobody", "no-match"], ["/signals/circle", "cycle"]] as const) {
        await space.signal(asking(signal))
        await space.step(4)
        assert.deepStrictEqual(await space.run(end(space.space)), { status }, JSON.stringify(space.facts))
      }
      await space.run(replays(space.space))
    })
  })

  it("waits for a delayed event, and for a durable run to its end", () => {
    const child = durable("child", async (tx) => {
      await tx.sleep(50)
      return "done"
    })
    return TestSpace.use([parent, child], async (space) => {
      const id = await space.signal(asking("/signals/child", { at: { ms: 100 } }))
      await space.step(3)
      await space.advance(100)
      await space.step(3)
      assert.strictEqual((await space.receipt(id))?.status, "pending")
      await space.advance(50)
      await space.step(4)
      assert.deepStrictEqual(await space.run(end(space.space)), { status: "handled" })
      await space.run(replays(space.space))
    })
  })

  it("keeps an end that comes during an earlier await, also one without a payload", () => {
    const early = durable("early", async (tx) => {
      const pending = tx.waitForEvent(tx.signal({ signal: "/signals/quick" }))
      const other = tx.waitForEvent(tx.signal({ signal: "/signals/quick" }))
      await tx.sleep(1000)
      return [await pending, await other].map(endOf)
    })
    let runs = 0
    return TestSpace.use([early, plain("quick", () => void runs++)], async (space) => {
      const id = await space.signal({ signal: "/signals/early" })
      await space.step(3)
      await space.advance(1000)
      await space.step(3)
      assert.deepStrictEqual((await space.receipt(id))?.handlings[0]?.value, [{ status: "handled" }, { status: "handled" }])
      assert.strictEqual(runs, 2, "two events, and no impulse that coalesces")
      await space.run(replays(space.space))
    })
  })

  it("hears a run that heard the signal as its handling", () => {
    const hearer = durable("hearer", async (tx) => (await tx.waitForSignal("/signals/told", "/data/place")).payload,
      { hears: [{ signal: "/signals/told", target: "/data/place" }] })
    return TestSpace.use([parent, hearer], async (space) => {
      await space.signal({ signal: "/signals/hearer" })
      await space.step()
      await space.signal(asking("/signals/told", { target: "/data/place" }))
      await space.step(4)
      assert.deepStrictEqual(await space.run(end(space.space)), { status: "handled" })
      await space.run(replays(space.space))
    })
  })

  it("races it with a time, and cancels the wait", () => {
    const hasty = durable("hasty", async (tx) => {
      const pending = tx.waitForEvent(tx.signal({ signal: "/signals/work", payload: 1, at: { ms: 10_000 } }))
      const late = await Promise.race([pending, tx.sleep(100).then(() => "late")])
      return [late, pending.cancel(), await pending.catch(({ code, message }) => [code, message])]
    })
    return TestSpace.use([hasty, plain("work", () => {})], async (space) => {
      const id = await space.signal({ signal: "/signals/hasty" })
      await space.step(2)
      await space.advance(100)
      await space.step(2)
      const told = "The run cancelled its own wait, tx.waitForEvent. Await what it needs, or catch this error"
      assert.deepStrictEqual((await space.receipt(id))?.handlings[0]?.value, ["late", true, ["run/wait-cancelled", told]])
      await space.advance(10_000)
      await space.step(3)
      await space.run(replays(space.space))
    })
  })

  it("shows in the list of runs, and in the reason of a value", () => TestSpace.use([parent], async (space) => {
    const { id } = await space.run(space.space.signal(asking("/signals/nobody", { at: { ms: 1000 } })))
    await space.step(2)
    const { runs: [run] } = await space.run(space.space.runs.list({ limit: 10 }))
    assert.match(run?.awaits?.[0]?.object ?? "", /^event \d+\.\d+\.\d+$/)
    await space.advance(1000)
    await space.step(4)
    assert.strictEqual((await space.receipt(id))?.status, "handled")
  }))
})

describe("a wait for an event of which the run would not be told", () => {
  const refusal = async (name: string, run: (tx: Transaction) => unknown) => {
    let found = ""
    await TestSpace.use([durable(name, run)], async (space) => {
      const id = await space.signal({ signal: `/signals/${name}` })
      await space.step(2)
      await space.advance(10)
      await space.step(3)
      await space.run(replays(space.space))
      const { code, message } = (await space.receipt(id))?.handlings[0]?.error ?? {}
      found = `${code}: ${message}`
    })
    return found
  }

  it("is refused with the remedy", async () => {
    const late = await refusal("late", async (tx) => {
      const id = tx.signal({ signal: "/signals/x", payload: 1 })
      await tx.sleep(10)
      await tx.waitForEvent(id)
    })
    assert.match(late, /^run\/event-unsent: The run cannot wait for the end of event \S+: the run did not send it since its last await/)
    assert.include(late, "Call tx.waitForEvent once, with the id that tx.signal returned, before the next await")
    const foreign = await refusal("foreign", (tx) => tx.waitForEvent(tx.signal({ signal: "/signals/x", payload: 1, space: "other" })))
    assert.include(foreign, "it goes to the space other, which keeps its receipt")
    const twice = await refusal("twice", (tx) => {
      const id = tx.signal({ signal: "/signals/x", payload: 1 })
      return Promise.all([tx.waitForEvent(id), tx.waitForEvent(id)])
    })
    assert.include(twice, "the run waits for it already")
    assert.include(await refusal("odd", (tx) => tx.waitForEvent("x.1.1")), "the run did not send it")
  })

  it("is refused in a run that cannot wait", () => TestSpace.use([plain("parent", (tx) => tx.waitForEvent("1.0.1"))], async (space) => {
    const receipt = await space.handled({ signal: "/signals/parent" })
    assert.include(receipt.handlings[0]?.error?.message, "only a durable run waits; declare durable: true")
  }))
})

/** The work that fails until its permit is there. */
const work = plain("work", (tx) => {
  if (tx.get("/data/permit") === undefined) throw new Retry({ reason: "no permit" })
}, { retry: { attempts: 1000 } })

describe("the end of an awaited event", () => {
  it.effect("comes once, wherever the process ended", () => Effect.gen(function*() {
    const other = plain("other", () => {}, { query: "/signals/work" })
    for (let cut = 0; cut < 10; cut++) {
      const machine = yield* RestartableKernel.make([parent, work, other])
      let space = yield* (yield* machine.boot()).space("test")
      const { id } = yield* space.signal(asking("/signals/work"))
      for (let step = 0; step < 12; step++) {
        if (step === cut) space = yield* (yield* machine.boot()).space("test")
        if (step === 4) yield* space.signal({ signal: "/signals/permit" })
        if (step === 4) yield* space.set("/data/permit", true).pipe((set) => begun(space, set))
        yield* TestClock.adjust(1000)
        yield* space.step
      }
      yield* TestClock.adjust(60_000)
      yield* steps(space, 4)
      assert.deepStrictEqual(yield* end(space), { status: "handled" }, `cut ${cut}`)
      const receipt = yield* space.receipt(id)
      assert.deepStrictEqual([receipt?.status, receipt?.handlings[0]?.segments], ["handled", 2], `cut ${cut}`)
      yield* replays(space)
    }
  }))
  it.effect("comes after a rollback to its wait, and once for an event that the rollback drops", () => Effect.gen(function*() {
    const lasting = durable("parent", async (tx, { payload }) => {
      tx.set("/data/end", await tx.waitForEvent(tx.signal(payload as { readonly signal: string })))
      await tx.sleep(1_000_000)
    })
    for (const qos of ["retain", "discard"] as const) {
      const machine = yield* RestartableKernel.make([lasting, plain("work", () => {})])
      const space = yield* (yield* machine.boot()).space("test")
      yield* space.signal(asking("/signals/work", { at: { ms: 100 }, qos }))
      const horizon = yield* steps(space, 2)
      if (qos === "retain") yield* Effect.andThen(TestClock.adjust(100), steps(space, 3))
      assert.deepStrictEqual(yield* end(space), qos === "retain" ? { status: "handled" } : {})
      yield* through(space, space.control.pause())
      yield* through(space, space.control.rollback(horizon))
      assert.deepStrictEqual(yield* end(space), {})
      yield* through(space, space.control.resume())
      yield* steps(space, 4)
      assert.deepStrictEqual(yield* end(space), { status: qos === "retain" ? "handled" : "discarded" })
      yield* replays(space)
    }
  }))

  it.effect("waits for an enzyme that is left out, and for a pause", () => Effect.gen(function*() {
    const machine = yield* RestartableKernel.make([parent])
    const kernel = yield* machine.boot()
    yield* kernel.leaveOut(plain("work", () => {}))
    const space = yield* kernel.space("test")
    yield* space.signal(asking("/signals/work"))
    yield* steps(space, 3)
    assert.deepStrictEqual((yield* space.runs.list({ limit: 10 })).runs.map(({ state }) => state), ["waiting"])
    yield* through(space, space.control.pause())
    yield* kernel.register(plain("work", () => {}))
    yield* steps(space, 3)
    assert.deepStrictEqual(yield* end(space), {})
    yield* through(space, space.control.resume())
    yield* steps(space, 4)
    assert.deepStrictEqual(yield* end(space), { status: "handled" })
    yield* replays(space)
  }))

  it.effect("leaves a run that is over as it is, and is told to one that was given up and goes on", () => Effect.gen(function*() {
    const short = durable("short", async (tx) => {
      void tx.waitForEvent(tx.signal({ signal: "/signals/work", payload: 1, at: { ms: 10 } }))
      await tx.sleep(1)
    })
    const broken = durable("broken", async (tx) => {
      const pending = tx.waitForEvent(tx.signal({ signal: "/signals/work", payload: 1, at: { ms: 10 } }))
      await tx.sleep(1)
      if (tx.get("/data/permit") === undefined) throw new RangeError("no permit")
      return endOf(await pending)
    })
    const machine = yield* RestartableKernel.make([short, broken, plain("work", () => {})])
    const space = yield* (yield* machine.boot()).space("test")
    const { id: over } = yield* space.signal({ signal: "/signals/short" })
    const { id: dead } = yield* space.signal({ signal: "/signals/broken" })
    for (let i = 0; i < 6; i++) yield* Effect.andThen(TestClock.adjust(5), space.step)
    const statuses = Effect.forEach([over, dead], (id) => Effect.map(space.receipt(id), (receipt) => receipt?.status))
    assert.deepStrictEqual(yield* statuses, ["handled", "dead"])
    const { runs: [run] } = yield* space.runs.list({ limit: 10 })
    yield* begun(space, space.set("/data/permit", true))
    yield* begun(space, space.runs.retry(run?.oid ?? ""))
    yield* steps(space, 3)
    const receipt = yield* space.receipt(dead)
    assert.deepStrictEqual([receipt?.status, receipt?.handlings.at(-1)?.value], ["handled", { status: "handled" }])
    yield* replays(space)
  }))

  it.effect("is that of the new event, for a run that is started anew", () => Effect.gen(function*() {
    const twice = durable("twice", async (tx) => {
      const found = await tx.waitForEvent(tx.signal({ signal: "/signals/work", payload: 1 }))
      if (tx.get("/data/permit") === undefined) throw new RangeError("no permit")
      return found.id
    })
    const machine = yield* RestartableKernel.make([twice, plain("work", () => {})])
    const space = yield* (yield* machine.boot()).space("test")
    const { id } = yield* space.signal({ signal: "/signals/twice" })
    yield* steps(space, 4)
    const { runs: [run] } = yield* space.runs.list({ limit: 10 })
    const before = yield* space.list(`/rt/ops/${run?.oid}/event`)
    yield* begun(space, space.set("/data/permit", true))
    yield* begun(space, space.runs.retry(run?.oid ?? "", { anew: true }))
    yield* steps(space, 5)
    const value = (yield* space.receipt(id))?.handlings.at(-1)?.value
    assert.lengthOf(before, 1)
    assert.notInclude(before, String(value))
    assert.deepStrictEqual(yield* space.list(`/rt/ops/${run?.oid}/event`), [String(value)])
    yield* replays(space)
  }))
})
