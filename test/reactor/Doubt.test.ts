import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { Channel, type IoResult, type Kernel, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import { begun, enzyme, replays, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** Makes a request of several attempts, and keeps its result. */
const ask = enzyme("ask", (tx: Transaction, { payload, signal }) => {
  if (signal === "/signals/ask/done") return tx.set("/data/result", payload)
  return tx.io.request({ channel: "bank", opcode: "charge", attempts: 3, signal: "/signals/ask/done" })
}, { query: "/signals/ask", match: "prefix" })

/** Awaits a request of one attempt. */
const pays = enzyme("pays", (tx: Transaction) => tx.io.request({ channel: "bank", opcode: "charge", attempts: 1 }), { durable: true })

interface World {
  readonly reactor: TestReactor
  readonly space: Space
}

const inWorld = <A, E>(test: (world: World) => Effect.Effect<A, E, Kernel>) => {
  const reactor = new TestReactor({ bank: { opcodes: { charge: { repeatable: true } }, timeoutMs: 1000 } })
  return Effect.gen(function*() {
    const space = yield* TestKernel.space([ask, pays])
    yield* test({ reactor, space })
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>))
}

const timeout = Channel.fail("io/timeout", "it took too long", { errno: -110, retryable: true })
const reset = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" })
const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" })
const declined = Channel.fail("bank/declined", "the card is declined")

/** Ends the attempts of a request one after another, and answers its result. */
const after = Effect.fnUntraced(function*({ reactor, space }: World, ends: ReadonlyArray<Error | "paid">) {
  yield* space.signal({ signal: "/signals/ask" })
  yield* space.step
  for (const end of ends) {
    const { rid } = reactor.jobs[0]!
    if (end === "paid") reactor.complete(rid, { value: end })
    else reactor.fail(rid, end)
    yield* space.step
    yield* TestClock.adjust(100)
    yield* steps(space, 5)
  }
  const { code, state, uncertain } = (yield* space.get("/data/result")) as unknown as IoResult
  return [state, code, uncertain]
})

describe("The record of a request is in doubt", () => {
  it.effect("if any of its attempts ended without an answer", () => inWorld((world) => Effect.gen(function*() {
    assert.deepStrictEqual(yield* after(world, [timeout, declined]), ["fail", "bank/declined", true])
  })))

  it.effect("if its connection broke off, and not if there was none", () => inWorld((world) => Effect.gen(function*() {
    assert.deepStrictEqual(yield* after(world, [refused, declined]), ["fail", "bank/declined", undefined])
    assert.deepStrictEqual(yield* after(world, [reset, declined]), ["fail", "bank/declined", true])
  })))

  it.effect("if it was cancelled while it waited for a further attempt", () => inWorld((world) => Effect.gen(function*() {
    const { reactor, space } = world
    yield* space.signal({ signal: "/signals/ask" })
    yield* space.step
    const { rid } = reactor.jobs[0]!
    reactor.fail(rid, timeout)
    yield* space.step
    yield* begun(space, space.io.cancel(rid))
    yield* steps(space, 2)
    const { state, uncertain } = (yield* space.get("/data/result")) as unknown as IoResult
    assert.deepStrictEqual([state, uncertain], ["cnl", true])
  })))

  it.effect("and no more once an attempt succeeds", () => inWorld((world) => Effect.gen(function*() {
    assert.deepStrictEqual(yield* after(world, [timeout, "paid"]), ["complete", undefined, undefined])
  })))

  it.effect("also after its run makes it again", () => inWorld(({ reactor, space }) => Effect.gen(function*() {
    const { id } = yield* space.signal({ signal: "/signals/pays" })
    yield* space.step
    const { rid } = reactor.jobs[0]!
    for (const end of [timeout, declined]) {
      reactor.fail(rid, end)
      yield* steps(space, 2)
      assert.match((yield* space.receipt(id))?.handlings[0]?.error?.message ?? "", /an attempt may have had its effect/)
      if (end === timeout) yield* begun(space, space.redeliver(id, "pays"))
      yield* space.step
    }
  })))
})

describe("A scripted reactor", () => {
  it.effect("ends an attempt at the time of its channel, as any other does", () => inWorld(({ reactor, space }) => Effect.gen(function*() {
    yield* space.signal({ signal: "/signals/pays" })
    yield* space.step
    const [job] = reactor.jobs
    yield* TestClock.adjust(999)
    assert.isFalse(job?.signal.aborted)
    yield* TestClock.adjust(1)
    assert.isTrue(job?.signal.aborted)
    assert.lengthOf(reactor.jobs, 0)
    assert.throws(() => reactor.complete(job?.rid ?? ""), /No job of request/)
    yield* steps(space, 2)
    const { runs: [run] } = yield* space.runs.list({ limit: 1 })
    assert.deepInclude(run, { state: "dead", note: "io/timeout" })
  })))

  it.effect("times no attempt that has ended", () => inWorld(({ reactor, space }) => Effect.gen(function*() {
    const { id } = yield* space.signal({ signal: "/signals/pays" })
    yield* space.step
    yield* TestClock.adjust(999)
    reactor.complete(reactor.jobs[0]?.rid ?? "", { value: "paid" })
    yield* TestClock.adjust(1000)
    yield* steps(space, 2)
    assert.include((yield* space.receipt(id))?.handlings[0]?.value, { state: "complete", value: "paid" })
  })))
})
