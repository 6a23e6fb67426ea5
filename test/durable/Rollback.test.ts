import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, type Kernel, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import * as RestartableKernel from "../kernel/RestartableKernel.ts"
import { begun as done, replays, steps, through } from "../kernel/TestSpace.ts"

/** Charges, waits for an approval, and ships. A failed charge is told. */
const order = Enzyme.make({
  name: "order",
  query: "/signals/order",
  durable: true,
  run: async (tx: Transaction, { payload }) => {
    const target = `/data/${String(payload)}`
    tx.set(target, "begun")
    try {
      const { value } = await tx.io.request({ channel: "bank", opcode: "charge" })
      tx.set(target, value)
    } catch (error) {
      tx.set(target, (error as { readonly code: string }).code)
    }
    tx.hear("/signals/approved", target)
    const approval = await tx.waitForSignal("/signals/approved", target)
    tx.set(target, approval.payload)
    await tx.sleep({ beats: 2 })
    return approval.payload
  }
})

/** A space that can be opened again, over a scripted reactor. */
interface World {
  readonly reactor: TestReactor
  readonly open: Effect.Effect<Space>
}

const inSpace = <A, E>(test: (world: World) => Effect.Effect<A, E, Kernel>) => Effect.gen(function*() {
  const reactor = new TestReactor({ bank: { opcodes: { charge: { repeatable: true } } } })
  const machine = yield* RestartableKernel.make([order], reactor.layer)
  const open = Effect.flatMap(machine.boot(), (kernel) => Effect.orDie(kernel.space("test")))
  yield* test({ reactor, open }) as Effect.Effect<A, E>
})

const begin = (space: Space, payload: string) =>
  Effect.map(Effect.andThen(space.signal({ signal: "/signals/order", payload }), (sent) => Effect.as(space.step, sent)), ({ id }) => id)

const approve = (space: Space, payload: string, by: string) =>
  Effect.andThen(space.signal({ signal: "/signals/approved", target: `/data/${payload}`, payload: by }), space.step)

/** Pauses the space, and restores the state of a beat. Answers the operation of the rollback. */
const rolledBack = Effect.fnUntraced(function*(space: Space, to: number) {
  yield* through(space, space.control.pause())
  return yield* through(space, space.control.rollback(to))
})

describe("a rollback", () => {
  it.effect("ends the runs that began after the horizon, whose letters start them over", () => inSpace(({ open, reactor }) =>
    Effect.gen(function*() {
      const space = yield* open
      yield* space.step
      const id = yield* begin(space, "a")
      reactor.complete(reactor.jobs[0]?.rid ?? "", { value: "paid" })
      yield* space.step
      const oid = yield* rolledBack(space, 0)
      const { runs: [run] } = yield* space.runs.list({ limit: 10 })
      assert.deepInclude(run, { event: id, state: "held", note: "pause", cancel: "back" })
      assert.deepInclude((yield* space.ops.get(oid))?.runs?.runs[0], { oid: run?.oid, event: id, enzyme: "order", state: "gone" })
      yield* through(space, space.control.resume())
      yield* steps(space, 2)
      const receipt = yield* space.receipt(id)
      assert.deepStrictEqual([receipt?.status, receipt?.handlings[0]?.error?.code], ["dead", "run/taken-back"])
      assert.deepStrictEqual((yield* space.runs.list({ limit: 10 })).runs, [])
      assert.include(yield* space.get(`/rt/ops/${run?.oid}`), { status: "sts:cnl" })
      yield* done(space, space.runs.retry(run?.oid ?? ""))
      yield* space.step
      assert.deepInclude((yield* space.runs.list({ limit: 10 })).runs[0], { state: "waiting", segment: 1 })
      const keys = reactor.submitted.map(({ key }) => key)
      assert.deepStrictEqual([keys.length, new Set(keys).size], [2, 1])
      yield* replays(space)
    })))

  for (const reopens of [false, true]) {
    it.effect(`takes the others back to their step there${reopens ? ", also after a restart" : ""}`, () => inSpace(({ open, reactor }) =>
      Effect.gen(function*() {
        let space = yield* open
        const id = yield* begin(space, "a")
        reactor.complete(reactor.jobs[0]?.rid ?? "", { value: "paid" })
        const horizon = yield* space.step
        yield* approve(space, "a", "ann")
        assert.strictEqual(yield* space.get("/data/a"), "ann")
        const oid = yield* rolledBack(space, horizon)
        assert.strictEqual(yield* space.get("/data/a"), "paid")
        assert.deepInclude((yield* space.ops.get(oid))?.runs?.runs[0], { event: id, segment: 2 })
        assert.deepInclude((yield* space.runs.list({ limit: 10 })).runs[0], { state: "held", segment: 2, since: horizon })
        if (reopens) space = yield* open
        const sent = yield* space.signal({ signal: "/signals/approved", target: "/data/a", payload: "bob" })
        yield* through(space, space.control.resume())
        yield* steps(space, 6)
        assert.strictEqual((yield* space.receipt(sent.id))?.status, "handled")
        assert.strictEqual(yield* space.get("/data/a"), "bob")
        assert.deepStrictEqual((yield* space.receipt(id))?.handlings.map(({ value }) => value), ["bob"])
        assert.strictEqual(reactor.submitted.length, 1)
        yield* replays(space)
      })))
  }

  it.effect("closes a request that was open there, and the run hears of it", () => inSpace(({ open, reactor }) =>
    Effect.gen(function*() {
      const space = yield* open
      const id = yield* begin(space, "a")
      const rid = reactor.jobs[0]?.rid ?? ""
      const horizon = yield* space.head
      reactor.complete(rid, { value: "paid" })
      yield* space.step
      const oid = yield* rolledBack(space, horizon)
      assert.deepInclude((yield* space.ops.get(oid))?.taken?.requests[0], { rid, state: "complete" })
      // It does not hear there, so this signal has no taker.
      const early = yield* space.signal({ signal: "/signals/approved", target: "/data/a", payload: "early", qos: "control" })
      yield* space.step
      yield* through(space, space.control.resume())
      yield* steps(space, 2)
      assert.strictEqual((yield* space.receipt(early.id))?.status, "no-match")
      assert.strictEqual(yield* space.get("/data/a"), "io/taken-back")
      yield* approve(space, "a", "ann")
      yield* steps(space, 3)
      assert.strictEqual((yield* space.receipt(id))?.handlings.at(-1)?.value, "ann")
      assert.strictEqual(reactor.submitted.length, 1)
      yield* replays(space)
    })))

  it.effect("leaves a run as it is that did not change since", () => inSpace(({ open, reactor }) => Effect.gen(function*() {
    const space = yield* open
    const id = yield* begin(space, "a")
    reactor.complete(reactor.jobs[0]?.rid ?? "", { value: "paid" })
    const horizon = yield* space.step
    yield* steps(space, 2)
    yield* rolledBack(space, horizon)
    yield* through(space, space.control.resume())
    assert.deepInclude((yield* space.runs.list({ limit: 10 })).runs[0], { state: "waiting", segment: 2, since: horizon })
    yield* approve(space, "a", "ann")
    yield* steps(space, 3)
    assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.value, "ann")
    yield* replays(space)
  })))
})
