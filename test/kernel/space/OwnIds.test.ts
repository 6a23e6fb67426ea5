import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Schema from "effect/Schema"
import { Enzyme, type Receipt, replay, Retry, Signal, type Space, verify } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, steps } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const pay = enzyme("pay", (_, { payload }) => payload, { query: "/signals/pay" })
const post = { signal: "/signals/pay", id: "order-7", payload: 5 }

const idOf = (space: Space, text: string) => Effect.map(space.receipt(text), (receipt) => receipt?.id)
const refusal = (space: Space, text: string) => Effect.map(Effect.flip(space.receipt(text)), ({ code, message }) => ({ code, message }))

describe("an event with its caller's own id", () => {
  it.effect("is found by it while it waits, in a beat that repeats it, and when it is over", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([enzyme("pay", (_, { attempt }) => attempt < 3 ? new Retry({ reason: "busy" }) : attempt)])
      const { id } = yield* space.signal({ ...post, at: { beats: 2 } })
      const seen: Array<Receipt["status"] | undefined> = []
      for (let i = 0; i < 8; i++) {
        const receipt = yield* space.receipt("order-7")
        assert.deepInclude(receipt, { id, own: "order-7" })
        assert.deepStrictEqual(receipt, yield* space.receipt(id))
        seen.push(receipt?.status)
        yield* space.step
      }
      assert.deepStrictEqual([seen[0], seen.at(-1)], ["pending", "handled"])
      assert.deepStrictEqual(yield* space.handled(post), yield* space.settled("order-7"))
      assert.isUndefined(yield* space.receipt("order-70"))
      assert.deepStrictEqual(yield* space.get("/rt/receipts/order-7"), yield* space.get(`/rt/receipts/${id}`))
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is found by it after the space was opened again, handled or not, and its beats replay", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const before = yield* machine.boot([pay])
      const { id } = yield* before.signal(post)
      const late = yield* before.signal({ ...post, id: "order-8", at: { beats: 5 } })
      const waiting = yield* machine.boot([pay])
      assert.strictEqual(yield* idOf(waiting, "order-7"), id)
      yield* waiting.step
      const after = yield* machine.boot([pay])
      assert.deepInclude(yield* after.receipt("order-7"), { id, own: "order-7", status: "handled" })
      assert.deepInclude(yield* after.receipt("order-8"), { id: late.id, own: "order-8", status: "pending" })
      yield* steps(after, 6)
      assert.deepInclude(yield* after.receipt("order-8"), { id: late.id, own: "order-8", status: "handled" })
      const head = yield* after.head
      assert.isUndefined((yield* after.examine((history) => replay(history, 0, head))).difference)
      assert.isUndefined((yield* after.examine(verify)).fault)
    }))

  it.effect("is known again by it after its beat has passed, and under a type that refuses it, where a new one is refused", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const before = yield* machine.boot([pay])
      const timed = { ...post, at: { beat: 2 } }
      const { id } = yield* before.signal(timed)
      yield* steps(before, 4)
      const Pay = Signal.make("/signals/pay", Schema.Struct({ sum: Schema.Finite }))
      const after = yield* machine.boot([Enzyme.make({ name: "pay", query: Pay, run: () => {} })])
      assert.deepInclude(yield* after.signal(timed), { id, duplicate: true })
      assert.deepInclude(yield* after.handled(timed), { id, status: "handled" })
      for (const [given, reason] of [[{ ...timed, payload: { sum: 5 } }, "beat 2 is not to come"], [post, "expected an object"]] as const) {
        const refused = yield* Effect.flip(after.signal({ ...given, id: "order-8" }))
        assert.strictEqual(refused.code, "signal/invalid")
        assert.include(refused.message, reason)
      }
    }))

  it.effect("is found by it as long as its receipt is retained, also without its journal", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([pay])
      const { id } = yield* space.signal(post)
      yield* steps(space, 600)
      assert.isUndefined(yield* space.journal(0))
      assert.deepStrictEqual(yield* space.receipt("order-7"), { id, own: "order-7", status: "pruned", beat: 0, handlings: [] })
      yield* TestClock.adjust("8 days")
      yield* steps(space, 300)
      assert.isUndefined(yield* space.receipt("order-7"))
    }).pipe(Effect.provide(TestKernel.layer({ retention: { journalBytes: 20_000 } }))))

  it.effect("is not found by an own id of several events, which the refusal lists", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([pay])
      const one = yield* space.signal(post)
      yield* space.step
      const two = yield* space.signal({ ...post, signal: "/signals/other" })
      const three = yield* space.signal({ ...post, principal: "ann" })
      for (let i = 0; i < 3; i++) {
        const { code, message } = yield* refusal(space, "order-7")
        assert.strictEqual(code, "id/ambiguous")
        for (const text of ["\"order-7\" names 3 events", `${one.id} (handled, pay)`, two.id, three.id]) assert.include(message, text)
        assert.strictEqual(yield* idOf(space, two.id), two.id)
        yield* space.step
      }
      assert.strictEqual((yield* Effect.flip(space.get("/rt/receipts/order-7"))).code, "id/ambiguous")
      assert.strictEqual((yield* Effect.flip(space.settled("order-7"))).code, "id/ambiguous")
      assert.lengthOf(yield* space.receipts("order-7"), 3)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is found among many that wait in the store", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([pay])
      const far = { beats: 1000 }
      for (let n = 0; n < 50; n++) yield* space.signal({ ...post, id: `order-${n}`, at: far })
      for (const n of [0, 31, 49]) assert.deepInclude(yield* space.receipt(`order-${n}`), { own: `order-${n}`, status: "pending" })
      for (let n = 0; n < 30; n++) yield* space.signal({ ...post, id: "daily", target: `/data/shop/${n}`, at: far })
      assert.include((yield* refusal(space, "daily")).message, "names 20 events")
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...TestKernel.settings.limits, captureSignals: 4 } }))))

  it.effect("shows it in the waiting list, and only there if the caller gave it", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([pay])
      yield* space.signal({ ...post, at: { beats: 9 } })
      yield* space.signal({ signal: post.signal, at: { beats: 9 } })
      yield* space.signal({ signal: post.signal, principal: "ann", at: { beats: 9 } })
      const { waiting } = yield* space.waiting({ limit: 10 })
      assert.deepStrictEqual(waiting.map(({ own }) => own), ["order-7", undefined, undefined])
    }).pipe(Effect.provide(TestKernel.layer())))

  for (const own of ["x.12.0", "12.0.3", "12.cei.0", "12.dead.1", "0123456789abcdef0123456789abcdef"]) {
    it.effect(`may not look like an id of the runtime, such as ${own}`, () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space([pay])
        const error = yield* Effect.flip(space.signal({ ...post, id: own }))
        assert.strictEqual(error.code, "signal/invalid")
        assert.include(error.message, own)
      }).pipe(Effect.provide(TestKernel.layer())))
  }

  it.effect("has any other id", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([pay])
      const hex = ["0123456789ABCDEF0123456789ABCDEF", "123e4567-e89b-12d3-a456-426614174000"]
      const ids = ["x.12", "1.2.3-a", "x.1.2.3", "7", ...hex, "\u{1f600}\"\n"]
      for (const id of ids) {
        yield* space.signal({ ...post, id })
        assert.deepInclude(yield* space.receipt(id), { own: id })
      }
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("has it after its dead letter was sent again", () =>
    Effect.gen(function*() {
      let isMended = false
      const space = yield* TestKernel.space([enzyme("pay", () => {
        if (!isMended) throw new Error("not yet")
      })])
      const { id } = yield* space.signal(post)
      yield* steps(space, 2)
      assert.deepInclude((yield* space.dead({ limit: 1 })).letters[0], { id, own: "order-7" })
      assert.deepInclude(yield* space.letter("order-7", "pay"), { id, own: "order-7", message: "not yet" })
      assert.strictEqual((yield* controlled(space, space.redeliver("order-7", "other")))._tag, "Failure")
      isMended = true
      assert.strictEqual((yield* controlled(space, space.redeliver("order-7", "pay")))._tag, "Success")
      yield* steps(space, 3)
      assert.deepInclude(yield* space.receipt("order-7"), { id, own: "order-7", status: "handled" })
      assert.isUndefined(yield* space.letter("order-7", "pay"))
    }).pipe(Effect.provide(TestKernel.layer())))
})
