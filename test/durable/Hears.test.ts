import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme, replay, Retry, type Space, type Transaction } from "systole"
import { TestSpace } from "systole/testing"
import { layer, paid } from "../kernel/beat/LabelledSpace.ts"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { controlled, replays, steps, through } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const placed = { signal: "/signals/placed", target: "/data/orders/17", payload: {} }

const answered = (payload: unknown) => ({ signal: "/signals/answered", target: "/data/orders/17", payload })

/** Takes orders, and hears answers from the begin on. */
const taking = (run: Enzyme.Definition["run"], options: Partial<Enzyme.Definition> = {}) => Enzyme.make({
  name: "take",
  query: "/signals/placed",
  bind: ["/data/orders"],
  durable: true,
  hears: ["/signals/answered"],
  ...options,
  run
})

/** Fails some first attempts, and then takes two answers at once. */
const failing = (failures: number, options: Partial<Enzyme.Definition> = {}) => taking(async (tx, { attempt, target = "" }) => {
  if (attempt <= failures) throw new Retry({ reason: "not yet" })
  const both = await Promise.all([tx.waitForSignal("/signals/answered", target), tx.waitForSignal("/signals/answered", target)])
  return both.map(({ payload }) => payload)
}, options)

/** Sleeps, fails until it is permitted, and then waits for an answer. The first module of a letter fails for good. */
const letterRun = (hears: ReadonlyArray<string> | undefined) => taking(async (tx, { target = "" }) => {
  await tx.sleep(1)
  if (tx.get("/data/permit") === undefined) throw hears === undefined ? new Error("not yet") : new Retry({ reason: "not yet" })
  return (await tx.waitForSignal("/signals/answered", target)).payload
}, { hears: hears ?? [], retry: { attempts: 4 } })

const permit = Enzyme.make({ name: "permit", query: "/signals/permit", run: (tx) => tx.set("/data/permit", true) })

/** Replaces a module. Returns the beat after which the present one is active. */
const deployed = async (space: TestSpace, before: Enzyme.Enzyme, today: Enzyme.Enzyme) => {
  await space.run(space.kernel.unregister(before))
  await space.run(space.kernel.register(today))
  return await space.step() + 1
}

/** Sends a letter again, and makes the first attempt. */
const redelivered = async (space: TestSpace, id: string) => {
  const sent = space.run(space.space.redeliver(id, "take"))
  await space.step(2)
  await sent
}

/** Checks that the beats of the present module replay. */
const replaysFrom = async (space: TestSpace, from: number) => {
  const head = await space.step()
  const { difference, impossible } = await space.run(space.space.examine((history) => replay(history, from, head)))
  assert.isUndefined(difference ?? impossible, JSON.stringify(difference ?? impossible))
}

const value = (space: Space, id: string) => Effect.map(space.receipt(id), (receipt) => receipt?.handlings[0]?.value)

describe("A run that hears from the begin of its handling on", () => {
  it.effect("hears between its attempts, also over restarts", () => Effect.gen(function*() {
    const machine = yield* RestartableKernel.make([failing(2)])
    const first = yield* (yield* machine.boot()).space("test")
    const { id } = yield* first.signal(placed)
    yield* first.step
    const second = yield* (yield* machine.boot()).space("test")
    const { id: heard } = yield* second.signal(answered(1))
    yield* second.step
    assert.match((yield* second.receipt(heard))?.handlings[0]?.run ?? "", /^OPS:/)
    const third = yield* (yield* machine.boot()).space("test")
    yield* steps(third, 3)
    yield* third.signal(answered(2))
    yield* steps(third, 2)
    assert.deepStrictEqual(yield* value(third, id), [1, 2])
    yield* replays(third)
  }).pipe(Effect.scoped))

  it("hears after a lost conflict of its first segment", () => {
    const place = { query: "/signals/placed", bind: ["/data/orders"] }
    const rival = Enzyme.make({ name: "a_rival", ...place, run: (tx) => tx.set("/data/seen", "rival") })
    const run = taking(async (tx: Transaction, { target = "" }) => {
      tx.set("/data/seen", "run")
      const answer = await tx.waitForSignal("/signals/answered", target)
      return answer.payload
    }, { name: "z_take" })
    return TestSpace.use([rival, run], async (space) => {
      const id = await space.signal(placed)
      const heard = await space.signal(answered("in the same beat"))
      await space.step()
      assert.match((await space.receipt(heard))?.handlings[0]?.run ?? "", /^OPS:/)
      await space.step(4)
      const receipt = await space.receipt(id)
      assert.deepStrictEqual(receipt?.handlings.map(({ enzyme }) => enzyme).toSorted(), ["a_rival", "z_take"])
      assert.strictEqual(receipt?.handlings.find(({ enzyme }) => enzyme === "z_take")?.value, "in the same beat")
      await space.run(replays(space.space))
    })
  })

  it("begins to hear again when its letter is sent again, and not before", () => {
    const run = taking(async (tx, { target = "" }) => {
      if (tx.get("/data/ready") !== true) throw new Retry({ reason: "not yet" })
      await tx.sleep(1)
      return (await tx.waitForSignal("/signals/answered", target)).payload
    }, { retry: { attempts: 1 } })
    const ready = Enzyme.make({ name: "ready", query: "/signals/ready", run: (tx) => tx.set("/data/ready", true) })
    return TestSpace.use([run, ready], async (space) => {
      const id = await space.signal(placed)
      await space.step()
      assert.strictEqual((await space.receipt(id))?.status, "dead")
      const missed = await space.signal(answered("missed"))
      await space.signal({ signal: "/signals/ready" })
      await space.step()
      assert.strictEqual((await space.receipt(missed))?.status, "no-match")
      await space.run(controlled(space.space, space.space.redeliver(id, "take")))
      await space.step()
      await space.signal(answered("heard"))
      await space.step()
      await space.advance(10)
      await space.step(2)
      assert.strictEqual((await space.receipt(id))?.handlings[0]?.value, "heard", JSON.stringify(space.facts))
      await space.run(replays(space.space))
    })
  })

  it("hears in the first beat in which its letter goes on from its log", () => {
    const run = taking(async (tx, { target = "" }) => {
      await tx.sleep(1)
      if (tx.get("/data/ready") !== true) throw new Error("not ready")
      return (await tx.waitForSignal("/signals/answered", target)).payload
    })
    return TestSpace.use([run], async (space) => {
      const id = await space.signal(placed)
      await space.step()
      await space.advance(10)
      assert.strictEqual((await space.receipt(id))?.status, "dead")
      await space.run(controlled(space.space, space.space.set("/data/ready", true)))
      await space.run(controlled(space.space, space.space.redeliver(id, "take")))
      const heard = await space.signal(answered("at once"))
      await space.step(2)
      assert.match((await space.receipt(heard))?.handlings[0]?.run ?? "", /^OPS:/)
      assert.strictEqual((await space.receipt(id))?.handlings[0]?.value, "at once", JSON.stringify(space.facts))
      await space.run(replays(space.space))
    })
  })

  it("leaves no heard signal if it is given up in its first segment", () =>
    TestSpace.use([failing(9, { retry: { attempts: 2 } })], async (space) => {
      const id = await space.signal(placed)
      const heard = await space.signal(answered(1))
      await space.step()
      const [oid = ""] = (await space.receipt(heard))?.handlings.map(({ run }) => run) ?? []
      assert.isDefined(await space.get(`/rt/ops/${oid}/heard/0/0`))
      await space.step(3)
      assert.strictEqual((await space.receipt(id))?.status, "dead")
      assert.isUndefined(await space.get(`/rt/ops/${oid}/heard/0/0`))
      assert.isUndefined(await space.get(`/rt/ops/${oid}/heard/0/0/payload`))
      const late = await space.signal(answered(2))
      await space.step()
      assert.strictEqual((await space.receipt(late))?.status, "no-match")
      await space.run(replays(space.space))
    }))

  it("hears what the module of today declares after its letter was sent again, also in a further attempt", () => {
    const shape = { name: "take", query: "/signals/placed", bind: ["/data/orders"], durable: true } as const
    const before = Enzyme.make({ ...shape, run: async (tx: Transaction) => {
      await tx.sleep(1)
      throw new Error("not yet")
    } })
    const permit = Enzyme.make({ name: "permit", query: "/signals/permit", run: (tx) => tx.set("/data/permit", true) })
    const today = Enzyme.make({ ...shape, hears: ["/signals/answered"], run: async (tx: Transaction, { target = "" }) => {
      await tx.sleep(1)
      if (tx.get("/data/permit") === undefined) throw new Retry({ reason: "not yet" })
      return (await tx.waitForSignal("/signals/answered", target)).payload
    } })
    return TestSpace.use([before, permit], async (space) => {
      const id = await space.signal(placed)
      await space.step()
      await space.advance(1)
      await space.run(space.kernel.unregister(before))
      await space.run(space.kernel.register(today))
      const from = await space.step()
      const sent = space.run(space.space.redeliver(id, "take"))
      await space.step(2)
      await sent
      await space.handled({ signal: "/signals/permit" })
      await space.step(2)
      await space.handled(answered("now"))
      const head = await space.step()
      assert.strictEqual((await space.receipt(id))?.handlings[0]?.value, "now", JSON.stringify(space.facts))
      const { difference, impossible } = await space.run(space.space.examine((history) => replay(history, from + 1, head)))
      assert.isUndefined(difference ?? impossible, JSON.stringify(difference ?? impossible))
    })
  })

  it("hears what the module of today declares between the attempts of its letter", () => {
    const before = letterRun(undefined)
    const today = letterRun(["/signals/answered"])
    return TestSpace.use([before, permit], async (space) => {
      const id = await space.signal(placed)
      await space.step()
      await space.advance(1)
      assert.strictEqual((await space.receipt(id))?.status, "dead")
      const from = await deployed(space, before, today)
      await redelivered(space, id)
      const heard = await space.handled(answered("meanwhile"))
      assert.match(heard.handlings[0]?.run ?? "", /^OPS:/)
      await space.handled({ signal: "/signals/permit" })
      await space.step(2)
      assert.strictEqual((await space.receipt(id))?.handlings[0]?.value, "meanwhile", JSON.stringify(space.facts))
      await replaysFrom(space, from)
    })
  })

  it.effect("hears it over restarts, and with a body that is made from its log", () => Effect.gen(function*() {
    const [before, today] = [letterRun(undefined), letterRun(["/signals/answered"])]
    // The machine registers these modules in each boot.
    const modules = [before, permit]
    const machine = yield* RestartableKernel.make(modules)
    const first = yield* (yield* machine.boot()).space("test")
    const { id } = yield* first.signal(placed)
    yield* first.step
    yield* TestClock.adjust(1)
    yield* first.step
    assert.strictEqual((yield* first.receipt(id))?.status, "dead")
    modules[0] = today
    const second = yield* (yield* machine.boot()).space("test")
    yield* controlled(second, second.redeliver(id, "take"))
    yield* second.step
    const third = yield* (yield* machine.boot()).space("test")
    yield* third.signal(answered("meanwhile"))
    yield* third.step
    const fourth = yield* (yield* machine.boot()).space("test")
    yield* fourth.signal({ signal: "/signals/permit" })
    yield* steps(fourth, 4)
    assert.strictEqual(yield* value(fourth, id), "meanwhile")
  }).pipe(Effect.scoped))

  it("takes each answer for its own signal if another module declares others between its attempts", () => {
    const other = "/signals/other"
    const take = (hears: ReadonlyArray<string>) => taking(async (tx, { target = "" }) => {
      if (tx.get("/data/permit") === undefined) throw new Retry({ reason: "not yet" })
      const [first, second] = await Promise.all([tx.waitForSignal("/signals/answered", target), tx.waitForSignal(other, target)])
      return [first.payload, second.payload]
    }, { hears })
    const [before, today] = [take(["/signals/answered"]), take([other, "/signals/answered"])]
    return TestSpace.use([before, permit], async (space) => {
      const id = await space.signal(placed)
      await space.step()
      await space.handled(answered("answered"))
      const from = await deployed(space, before, today)
      await space.handled({ ...answered("other"), signal: other })
      await space.handled({ signal: "/signals/permit" })
      await space.step(8)
      assert.deepStrictEqual((await space.receipt(id))?.handlings[0]?.value, ["answered", "other"], JSON.stringify(space.facts))
      const [oid = ""] = await space.list("/rt/ops")
      assert.isUndefined(await space.get(`/rt/ops/${oid}/heard`))
      await replaysFrom(space, from)
    })
  })

  it("takes each answer for its own signal although two modules of its letter declared others", () => {
    const other = "/signals/other"
    const modules = [letterRun(undefined), letterRun([other]), letterRun(["/signals/answered"])] as const
    return TestSpace.use([modules[0], permit], async (space) => {
      const id = await space.signal(placed)
      await space.step()
      await space.advance(1)
      await deployed(space, modules[0], modules[1])
      await redelivered(space, id)
      await space.handled({ ...answered("other"), signal: other })
      for (let i = 0; i < 20 && (await space.receipt(id))?.status !== "dead"; i++) await space.step(10)
      const from = await deployed(space, modules[1], modules[2])
      await redelivered(space, id)
      await space.handled(answered("answered"))
      await space.handled({ signal: "/signals/permit" })
      await space.step(2)
      assert.strictEqual((await space.receipt(id))?.handlings[0]?.value, "answered", JSON.stringify(space.facts))
      await replaysFrom(space, from)
    })
  })

  it("takes each answer for its own signal after a rollback to its attempts, also if its module declares others since", () => {
    const other = "/signals/other"
    const take = (hears: ReadonlyArray<string>) => taking(async (tx, { target = "" }) => {
      await tx.sleep(1)
      if (tx.get("/data/permit") === undefined) throw new Retry({ reason: "not yet" })
      await tx.sleep(1000)
      return (await tx.waitForSignal("/signals/answered", target)).payload
    }, { hears, retry: { attempts: 9 } })
    const [first, before, today] = [take([]), take(["/signals/answered"]), take([other, "/signals/answered"])]
    return TestSpace.use([first, permit], async (space) => {
      const { control } = space.space
      const id = await space.signal(placed)
      await space.step()
      await space.advance(1)
      await deployed(space, first, before)
      await space.step(2)
      await space.handled(answered("answered"))
      const horizon = await space.step()
      await space.handled({ signal: "/signals/permit" })
      await space.advance(100)
      await space.step(2)
      const { runs: [run] } = await space.run(space.space.runs.list({ limit: 1 }))
      assert.deepInclude(run, { state: "waiting", segment: 2 })
      await deployed(space, before, today)
      await space.run(through(space.space, control.pause()))
      await space.run(through(space.space, control.rollback(horizon)))
      await space.run(through(space.space, control.resume()))
      await space.handled({ signal: "/signals/permit" })
      await space.step(8)
      await space.advance(2000)
      await space.step(2)
      assert.strictEqual((await space.receipt(id))?.handlings[0]?.value, "answered", JSON.stringify(space.facts))
    })
  })

  it("hears no signal that a rollback took back, also between the attempts at its first segment", () => {
    const run = taking(async (tx, { target = "" }) => {
      if (tx.get("/data/permit") === undefined) throw new Retry({ reason: "not yet" })
      return (await tx.waitForSignal("/signals/answered", target)).payload
    })
    return TestSpace.use([run, permit], async (space) => {
      const { control } = space.space
      const id = await space.signal(placed)
      const horizon = await space.step()
      const heard = await space.handled(answered("taken back"))
      assert.match(heard.handlings[0]?.run ?? "", /^OPS:/)
      await space.run(through(space.space, control.pause()))
      await space.run(through(space.space, control.rollback(horizon)))
      await space.run(through(space.space, control.resume()))
      await space.handled(answered("heard"))
      await space.handled({ signal: "/signals/permit" })
      await space.step(10)
      assert.strictEqual((await space.receipt(id))?.handlings[0]?.value, "heard", JSON.stringify(space.facts))
      await space.run(replays(space.space))
    })
  })

  for (const isDurable of [true, false]) {
    it(`leaves nothing and hears no more once a module that declares nothing ends it (${isDurable ? "durable" : "not durable"})`, () => {
      const before = failing(2)
      const today = taking(() => "done", isDurable ? { hears: [] } : { durable: false, hears: [] })
      return TestSpace.use([before], async (space) => {
        const id = await space.signal(placed)
        await space.step()
        await space.handled(answered("early"))
        const from = await deployed(space, before, today)
        await space.step(8)
        assert.strictEqual((await space.receipt(id))?.handlings[0]?.value, "done", JSON.stringify(space.facts))
        const late = await space.signal(answered("late"))
        await space.step(2)
        assert.strictEqual((await space.receipt(late))?.status, "no-match")
        assert.deepStrictEqual(await space.run(space.space.below("/rt/ops", { limit: 10 })), [])
        await replaysFrom(space, from)
      })
    })
  }

  it("hears what the present module declares if its own one cannot be had", () => {
    const [before, today] = [letterRun(undefined), letterRun(["/signals/answered"])]
    return TestSpace.use([before, permit], async (space) => {
      const id = await space.signal(placed)
      await space.handled({ signal: "/signals/permit" })
      const from = await deployed(space, before, today)
      await space.advance(1)
      await space.handled(answered("heard"))
      await space.step()
      assert.strictEqual((await space.receipt(id))?.handlings[0]?.value, "heard", JSON.stringify(space.facts))
      await replaysFrom(space, from)
    }, { settings: { limits: { ...TestKernel.settings.limits, residentRuns: 0 } } })
  })

  it.effect("hears no signal of a cell below its label, also between its attempts", () => Effect.gen(function*() {
    const shy = taking((tx) => {
      tx.get("/data/pay/ann")
      throw new Retry({ reason: "not yet" })
    }, { bind: [], hears: [{ signal: "/signals/answered", target: "/data/low/a" }] })
    const space = yield* paid(shy)
    const { id } = yield* space.signal({ signal: "/signals/placed" })
    const answer = yield* space.signal({ signal: "/signals/answered", target: "/data/low/a", payload: 1 })
    yield* space.step
    yield* TestClock.adjust(10)
    yield* space.step
    assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.error?.code, "label/below")
    assert.strictEqual((yield* space.receipt(answer.id))?.status, "no-match")
    yield* replays(space)
  }).pipe(Effect.provide(layer)))
})
