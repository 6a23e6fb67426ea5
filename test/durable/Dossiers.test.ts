import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { Enzyme, type IoResult, type Kernel, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import { controlled, enzyme, replays, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** Asks in a durable run. */
const charge = Enzyme.make({
  name: "charge",
  query: "/signals/charge",
  durable: true,
  run: async (tx: Transaction) => (await tx.io.request({ channel: "bank", opcode: "charge" })).value
})

/** Asks by a signal. */
const ask = enzyme("ask", (tx, { payload, signal }) => {
  if (signal === "/signals/ask/done") return tx.set("/data/result", payload)
  return tx.io.request({ channel: "bank", opcode: "charge", signal: "/signals/ask/done" })
}, { query: "/signals/ask", match: "prefix" })

/** Tries to change and to end the operation of its payload. */
const change = enzyme("change", (tx, { payload }) => {
  const oid = String(payload)
  tx.report({ severity: "sev:crit", topic: "order/late", note: "late", attach: oid })
  return [tx.op.setState(oid, "ist:plan"), tx.op.close(oid, "sts:cnl")]
})

const inSpace = <A, E>(test: (world: { readonly reactor: TestReactor; readonly space: Space }) => Effect.Effect<A, E, Kernel>) => {
  const reactor = new TestReactor({ bank: { opcodes: { charge: { repeatable: true } } } })
  const limits = { ...TestKernel.settings.limits, finishedCount: 0, finishedMillis: 0 }
  return Effect.gen(function*() {
    const space = yield* TestKernel.space([charge, ask, change])
    yield* test({ reactor, space })
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer({ limits }, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>))
}

/** The only operation of a space, after a run and the outside have tried to end it. */
const attacked = Effect.fnUntraced(function*(space: Space) {
  const [oid = ""] = yield* space.list("/rt/ops")
  const { id } = yield* space.signal({ signal: "/signals/change", payload: oid })
  yield* space.step
  assert.deepStrictEqual((yield* space.receipt(id))?.handlings[0]?.value, [false, false])
  const closed = yield* controlled(space, space.ops.close(oid, { status: "sts:cnl" }))
  assert.strictEqual(closed._tag, "Failure")
  yield* steps(space, 4)
  return oid
})

describe("The dossier of the runtime's work", () => {
  it.effect("of requests stays open, and they have their results", () => inSpace(({ reactor, space }) => Effect.gen(function*() {
    yield* space.signal({ signal: "/signals/ask" })
    yield* space.step
    yield* attacked(space)
    reactor.complete(reactor.jobs[0]?.rid ?? "", { value: 1 })
    yield* steps(space, 2)
    assert.deepInclude((yield* space.get("/data/result")) as unknown as IoResult, { state: "complete", value: 1 })
  })))

  it.effect("of a durable run stays open until the run ends", () => inSpace(({ reactor, space }) => Effect.gen(function*() {
    const { id } = yield* space.signal({ signal: "/signals/charge" })
    yield* space.step
    const oid = yield* attacked(space)
    reactor.complete(reactor.jobs[0]?.rid ?? "", { value: 1 })
    yield* steps(space, 2)
    assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.value, 1)
    assert.match(oid, /^OPS:/)
  })))
})
