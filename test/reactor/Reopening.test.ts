import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { turns } from "../kernel/TestSpace.ts"

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
