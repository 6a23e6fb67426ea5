import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme, Retry, type Transaction } from "systole"
import { TestSpace } from "systole/testing"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { controlled, replays, steps } from "../kernel/TestSpace.ts"

/** Waits for the approval of an order, for at most a day. */
const approve = Enzyme.make({
  name: "approve",
  query: "/signals/placed",
  bind: ["/data/orders"],
  durable: true,
  hears: ["/signals/answered"],
  run: async (tx: Transaction, { target = "" }) => {
    const late = tx.sleep(86_400_000).then(() => undefined)
    const answer = await Promise.race([tx.waitForSignal("/signals/answered", target), late])
    tx.set(target, answer === undefined ? "expired" : "answered")
    return answer?.payload ?? "nobody answered"
  }
})

/** Adds up the amounts of three signals. */
const three = Enzyme.make({
  name: "three",
  query: "/signals/three",
  durable: true,
  run: async (tx: Transaction) => {
    const heard: Array<unknown> = []
    tx.hear("/signals/amount", "/data/amounts")
    for (let i = 0; i < 3; i++) {
      heard.push((await tx.waitForSignal("/signals/amount", "/data/amounts")).payload)
      await tx.sleep(10)
    }
    return heard
  }
})

/** Sleeps, and then waits for two confirmations, which it hears from its begin on. */
const confirmed = (hears: Enzyme.Definition["hears"], failures = 0) => Enzyme.make({
  name: "confirmed",
  query: "/signals/placed",
  bind: ["/data/orders"],
  durable: true,
  ...hears === undefined ? {} : { hears },
  run: async (tx: Transaction, { attempt, target = "" }) => {
    if (attempt <= failures) throw new Retry({ reason: "not yet" })
    await tx.sleep(10)
    const first = await tx.waitForSignal("/signals/answered", target)
    const second = await tx.waitForSignal("/signals/answered", target)
    return [first.payload, second.payload]
  }
})

/** Answers at `/data/orders/17`. */
const answered = (payload: unknown, target = "/data/orders/17") => ({ signal: "/signals/answered", target, payload })

const placed = { signal: "/signals/placed", target: "/data/orders/17" }

const returned = async (space: TestSpace, id: string): Promise<unknown> => (await space.receipt(id))?.handlings[0]?.value

/** The runs that heard a signal, or the enzymes that handled it. */
const takers = async (space: TestSpace, id: string) => (await space.receipt(id))?.handlings.map(({ enzyme, run }) => run ?? enzyme)

describe("signals from the begin of a handling on", () => {
  const forms: Record<string, Enzyme.Definition["hears"]> = {
    path: ["/signals/answered"],
    cell: [{ signal: "/signals/answered", target: "/data/orders/17" }],
    function: ({ target = "" }) => [{ signal: "/signals/answered", target }]
  }
  for (const [form, hears] of Object.entries(forms)) {
    it(`are heard if the enzyme declares them by a ${form}`, () => TestSpace.use([confirmed(hears)], async (space) => {
      const id = await space.signal(placed)
      await space.step()
      const early = await space.signal(answered(1))
      await space.step()
      const [oid = ""] = await space.list("/rt/ops")
      assert.deepStrictEqual(await takers(space, early), [oid])
      await space.signal(answered(2))
      await space.signal(answered("for another", "/data/orders/18"))
      await space.step()
      await space.advance(10)
      await space.step(2)
      assert.deepStrictEqual(await returned(space, id), [1, 2], JSON.stringify(space.facts))
      await space.run(replays(space.space))
    }))
  }

  it("are heard between the attempts of the first segment", () =>
    TestSpace.use([confirmed(forms["path"], 2)], async (space) => {
      const id = await space.signal(placed)
      const same = await space.signal(answered(1))
      await space.step()
      const [oid = ""] = await takers(space, same) ?? []
      assert.match(oid, /^OPS:/)
      const later = await space.signal(answered(2))
      await space.step(4)
      assert.deepStrictEqual(await takers(space, later), [oid])
      await space.advance(10)
      await space.step(2)
      assert.deepStrictEqual(await returned(space, id), [1, 2], JSON.stringify(space.facts))
      await space.run(replays(space.space))
    }))

  it("leave no cells if the run ends with its first segment", () => {
    const brief = Enzyme.make({
      name: "brief",
      query: "/signals/placed",
      bind: ["/data/orders"],
      durable: true,
      hears: ["/signals/answered"],
      run: (_, { attempt }) => {
        if (attempt === 1) throw new Retry({ reason: "not yet" })
        return "done"
      }
    })
    return TestSpace.use([brief], async (space) => {
      const id = await space.signal(placed)
      const answer = await space.signal(answered(1))
      await space.step(4)
      const [oid = ""] = await takers(space, answer) ?? []
      assert.strictEqual(await returned(space, id), "done")
      assert.isUndefined(await space.get(`/rt/ops/${oid}/heard/0/0`))
      const late = await space.signal(answered(2))
      await space.step()
      assert.strictEqual((await space.receipt(late))?.status, "no-match")
    })
  })

  it("are heard if the first segment waits for them, also in the beat that captured the event", () =>
    TestSpace.use([approve], async (space) => {
      const early = await space.signal(answered("too early"))
      const id = await space.signal(placed)
      const answer = await space.signal(answered("yes"))
      await space.step(2)
      assert.strictEqual(await returned(space, id), "yes", JSON.stringify(space.facts))
      const [oid = ""] = await space.list("/rt/ops")
      assert.deepStrictEqual(await takers(space, answer), [oid])
      assert.strictEqual((await space.receipt(early))?.status, "no-match")
      assert.strictEqual((await space.receipt(answer))?.status, "handled")
      await space.run(replays(space.space))
    }))

  it("wait for the run, at most 100 of them", () => TestSpace.use([confirmed(forms["path"])], async (space) => {
    await space.signal(placed)
    await space.step()
    const ids: Array<string> = []
    for (let i = 0; i < 101; i++) ids.push(await space.signal(answered(i)))
    // Events of one pair never share a beat.
    await space.step(101)
    const statuses = await Promise.all(ids.map(async (id) => (await space.receipt(id))?.status))
    assert.deepStrictEqual(statuses.slice(0, 100), Array.from({ length: 100 }, () => "handled"))
    assert.strictEqual(statuses[100], "no-match")
    await space.run(replays(space.space))
  }))

  it.effect("are heard after a restart", () => Effect.gen(function*() {
    const machine = yield* RestartableKernel.make([confirmed(forms["path"])])
    const first = yield* (yield* machine.boot()).space("test")
    const { id } = yield* first.signal(placed)
    yield* first.step
    const second = yield* (yield* machine.boot()).space("test")
    yield* second.signal(answered(1))
    yield* second.step
    const third = yield* (yield* machine.boot()).space("test")
    yield* TestClock.adjust(10)
    yield* third.step
    yield* third.signal(answered(2))
    yield* steps(third, 3)
    assert.deepStrictEqual((yield* third.receipt(id))?.handlings[0]?.value, [1, 2])
    yield* replays(third)
  }))

  it("are refused for an enzyme that is not durable, or beyond 100 of one event", () => {
    const brief = { name: "brief", query: "/signals/x", run: () => 1 }
    assert.throws(() => Enzyme.make({ ...brief, hears: ["/signals/y"] }), "only durable enzymes hear")
    assert.throws(() => Enzyme.make({ ...brief, durable: true, hears: ["y"] }), "no list of signals")
    const many = confirmed(() => Array.from({ length: 101 }, (_, i) => `/signals/${i}`))
    return TestSpace.use([many], async (space) => {
      const id = await space.signal(placed)
      await space.step()
      const [handling] = (await space.receipt(id))?.handlings ?? []
      assert.match(handling?.error?.message ?? "", /declares 101 signals in hears, and the limit is 100/)
    })
  })
})

describe("tx.waitForSignal", () => {
  it("goes on in the beat that captured the signal, and its receipt names the run", () => TestSpace.use([approve], async (space) => {
    const id = await space.signal({ signal: "/signals/placed", target: "/data/orders/17" })
    await space.step()
    await space.signal({ signal: "/signals/answered", target: "/data/orders/18", payload: "for another" })
    const answer = await space.signal({ signal: "/signals/answered", target: "/data/orders/17", payload: { by: "ann" } })
    await space.step()
    assert.strictEqual(await space.get("/data/orders/17"), "answered")
    const receipt = await space.receipt(id)
    assert.deepStrictEqual(receipt?.handlings.map(({ beat, value }) => [beat, value]), [[1, { by: "ann" }]])
    const [oid] = await space.list("/rt/ops")
    const heard = await space.receipt(answer)
    assert.deepStrictEqual([heard?.status, heard?.handlings[0]?.run], ["handled", oid])
    await space.run(replays(space.space))
  }))

  it("ends with a time-out", () => TestSpace.use([approve], async (space) => {
    const id = await space.signal({ signal: "/signals/placed", target: "/data/orders/17" })
    await space.step()
    await space.advance(86_400_000)
    assert.strictEqual((await space.receipt(id))?.handlings[0]?.value, "nobody answered", JSON.stringify(space.facts))
    const late = await space.signal({ signal: "/signals/answered", target: "/data/orders/17", payload: 1 })
    await space.step()
    assert.strictEqual((await space.receipt(late))?.status, "no-match")
  }))

  it("hears each signal once, in order, also those between two waits", () => TestSpace.use([three], async (space) => {
    const id = await space.signal({ signal: "/signals/three" })
    await space.step()
    for (let i = 1; i <= 4; i++) await space.signal({ signal: "/signals/amount", target: "/data/amounts", payload: i })
    await space.step()
    for (let i = 0; i < 6; i++) await space.advance(10)
    assert.deepStrictEqual((await space.receipt(id))?.handlings[0]?.value, [1, 2, 3], JSON.stringify(space.facts))
    await space.run(replays(space.space))
  }))

  it.effect("hears after a restart", () => Effect.gen(function*() {
    const machine = yield* RestartableKernel.make([approve])
    const before = yield* (yield* machine.boot()).space("test")
    const { id } = yield* before.signal({ signal: "/signals/placed", target: "/data/orders/17" })
    yield* before.step
    const after = yield* (yield* machine.boot()).space("test")
    yield* after.signal({ signal: "/signals/answered", target: "/data/orders/17", payload: "yes" })
    yield* after.step
    assert.strictEqual((yield* after.receipt(id))?.handlings[0]?.value, "yes")
    yield* replays(after)
  }))

  it.effect("hears of what arrived in a pause, also after a restart", () => Effect.gen(function*() {
    const machine = yield* RestartableKernel.make([approve])
    const before = yield* (yield* machine.boot()).space("test")
    const { id } = yield* before.signal({ signal: "/signals/placed", target: "/data/orders/17" })
    yield* before.step
    yield* controlled(before, before.control.pause())
    yield* steps(before, 2)
    yield* before.signal({ signal: "/signals/answered", target: "/data/orders/17", payload: "yes", qos: "control" })
    yield* steps(before, 2)
    assert.strictEqual((yield* before.receipt(id))?.status, "pending")
    const after = yield* (yield* machine.boot()).space("test")
    yield* controlled(after, after.control.resume())
    yield* steps(after, 3)
    assert.strictEqual((yield* after.receipt(id))?.handlings[0]?.value, "yes")
    yield* replays(after)
  }))
})
