import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Retry } from "systole"
import * as TestKernel from "../support/TestKernel.ts"
import { enzyme, steps } from "./Kit.ts"

const limits = TestKernel.settings.limits
const count = enzyme("count", (tx) => tx.increment("/data/n"), { query: "/signals/**" })

describe("a beat captures", () => {
  it.effect("1,024 signals, and leaves the others to the next, in order", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([count])
      yield* Effect.forEach(Array.from({ length: 2500 }, (_, i) => i), (i) => space.signal({ signal: `/signals/${i}` }), { concurrency: "unbounded" })
      const taken: Array<number> = []
      for (let beat = 0; beat < 4; beat++) {
        yield* space.step
        taken.push((yield* TestKernel.ledger(space, beat, "inbox"))!.length)
      }
      assert.deepStrictEqual(taken, [1024, 1024, 452, 0])
      assert.strictEqual((yield* TestKernel.ledger(space, 1, "inbox"))![0], "signal=/signals/1024 target=-")
      assert.strictEqual(yield* space.get("/data/n"), 2500)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("as much payload as its limit, and at least one signal", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([count])
      for (let i = 0; i < 5; i++) yield* space.signal({ signal: `/signals/${i}`, payload: "x".repeat(i === 0 ? 500 : 58) })
      const taken: Array<number> = []
      for (let beat = 0; beat < 3; beat++) {
        yield* space.step
        taken.push((yield* TestKernel.ledger(space, beat, "inbox"))!.length)
      }
      assert.deepStrictEqual(taken, [1, 2, 2])
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...limits, captureBytes: 100 } }))))

  it.effect("no more because many attempts or delayed signals are due at once", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("busy", (tx, { attempt }) => attempt === 1 ? new Retry({ reason: "busy" }) : tx.increment("/data/n"), { query: "/signals/busy/*" }),
        enzyme("late", (tx) => tx.increment("/data/n"), { query: "/signals/late/*" })
      ])
      for (let i = 0; i < 12; i++) yield* space.signal({ signal: `/signals/busy/${i}` })
      for (let i = 0; i < 12; i++) yield* space.signal({ signal: `/signals/late/${i}`, at: { ms: 1000 } })
      yield* steps(space, 3)
      yield* TestClock.adjust("1 second")
      const taken: Array<number> = []
      for (let beat = 3; beat < 10; beat++) {
        yield* space.step
        taken.push((yield* TestKernel.ledger(space, beat, "inbox"))!.length)
      }
      assert.deepStrictEqual(taken, [4, 4, 4, 4, 4, 4, 0])
      assert.strictEqual(yield* space.get("/data/n"), 24)
    }).pipe(Effect.provide(TestKernel.layer({ tempo: 100, limits: { ...limits, captureSignals: 4 } }))))
})

describe("an inbox that is full", () => {
  it.effect("refuses a further signal, and takes it once there is room", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([count])
      for (let i = 0; i < 3; i++) yield* space.signal({ signal: `/signals/${i}` })
      const error = yield* Effect.flip(space.signal({ signal: "/signals/more" }))
      assert.strictEqual(error.code, "inbox/full")
      yield* space.step
      yield* space.signal({ signal: "/signals/more" })
      yield* space.step
      assert.strictEqual(yield* space.get("/data/n"), 4)
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...limits, inboxSignals: 3 } }))))

  it.effect("of payload refuses a further one, too, but nothing that it knows already", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([count])
      const big = { signal: "/signals/a", id: "a", payload: "x".repeat(90) }
      yield* space.signal(big)
      assert.strictEqual((yield* Effect.flip(space.signal({ signal: "/signals/b", payload: "x".repeat(10) }))).code, "inbox/full")
      assert.isTrue((yield* space.signal(big)).duplicate)
      yield* space.signal({ signal: "/signals/c" })
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...limits, inboxBytes: 100 } }))))

  it.effect("holds up nothing that runs send", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("fan", (tx) => {
          for (let i = 0; i < 50; i++) tx.signal({ signal: `/signals/n/${i}`, payload: i })
        }),
        enzyme("n", (tx) => tx.increment("/data/n"), { query: "/signals/n/*" })
      ])
      yield* space.signal({ signal: "/signals/fan" })
      yield* steps(space, 2)
      yield* space.signal({ signal: "/signals/fan" })
      assert.strictEqual(yield* space.get("/data/n"), 50)
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...limits, inboxSignals: 1 } }))))
})
