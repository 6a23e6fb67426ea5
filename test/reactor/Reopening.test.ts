import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { enzyme, turns } from "../kernel/TestSpace.ts"

const pay = Enzyme.make({
  name: "pay",
  query: "/signals/pay",
  durable: true,
  run: async (tx: Transaction) => tx.set("/data/paid", (await tx.io.request({ channel: "bank", opcode: "pay" })).value)
})

describe("a space with an open request", () => {
  it.effect("opens at a start by itself, and makes it again", () => Effect.gen(function*() {
    const reactor = new TestReactor({ bank: { opcodes: { pay: { repeatable: true } } } })
    const machine = yield* RestartableKernel.make([pay], reactor.layer)
    const before = yield* machine.boot({ pace: "demand", create: "on-demand" })
    yield* (yield* before.space("shop")).signal({ signal: "/signals/pay", payload: {} })
    yield* turns()
    const keys = reactor.jobs.map(({ key }) => key)
    assert.lengthOf(keys, 1)
    reactor.crash()
    const kernel = yield* machine.boot({ pace: "demand" })
    yield* kernel.resume
    yield* turns()
    assert.deepStrictEqual(machine.openings(), ["shop"])
    assert.deepStrictEqual(reactor.jobs.map(({ key }) => key), keys)
    reactor.complete(reactor.jobs[0]?.rid ?? "", { value: 5 })
    yield* turns()
    assert.strictEqual(yield* (yield* kernel.space("shop")).get("/data/paid"), 5)
  }).pipe(Effect.scoped))
})

/** Awaits room for payments, and notes it. */
const watch = enzyme("watch", (tx, { signal }) => {
  if (signal === "/signals/watch/room") tx.set("/data/room", true)
  else tx.io.watch("bank", "/signals/watch/room")
}, { query: "/signals/watch", match: "prefix" })

describe("a space that awaits room in a channel", () => {
  it.effect("opens at a start by itself, and hears of the room", () => Effect.gen(function*() {
    const reactor = new TestReactor({ bank: { opcodes: { pay: { repeatable: true } }, jobs: 1 } })
    const machine = yield* RestartableKernel.make([pay, watch], reactor.layer)
    const before = yield* machine.boot({ pace: "demand", create: "on-demand" })
    yield* (yield* before.space("busy")).signal({ signal: "/signals/pay", payload: {} })
    yield* turns()
    yield* (yield* before.space("shop")).signal({ signal: "/signals/watch", payload: {} })
    yield* turns()
    reactor.crash()
    const kernel = yield* machine.boot({ pace: "demand" })
    yield* kernel.resume
    yield* turns()
    assert.sameMembers([...machine.openings()], ["busy", "shop"])
    const shop = yield* kernel.space("shop")
    assert.isUndefined(yield* shop.get("/data/room"))
    reactor.complete(reactor.jobs[0]?.rid ?? "")
    yield* turns()
    assert.isTrue(yield* shop.get("/data/room"))
  }).pipe(Effect.scoped))

  it.effect("stays closed once the room was there", () => Effect.gen(function*() {
    const reactor = new TestReactor({ bank: { opcodes: { pay: {} }, jobs: 1 } })
    const machine = yield* RestartableKernel.make([watch], reactor.layer)
    const before = yield* machine.boot({ pace: "demand", create: "on-demand" })
    const shop = yield* before.space("shop")
    yield* shop.signal({ signal: "/signals/watch", payload: {} })
    yield* turns()
    assert.isTrue(yield* shop.get("/data/room"))
    const kernel = yield* machine.boot({ pace: "demand" })
    yield* kernel.resume
    yield* turns()
    assert.deepStrictEqual(machine.openings(), [])
  }).pipe(Effect.scoped))
})
