import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Layer } from "effect"
import { Channel, Enzyme, type IoResult, type Kernel, type Space, type Transaction } from "systole"
import { TestReactor } from "systole/testing"
import { replays, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const channels = { bank: { opcodes: { charge: { repeatable: true }, refund: { repeatable: true } } } }

/** Charges two accounts, and takes the first back if the second fails. */
const pay = Enzyme.make({
  name: "pay",
  query: "/signals/pay",
  durable: true,
  run: async (tx: Transaction) => {
    const first = await tx.io.request({ channel: "bank", opcode: "charge", payload: { cents: 100 } })
    tx.set("/data/first", first.value)
    try {
      const second = await tx.io.request({ channel: "bank", opcode: "charge", payload: { cents: 50 } })
      return second.value
    } catch (error) {
      const { code } = error as { readonly code: string }
      await tx.io.request({ channel: "bank", opcode: "refund", payload: first.value })
      return `refunded: ${code}`
    }
  }
})

/** Waits for a request, or for ten seconds. */
const impatient = Enzyme.make({
  name: "impatient",
  query: "/signals/impatient",
  durable: true,
  run: async (tx: Transaction) => {
    const late = tx.sleep(10_000).then(() => "late")
    return Promise.race([tx.io.request({ channel: "bank", opcode: "charge" }).then((result: IoResult) => result.value), late])
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
  const reactor = new TestReactor(channels)
  return Effect.gen(function*() {
    const space = yield* TestKernel.space([pay, impatient])
    yield* test({ reactor, space, rid: () => reactor.jobs[0]?.rid ?? "" })
    yield* replays(space)
  }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>))
}

describe("requests of durable runs", () => {
  it.effect("are awaited, in the beat that captured the result", () => inSpace(({ reactor, rid, space }) => Effect.gen(function*() {
    const { id } = yield* space.signal({ signal: "/signals/pay" })
    yield* space.step
    reactor.complete(rid(), { value: "receipt 1" })
    yield* space.step
    assert.strictEqual(yield* space.get("/data/first"), "receipt 1")
    reactor.complete(rid(), { value: "receipt 2" })
    yield* space.step
    assert.deepStrictEqual((yield* space.receipt(id))?.handlings.map(({ beat, value }) => [beat, value]), [[2, "receipt 2"]])
    const keys = reactor.submitted.map(({ key }) => key)
    assert.strictEqual(new Set(keys).size, 2)
  })))

  it.effect("that were answered since are listed by a rollback, each with its own dossier", () =>
    inSpace(({ reactor, rid, space }) => Effect.gen(function*() {
      yield* space.signal({ signal: "/signals/pay" })
      const horizon = yield* space.step
      const first = rid()
      reactor.complete(first, { value: "receipt 1" })
      yield* space.step
      reactor.complete(rid(), { value: "receipt 2" })
      yield* space.step
      yield* Effect.forkChild(space.control.pause(), { startImmediately: true })
      yield* steps(space, 5)
      const asked = yield* Effect.forkChild(space.control.rollback(horizon), { startImmediately: true })
      yield* steps(space, 6)
      const { oid } = yield* Fiber.join(asked)
      const taken = (yield* space.ops.get(oid))?.taken
      assert.deepInclude(taken?.requests[0], { rid: first, state: "complete" })
      assert.strictEqual(taken?.count, 1)
    })))

  it.effect("fail with their code, so the body can undo its effects", () => inSpace(({ reactor, rid, space }) => Effect.gen(function*() {
    const { id } = yield* space.signal({ signal: "/signals/pay" })
    yield* space.step
    reactor.complete(rid(), { value: "receipt 1" })
    yield* space.step
    reactor.fail(rid(), Channel.fail("bank/declined", "no money"))
    yield* space.step
    assert.deepInclude(reactor.jobs[0], { opcode: "refund", payload: "receipt 1" })
    reactor.complete(rid())
    yield* space.step
    assert.strictEqual((yield* space.receipt(id))?.handlings[0]?.value, "refunded: bank/declined")
  })))

  it.effect("race with sleeps", () => inSpace(({ reactor, rid, space }) =>
    Effect.gen(function*() {
      const { id } = yield* space.signal({ signal: "/signals/impatient" })
      yield* space.step
      reactor.complete(rid(), { value: 7 })
      yield* steps(space, 3)
      const receipt = yield* space.receipt(id)
      assert.deepStrictEqual(receipt?.handlings.map(({ beat, value }) => [beat, value]), [[1, 7]])
    })))

  it.effect("of runs that are not durable need a signal", () => {
    const hasty = Enzyme.make({
      name: "hasty",
      query: "/signals/hasty",
      run: (tx) => void tx.io.request({ channel: "bank", opcode: "charge" })
    })
    const reactor = new TestReactor(channels)
    return Effect.gen(function*() {
      const space = yield* TestKernel.space([hasty])
      const { id } = yield* space.signal({ signal: "/signals/hasty" })
      yield* space.step
      assert.include((yield* space.receipt(id))?.handlings[0]?.error?.message, "declare the enzyme durable and await it")
    }).pipe(Effect.provide(TestKernel.layer({}, undefined, { reactor: reactor.layer }) as Layer.Layer<Kernel>))
  })
})
