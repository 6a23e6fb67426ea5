import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { Channel, Enzyme, type Kernel, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { begun as done, refusal, replays, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** Waits for an approval. */
const approve = Enzyme.make({
  name: "approve",
  query: "/signals/placed",
  durable: true,
  hears: ({ payload }) => [{ signal: "/signals/approved", target: `/data/${String(payload)}` }],
  retry: { attempts: 3 },
  run: async (tx: Transaction, { payload }) => {
    tx.append("/data/placed", payload)
    return (await tx.waitForSignal("/signals/approved", `/data/${String(payload)}`)).payload
  }
})

/** Charges two accounts at once. */
const pay = Enzyme.make({
  name: "pay",
  query: "/signals/pay",
  durable: true,
  run: async (tx: Transaction) => {
    const charge = () => tx.io.request({ channel: "bank", opcode: "charge", attempts: 1 })
    return (await Promise.all([charge(), charge()])).map(({ value }) => value)
  }
})

const settings = { limits: { ...TestKernel.settings.limits, waitingRuns: 2 } }

describe("the limit on open requests", () => {
  it.effect("counts those that a letter makes again, and refuses a letter without room for them", () => {
    const reactor = new TestReactor({ bank: { opcodes: { charge: { repeatable: true } } } })
    const limits = { ...TestKernel.settings.limits, ioRequests: 3 }
    const layer = TestKernel.layer({ limits }, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>
    const close = (how: (rid: string) => void) => [...reactor.jobs].forEach(({ rid }) => how(rid))
    return Effect.gen(function*() {
      const space = yield* TestKernel.space([pay])
      const { id: first } = yield* space.signal({ signal: "/signals/pay" })
      yield* space.step
      close((rid) => reactor.fail(rid, Channel.fail("bank/closed", "closed")))
      yield* steps(space, 2)
      assert.strictEqual((yield* space.receipt(first))?.status, "dead")
      const { id: second } = yield* space.signal({ signal: "/signals/pay" })
      yield* space.step
      const oid = (yield* space.runs.list({ limit: 10 })).runs.find(({ state }) => state === "dead")?.oid ?? ""
      assert.strictEqual((yield* refusal(space, space.runs.retry(oid)))?.code, "reactor/full")
      assert.strictEqual((yield* space.receipt(first))?.status, "dead")
      assert.strictEqual(reactor.jobs.length, 2)
      close((rid) => reactor.complete(rid, { value: "paid" }))
      yield* steps(space, 2)
      assert.strictEqual((yield* space.receipt(second))?.status, "handled")
      // The third run asks in the beat that makes the requests of the first one again.
      const { id: third } = yield* space.signal({ signal: "/signals/pay" })
      yield* done(space, space.runs.retry(oid))
      yield* space.step
      assert.strictEqual(reactor.jobs.length, 2)
      close((rid) => reactor.complete(rid, { value: "paid" }))
      yield* steps(space, 8)
      assert.strictEqual((yield* space.receipt(first))?.status, "handled")
      close((rid) => reactor.complete(rid, { value: "paid" }))
      yield* steps(space, 2)
      assert.strictEqual((yield* space.receipt(third))?.status, "handled")
      yield* replays(space)
    }).pipe(Effect.provide(layer))
  })
})

describe("the limit on waiting runs", () => {
  it.effect("refuses a further run, which leaves nothing and is tried again", () => Effect.gen(function*() {
    const space = yield* TestKernel.space([approve])
    const ids: Array<string> = []
    for (const payload of ["a", "b", "c"]) ids.push((yield* space.signal({ signal: "/signals/placed", payload })).id)
    // Events of one lane share no beat.
    yield* steps(space, 3)
    assert.deepStrictEqual(yield* space.get("/data/placed"), ["a", "b"])
    yield* space.signal({ signal: "/signals/approved", target: "/data/a", payload: 1 })
    yield* steps(space, 3)
    assert.strictEqual((yield* space.receipt(ids[0] ?? ""))?.status, "handled")
    assert.deepStrictEqual(yield* space.get("/data/placed"), ["a", "b", "c"])
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer(settings))))

  it.effect("gives a run up after its attempts, and counts the runs of a space that opens", () => Effect.gen(function*() {
    const machine = yield* RestartableKernel.make([approve])
    const before = yield* (yield* machine.boot(settings)).space("test")
    for (const payload of ["a", "b"]) yield* before.signal({ signal: "/signals/placed", payload })
    yield* steps(before, 2)
    const space = yield* (yield* machine.boot(settings)).space("test")
    const { id } = yield* space.signal({ signal: "/signals/placed", payload: "c" })
    yield* steps(space, 8)
    assert.deepInclude((yield* space.receipt(id))?.handlings[0]?.error, { tag: "RunsFull", code: "run/full" })
    const { runs } = yield* space.runs.list({ limit: 10 })
    assert.deepStrictEqual(runs.map(({ state }) => state), ["waiting", "waiting"])
    yield* done(space, space.runs.cancel(runs[0]?.oid ?? "", { now: true }))
    yield* done(space, space.redeliver(id, "approve"))
    yield* steps(space, 2)
    assert.deepStrictEqual(yield* space.get("/data/placed"), ["a", "b", "c"])
    // The dead run has no room any more.
    yield* done(space, space.runs.retry(runs[0]?.oid ?? ""))
    yield* steps(space, 8)
    const after = yield* space.runs.list({ limit: 10 })
    assert.deepStrictEqual(after.runs.map(({ state }) => state).sort(), ["dead", "waiting", "waiting"])
    yield* replays(space)
  }))
})
