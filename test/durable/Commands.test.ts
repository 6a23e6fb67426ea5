import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { Channel, Enzyme, type Kernel, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import { begun as done, refusal, replays, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** Reserves, charges, and releases the reservation of an order that is cancelled. */
const order = Enzyme.make({
  name: "order",
  query: "/signals/order",
  durable: true,
  run: async (tx: Transaction) => {
    tx.set("/data/stock", "reserved")
    try {
      const { value } = await tx.io.request({ channel: "bank", opcode: "charge", attempts: 1 })
      await tx.sleep({ beats: 5 })
      tx.set("/data/stock", "sold")
      return value
    } catch (error) {
      const { code } = error as { readonly code: string }
      if (code !== "run/cancelled") throw error
      await tx.io.request({ channel: "bank", opcode: "refund" })
      tx.set("/data/stock", "free")
      return code
    }
  }
})

/** A space over a scripted reactor. */
interface World {
  readonly reactor: TestReactor
  readonly space: Space
  /** The id of the oldest job in progress. */
  readonly rid: () => string
}

const inSpace = <A, E>(test: (world: World) => Effect.Effect<A, E, Kernel>) => {
  const reactor = new TestReactor({ bank: { opcodes: { charge: { repeatable: true }, refund: { repeatable: true } } } })
  return Effect.gen(function*() {
    const space = yield* TestKernel.space([order])
    yield* test({ reactor, space, rid: () => reactor.jobs[0]?.rid ?? "" })
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>))
}

/** Begins a run; answers its event and its id. */
const begun = Effect.fnUntraced(function*(space: Space) {
  const { id } = yield* space.signal({ signal: "/signals/order" })
  yield* space.step
  const { runs } = yield* space.runs.list({ limit: 10 })
  return { id, oid: runs.find(({ event }) => event === id)?.oid ?? "" }
})

describe("runs", () => {
  it.effect("are listed and shown with their open handles, from which beat on", () => inSpace(({ reactor, rid, space }) =>
    Effect.gen(function*() {
      const { id, oid } = yield* begun(space)
      const first = rid()
      assert.deepInclude((yield* space.runs.list({ limit: 10 })).runs[0], {
        oid, event: id, enzyme: "order", state: "waiting", segment: 1, since: 0, attempt: 1,
        awaits: [{ number: 0, object: first, since: 0 }]
      })
      reactor.complete(first, { value: "paid" })
      yield* space.step
      const shown = yield* space.runs.get(oid)
      assert.deepStrictEqual(shown?.steps.map(({ beat, called, on, results, segment }) => [segment, beat, called, results, on]), [
        [0, 0, 2, [], [`0 ${first}`]], [1, 1, 1, ["0 ok"], ["1 sleep"]]
      ])
      assert.deepStrictEqual(shown?.awaits?.map(({ due, since }) => [since, due?.beat]), [[1, 6]])
      yield* space.step
      assert.deepStrictEqual((yield* space.runs.list({ limit: 0 })).runs, [])
    })))

  it.effect("are cancelled at their open handles, so that the body undoes its effects", () => inSpace(({ reactor, rid, space }) =>
    Effect.gen(function*() {
      const { id, oid } = yield* begun(space)
      const charge = rid()
      yield* done(space, space.runs.cancel(oid))
      assert.notInclude(reactor.jobs.map(({ rid }) => rid), charge)
      assert.include(yield* space.get(`/rt/ops/${oid}/io_req/${charge}`), { state: "cnl" })
      reactor.complete(rid())
      yield* steps(space, 2)
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.value, "run/cancelled")
      assert.strictEqual(yield* space.get("/data/stock"), "free")
      assert.strictEqual(yield* space.get("/sys/index/run"), undefined)
      assert.deepStrictEqual(yield* space.list("/sys/index/run"), [])
      assert.deepInclude((yield* space.runs.list({ limit: 10, all: true })).runs[0], { oid, state: "over", note: "sts:ok" })
    })))

  it.effect("take a result that came with the cancellation first", () => inSpace(({ reactor, rid, space }) =>
    Effect.gen(function*() {
      const { id, oid } = yield* begun(space)
      reactor.complete(rid(), { value: "paid" })
      yield* done(space, space.runs.cancel(oid))
      yield* space.step
      assert.deepInclude(reactor.jobs[0], { opcode: "refund" })
      const { steps: log = [] } = (yield* space.runs.get(oid)) ?? {}
      assert.deepStrictEqual(log.map(({ results }) => results), [[], ["0 ok"], ["1 run/cancelled"]])
      reactor.complete(rid())
      yield* steps(space, 2)
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.value, "run/cancelled")
    })))

  it.effect("end at once with --now, as a dead letter that can be sent again", () => inSpace(({ reactor, rid, space }) =>
    Effect.gen(function*() {
      const { id, oid } = yield* begun(space)
      const charge = rid()
      yield* done(space, space.runs.cancel(oid, { now: true }))
      const receipt = yield* space.receipt(id)
      assert.deepStrictEqual([receipt?.status, receipt?.handlings[0]?.error?.code], ["dead", "run/cancelled"])
      assert.deepStrictEqual(reactor.jobs, [])
      assert.deepInclude((yield* space.runs.list({ limit: 10 })).runs[0], { oid, state: "dead", note: "run/cancelled", segment: 1 })
      yield* done(space, space.runs.retry(oid))
      yield* space.step
      assert.strictEqual(rid(), charge)
      reactor.complete(charge, { value: "paid" })
      yield* space.step
      assert.deepInclude((yield* space.runs.list({ limit: 10 })).runs[0], { oid, state: "waiting", segment: 3 })
    })))

  it.effect("repeat a request that failed last, with its key", () => inSpace(({ reactor, rid, space }) =>
    Effect.gen(function*() {
      const { id, oid } = yield* begun(space)
      reactor.fail(rid(), Channel.fail("bank/closed", "closed"))
      yield* space.step
      assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.error?.code, "bank/closed")
      yield* done(space, space.runs.retry(oid))
      assert.deepInclude((yield* space.runs.list({ limit: 10 })).runs[0], { state: "running" })
      yield* space.step
      const keys = reactor.submitted.map(({ key }) => key)
      assert.deepStrictEqual([keys.length, new Set(keys).size], [2, 1])
      reactor.complete(rid(), { value: "paid" })
      yield* space.step
      assert.deepStrictEqual((yield* space.runs.get(oid))?.awaits?.map(({ object }) => object), ["sleep"])
    })))

  it.effect("start over with --anew, with other keys", () => inSpace(({ reactor, rid, space }) =>
    Effect.gen(function*() {
      const { id, oid } = yield* begun(space)
      for (let i = 1; i <= 2; i++) {
        yield* done(space, space.runs.cancel(oid, { now: true }))
        yield* done(space, space.runs.retry(oid, { anew: true }))
        yield* space.step
        assert.deepInclude((yield* space.runs.list({ limit: 10 })).runs[0], { oid, state: "waiting", segment: 1 })
        assert.strictEqual(new Set(reactor.submitted.map(({ key }) => key)).size, i + 1)
      }
      reactor.complete(rid(), { value: "paid" })
      yield* steps(space, 7)
      assert.strictEqual((yield* space.receipt(id))?.handlings.at(-1)?.value, "paid")
      assert.include(yield* space.get(`/rt/ops/${oid}`), { status: "sts:ok" })
    })))

  it.effect("refuse commands that do not fit", () => inSpace(({ space }) => Effect.gen(function*() {
    const { oid } = yield* begun(space)
    const codeOf = (command: ReturnType<Space["runs"]["cancel"]>) => Effect.map(refusal(space, command), (refused) => refused?.code)
    for (const bad of ["", "x", "OPS:1.2.3", "OPS:io", `OPS:${"0".repeat(32)}`, "../a", "OPS:a/b", `${oid}/step`]) {
      assert.strictEqual(yield* codeOf(space.runs.cancel(bad)), "run/absent", bad)
      assert.strictEqual(yield* codeOf(space.runs.retry(bad)), "run/absent", bad)
      assert.isUndefined(yield* space.runs.get(bad))
    }
    assert.strictEqual(yield* codeOf(space.runs.retry(oid)), "run/state")
    yield* done(space, space.runs.cancel(oid, { now: true }))
    assert.strictEqual(yield* codeOf(space.runs.cancel(oid)), "run/state")
    assert.strictEqual(yield* codeOf(space.runs.cancel(oid, { now: true })), "run/state")
  })))
})
