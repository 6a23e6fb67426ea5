import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Retry } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme, steps, turns } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const pay = () => {
  const state = { runs: 0 }
  return { state, made: enzyme("pay", () => ++state.runs, { query: "/signals/pay" }) }
}
const post = { signal: "/signals/pay", id: "order-7", payload: { cents: 5, to: "a" } }

describe("an event with its caller's id", () => {
  it.effect("runs once for any number of deliveries, all answered with the first receipt", () =>
    Effect.gen(function*() {
      const { made, state } = pay()
      const space = yield* TestKernel.space([made])
      const first = yield* space.signal(post)
      const waiting = yield* space.signal(post)
      yield* space.step
      const later = yield* space.signal({ ...post, payload: { to: "a", cents: 5 } })
      yield* steps(space, 2)
      assert.strictEqual(state.runs, 1)
      assert.deepStrictEqual([first.duplicate, waiting.duplicate, later.duplicate], [false, true, true])
      assert.deepStrictEqual([first.id, waiting.id, later.id], [first.id, first.id, first.id])
      assert.deepStrictEqual([waiting.beat, later.beat], [undefined, 0])
      assert.deepStrictEqual(yield* space.handled(post), yield* space.receipt(first.id))
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is refused with another payload, at any time", () =>
    Effect.gen(function*() {
      const { made, state } = pay()
      const space = yield* TestKernel.space([made])
      yield* space.signal(post)
      const refused = { ...post, payload: { cents: 6, to: "a" } }
      for (let i = 0; i < 3; i++) {
        const error = yield* Effect.flip(space.signal(refused))
        assert.strictEqual(error.code, "signal/id-reused")
        assert.include(error.message, "order-7")
        assert.strictEqual((yield* Effect.flip(space.signal({ signal: post.signal, id: post.id }))).code, "signal/id-reused")
        yield* space.step
      }
      assert.strictEqual(state.runs, 1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is another event for another caller, signal or target", () =>
    Effect.gen(function*() {
      const { made, state } = pay()
      const space = yield* TestKernel.space([made, enzyme("other", () => undefined)])
      const posts = [
        post,
        { ...post, principal: "ann" },
        { ...post, signal: "/signals/other" },
        { ...post, target: "/data/x" },
        { ...post, id: "order-8" }
      ]
      const ids = yield* Effect.forEach(posts, (each) => space.signal(each))
      assert.strictEqual(new Set(ids.map(({ id }) => id)).size, posts.length)
      assert.isTrue(ids.every(({ id }) => /^[0-9a-f]{32}$/.test(id)))
      yield* steps(space, 3)
      assert.strictEqual(state.runs, 3)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is the same event after the space was opened again, handled or not", () =>
    Effect.gen(function*() {
      const { made, state } = pay()
      const machine = yield* TestMachine.make
      const before = yield* machine.boot([made])
      const first = yield* before.signal(post)
      const waiting = yield* machine.boot([made])
      assert.isTrue((yield* waiting.signal(post)).duplicate)
      assert.strictEqual((yield* Effect.flip(waiting.signal({ ...post, payload: 0 }))).code, "signal/id-reused")
      yield* waiting.step
      const after = yield* machine.boot([made])
      assert.deepStrictEqual(yield* after.signal(post), { id: first.id, beat: 0, duplicate: true })
      assert.strictEqual((yield* Effect.flip(after.signal({ ...post, payload: 0 }))).code, "signal/id-reused")
      yield* after.step
      assert.strictEqual(state.runs, 1)
    }))

  it.effect("is the same event during retries and delays", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("pay", (_, { attempt }) => attempt < 3 ? new Retry({ reason: "busy" }) : attempt)])
      yield* space.signal({ ...post, at: { beats: 2 } })
      for (let i = 0; i < 6; i++) {
        assert.isTrue((yield* space.signal(post)).duplicate)
        yield* space.step
      }
      assert.strictEqual((yield* space.handled(post)).handlings[0]?.value, 3)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is the same event after the journal was pruned, and another after its retention", () =>
    Effect.gen(function*() {
      const { made, state } = pay()
      const space = yield* TestKernel.space([made])
      const first = yield* space.signal(post)
      yield* steps(space, 600)
      assert.isUndefined(yield* space.journal(0))
      assert.deepStrictEqual(yield* space.signal(post), { id: first.id, beat: 0, duplicate: true })
      assert.strictEqual((yield* Effect.flip(space.signal({ ...post, payload: 0 }))).code, "signal/id-reused")
      assert.deepStrictEqual(yield* space.handled(post), { id: first.id, own: "order-7", status: "pruned", beat: 0, handlings: [] })
      yield* TestClock.adjust("8 days")
      yield* steps(space, 300)
      assert.isFalse((yield* space.signal(post)).duplicate)
      yield* space.step
      assert.strictEqual(state.runs, 2)
      assert.deepStrictEqual((yield* space.receipt(first.id))?.handlings.map(({ beat, value }) => [beat, value]), [[900, 2]])
    }).pipe(Effect.provide(TestKernel.layer({ retention: { journalBytes: 20_000 } }))))

  it.effect("is retained from the end of its last handling", () =>
    Effect.gen(function*() {
      const state = { runs: 0 }
      const space = yield* TestKernel.space([enzyme("pay", (_, { attempt }) => {
        state.runs++
        return attempt < 2 ? new Retry({ reason: "busy" }) : attempt
      })])
      const { id } = yield* space.signal(post)
      yield* space.step
      yield* TestClock.adjust("6 days")
      yield* space.step
      yield* TestClock.adjust("6 days")
      yield* steps(space, 600)
      assert.isTrue((yield* space.signal(post)).duplicate)
      assert.deepStrictEqual([state.runs, (yield* space.receipt(id))?.status], [2, "handled"])
      yield* TestClock.adjust("2 days")
      yield* steps(space, 600)
      yield* space.signal(post)
      yield* steps(space, 1)
      const again = { id, own: "order-7", status: "pending", beat: 1202, handlings: [] }
      assert.deepStrictEqual([state.runs, yield* space.receipt(id)], [3, again])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is the same event for all spellings of its target", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      const posts = ["/data/x", "/data/x?scope=space", "/data/x#"].map((target) => ({ ...post, target }))
      const answers = yield* Effect.forEach(posts, (each) => space.signal(each))
      assert.deepStrictEqual(answers.map(({ duplicate, id }) => [id, duplicate]), [
        [answers[0]!.id, false], [answers[0]!.id, true], [answers[0]!.id, true]
      ])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("has an id of 1 to 512 characters", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      for (const id of ["", "x".repeat(513)]) assert.strictEqual((yield* Effect.flip(space.signal({ ...post, id }))).code, "signal/invalid")
      yield* space.signal({ ...post, id: "x".repeat(512) })
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("an event without one", () => {
  it.effect("gets an id with the number of the next beat", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("s", () => undefined)])
      const ids: Array<string> = []
      for (let i = 0; i < 2; i++) ids.push((yield* space.signal({ signal: "/signals/s" })).id)
      yield* space.step
      ids.push((yield* space.signal({ signal: "/signals/s" })).id)
      assert.deepStrictEqual(ids, ["x.0.0", "x.0.1", "x.1.0"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("gets no id from before the space was reopened", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const given: Array<string> = []
      for (let i = 0; i < 3; i++) {
        const space = yield* machine.boot([])
        for (let k = 0; k < 2; k++) given.push((yield* space.signal({ signal: "/signals/s" })).id)
      }
      assert.strictEqual(new Set(given).size, 6)
    }))
})

describe("the receipt of an event without one", () => {
  const late = () => enzyme("s", (_, { attempt }) => attempt < 2 ? new Retry({ reason: "busy" }) : attempt)

  it.effect("is complete as long as the journal, regardless of the end of its handlings", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([late()])
      const waited = yield* space.signal({ signal: "/signals/s", at: { beats: 3 } })
      const { id } = yield* space.signal({ signal: "/signals/s" })
      yield* steps(space, 6)
      const before = yield* Effect.forEach([id, waited.id], (id) => space.receipt(id))
      assert.deepStrictEqual(before.map((receipt) => [receipt?.status, receipt?.beat]), [["handled", 0], ["handled", 2]])
      yield* TestClock.adjust("8 days")
      yield* steps(space, 600)
      assert.deepStrictEqual(yield* Effect.forEach([id, waited.id], (id) => space.receipt(id)), before)
      yield* TestClock.adjust("23 days")
      yield* steps(space, 600)
      assert.deepStrictEqual(yield* Effect.forEach([id, waited.id], (id) => space.receipt(id)), [undefined, undefined])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("reaches its waiters even if the journal was pruned past its begin", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("s", (_, { attempt }) => attempt < 14 ? new Retry({ reason: "busy" }) : attempt, { retry: { attempts: 20 } })
      ])
      const waiting = yield* Effect.forkChild(space.handled({ signal: "/signals/s" }), { startImmediately: true })
      yield* steps(space, 600)
      const receipt = yield* Fiber.join(waiting)
      assert.isUndefined(yield* space.journal(0))
      assert.deepInclude(receipt, { status: "pruned", beat: 0 })
      assert.deepStrictEqual(receipt.handlings.map(({ attempt, value }) => [attempt, value]), [[14, 14]])
    }).pipe(Effect.provide(TestKernel.layer({ retention: { journalBytes: 20_000 } }))))
})

describe("handled", () => {
  it.effect("returns after the last handling", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("quick", () => 1, { query: "/signals/s" }),
        enzyme("slow", (_, { attempt }) => attempt < 2 ? new Retry({ reason: "busy" }) : 2, { query: "/signals/s" })
      ])
      const waiting = yield* Effect.forkChild(space.handled({ signal: "/signals/s" }), { startImmediately: true })
      yield* space.step
      yield* turns()
      assert.isUndefined(waiting.pollUnsafe())
      yield* space.step
      const receipt = yield* Fiber.join(waiting)
      assert.deepStrictEqual(receipt.handlings.map(({ enzyme, value }) => [enzyme, value]), [["quick", 1], ["slow", 2]])
      assert.deepStrictEqual(receipt, yield* space.receipt(receipt.id))
      assert.deepStrictEqual(receipt, yield* space.settled(receipt.id))
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("returns for unmatched signals as well", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      const receipt = yield* space.handled({ signal: "/signals/nobody" })
      assert.deepStrictEqual(receipt, { id: "x.0.0", status: "no-match", beat: 0, handlings: [] })
      assert.strictEqual(yield* space.receipt("x.9.9"), undefined)
      assert.strictEqual(yield* space.settled("nope"), undefined)
    }).pipe(Effect.provide(TestKernel.layer({ pace: "demand" }))))
})
