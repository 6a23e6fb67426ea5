import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import { begun, replays, turns } from "../kernel/TestSpace.ts"
import { bring, frameOf, node } from "./Nodes.ts"

/** Pays by a channel that no one may ask twice. */
const pay = Enzyme.make({
  name: "pay",
  query: "/signals/pay",
  durable: true,
  run: async (tx: Transaction, { payload }) => {
    const paid = await tx.io.request({ channel: "bank", opcode: "pay", payload })
    tx.set(`/data/paid/${String(payload)}`, paid.value)
  }
})

describe("the release of a copy", () => {
  it.effect("begins each request once: one that waited for it, and one of its own beat", () => Effect.gen(function*() {
    const reactor = new TestReactor({ bank: { opcodes: { pay: {} } } })
    const here = yield* node({ modules: [pay], reactor: reactor.layer })
    const original = yield* here.kernel.space("a")
    yield* original.step
    const { space } = yield* bring(here, "copy", { frames: [yield* frameOf(here, "a")] })
    yield* space.step
    yield* space.signal({ signal: "/signals/pay", payload: "before" })
    yield* space.step
    yield* turns()
    assert.deepStrictEqual(reactor.jobs, [])
    yield* space.signal({ signal: "/signals/pay", payload: "beside" })
    yield* begun(space, space.control.releaseDetached())
    yield* turns()
    assert.lengthOf(reactor.submitted, 2)
    for (const { rid } of reactor.jobs) reactor.complete(rid, { value: 5 })
    yield* space.step
    assert.deepStrictEqual([yield* space.get("/data/paid/before"), yield* space.get("/data/paid/beside")], [5, 5])
    yield* replays(space)
  }).pipe(Effect.scoped))
})
