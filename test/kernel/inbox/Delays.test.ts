import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { At } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme, steps, turns } from "../TestSpace.ts"

/** An enzyme that records its runs with their payloads. */
const recorder = () => {
  const ran: Array<string> = []
  return { ran, made: enzyme("late", (tx, { payload }) => void ran.push(`${payload}@${tx.beat} ${tx.now}`)) }
}
const late = (at: At, payload: unknown) => ({ signal: "/signals/late", at, payload })

describe("a delayed signal", () => {
  it.effect("runs at its beat and not before", () =>
    Effect.gen(function*() {
      const { made, ran } = recorder()
      const space = yield* TestKernel.space([made])
      yield* space.signal(late({ beat: 3 }, "beat"))
      yield* space.signal(late({ beats: 2 }, "beats"))
      yield* space.signal(late({ beats: 0 }, "at once"))
      yield* steps(space, 5)
      assert.deepStrictEqual(ran, ["at once@0 0", "beats@1 0", "beat@3 0"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("in milliseconds runs in the first beat at its clock time, regardless of the number", () =>
    Effect.gen(function*() {
      const { made, ran } = recorder()
      const space = yield* TestKernel.space([made])
      yield* space.signal(late({ ms: 500 }, "ms"))
      yield* steps(space, 5)
      yield* TestClock.adjust("499 millis")
      yield* space.step
      assert.deepStrictEqual(ran, [])
      yield* TestClock.adjust("1 millis")
      yield* space.step
      assert.deepStrictEqual(ran, ["ms@6 500"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("in beats waits for their number and their time", () =>
    Effect.gen(function*() {
      const { made, ran } = recorder()
      const space = yield* TestKernel.space([made, enzyme("start", (tx) => tx.signal(late({ beats: 2 }, "beats")))])
      yield* space.signal({ signal: "/signals/start" })
      yield* steps(space, 4)
      assert.deepStrictEqual(ran, [])
      yield* TestClock.adjust("200 millis")
      yield* space.step
      assert.deepStrictEqual(ran, ["beats@4 200"])
      yield* space.signal({ signal: "/signals/start" })
      yield* space.step
      yield* TestClock.adjust("1 second")
      yield* steps(space, 2)
      assert.deepStrictEqual(ran, ["beats@4 200", "beats@7 1200"])
    }).pipe(Effect.provide(TestKernel.layer({ tempo: 100 }))))

  it.effect("precedes new signals, in the order of arrival", () =>
    Effect.gen(function*() {
      const ran: Array<unknown> = []
      const space = yield* TestKernel.space([enzyme("s", (_, { payload }) => void ran.push(payload), { query: "/signals/:n" })])
      yield* space.signal({ signal: "/signals/1", payload: 1, at: { beat: 2 } })
      yield* space.signal({ signal: "/signals/2", payload: 2, at: { ms: 5 } })
      yield* space.signal({ signal: "/signals/3", payload: 3, at: { beat: 2 } })
      yield* steps(space, 2)
      yield* TestClock.adjust("10 millis")
      yield* space.signal({ signal: "/signals/4", payload: 4 })
      yield* space.step
      assert.deepStrictEqual(ran, [1, 2, 3, 4])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("that does not fit its beat runs in a later one, still in order and before new signals", () =>
    Effect.gen(function*() {
      const ran: Array<unknown> = []
      const space = yield* TestKernel.space([
        enzyme("s", (tx, { payload }) => void ran.push(`${payload}@${tx.beat}`), { query: "/signals/:n" })
      ])
      for (const n of [0, 1, 2, 3, 4]) yield* space.signal({ signal: `/signals/${n}`, payload: n, at: { beat: n < 3 ? 1 : 2 } })
      yield* space.step
      yield* space.signal({ signal: "/signals/new", payload: "new" })
      yield* steps(space, 3)
      assert.deepStrictEqual(ran, ["0@1", "1@1", "2@2", "3@2", "4@3", "new@3"])
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...TestKernel.settings.limits, captureSignals: 2 } }))))

  it.effect("is refused for a past beat", () =>
    Effect.gen(function*() {
      const { made } = recorder()
      const space = yield* TestKernel.space([made])
      yield* steps(space, 3)
      const error = yield* Effect.flip(space.signal(late({ beat: 2 }, "past")))
      assert.strictEqual(error.code, "signal/invalid")
      assert.include(error.message, "beat 2")
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is not runnable while it waits, so its space is idle", () =>
    Effect.gen(function*() {
      const { made, ran } = recorder()
      const space = yield* TestKernel.space([made])
      yield* space.signal(late({ ms: 1000 }, "ms"))
      yield* space.idle
      assert.deepStrictEqual(ran, [])
    }).pipe(Effect.provide(TestKernel.layer())))
})

describe("on demand, at a tempo", () => {
  const demand = TestKernel.layer({ pace: "demand", tempo: 100 })

  it.effect("an idle space sleeps until the delay ends, and its beat takes the due number", () =>
    Effect.gen(function*() {
      const { made, ran } = recorder()
      const space = yield* TestKernel.space([made, enzyme("start", (tx) => tx.signal(late({ beats: 20 }, "beats")))])
      yield* space.handled({ signal: "/signals/start" })
      yield* space.idle
      yield* TestClock.adjust("1999 millis")
      yield* turns()
      assert.strictEqual(yield* space.head, 0)
      yield* TestClock.adjust("1 millis")
      yield* turns()
      assert.deepStrictEqual(ran, ["beats@20 2000"])
      assert.strictEqual(yield* space.head, 20)
      assert.strictEqual(yield* space.journal(7), undefined)
    }).pipe(Effect.provide(demand)))

  it.effect("a beat requested by number comes as if the space had not been idle", () =>
    Effect.gen(function*() {
      const { made, ran } = recorder()
      const space = yield* TestKernel.space([made])
      yield* space.signal(late({ beat: 30 }, "beat"))
      yield* TestClock.adjust("3 seconds")
      yield* turns()
      assert.deepStrictEqual(ran, [])
      yield* TestClock.adjust("100 millis")
      yield* turns()
      assert.deepStrictEqual(ran, ["beat@30 3100"])
    }).pipe(Effect.provide(demand)))

  it.effect("a delay in milliseconds has no number to reach", () =>
    Effect.gen(function*() {
      const { made, ran } = recorder()
      const space = yield* TestKernel.space([made])
      yield* space.signal(late({ ms: 5000 }, "ms"))
      yield* TestClock.adjust("5 seconds")
      yield* turns()
      assert.deepStrictEqual(ran, ["ms@0 5000"])
    }).pipe(Effect.provide(demand)))

  it.effect("several delays end at their own times", () =>
    Effect.gen(function*() {
      const { made, ran } = recorder()
      const space = yield* TestKernel.space([made, enzyme("start", (tx) => {
        for (const n of [5, 2, 9]) tx.signal({ signal: `/signals/late`, payload: n, at: { beats: n } })
        tx.signal(late({ ms: 650 }, "ms"))
      })])
      yield* space.handled({ signal: "/signals/start" })
      for (let i = 0; i < 20; i++) {
        yield* TestClock.adjust("50 millis")
        yield* turns(4)
      }
      assert.deepStrictEqual(ran, ["2@2 200", "5@5 500", "ms@6 650", "9@9 900"])
    }).pipe(Effect.provide(demand)))

  it.effect("a delay that ended during other beats is not extended", () =>
    Effect.gen(function*() {
      const { made, ran } = recorder()
      let release: () => void = () => undefined
      const space = yield* TestKernel.space([
        made,
        enzyme("start", (tx) => tx.signal(late({ beats: 20 }, "beats"))),
        enzyme("slow", () => new Promise<void>((resolve) => { release = resolve })),
        enzyme("other", () => undefined)
      ])
      yield* space.handled({ signal: "/signals/start" })
      yield* TestClock.adjust("1900 millis")
      yield* Effect.forkChild(space.handled({ signal: "/signals/slow" }), { startImmediately: true })
      yield* turns()
      const other = yield* Effect.forkChild(space.handled({ signal: "/signals/other" }), { startImmediately: true })
      yield* TestClock.adjust("150 millis")
      release()
      assert.strictEqual((yield* Fiber.join(other)).beat, 2)
      yield* turns()
      assert.deepStrictEqual(ran, ["beats@20 2050"])
    }).pipe(Effect.provide(demand)))
})
