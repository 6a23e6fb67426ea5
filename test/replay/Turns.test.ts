import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { explain, replay, type Space, verify, why } from "systole"
import { setTimeout } from "node:timers/promises"
import * as TestSpace from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

const BEATS = 400

/** A space with a long history, and a counter of its enzyme's runs. */
const old = Effect.gen(function*() {
  const runs = { count: 0 }
  const space = yield* TestKernel.space([
    TestSpace.enzyme("count", (tx) => {
      runs.count++
      tx.increment("/data/count")
    }),
    TestSpace.enzyme("first", (tx) => tx.set("/data/first", 1))
  ])
  yield* space.signal({ signal: "/signals/first" })
  yield* space.step
  for (let i = 0; i < BEATS; i++) {
    yield* space.signal({ signal: "/signals/count" })
    yield* space.step
  }
  return { space, runs }
})

type Look = Parameters<Space["examine"]>[0]

const looks: Readonly<Record<string, Look>> = {
  verify,
  replay: (history) => replay(history, 0, Infinity),
  why: (history) => why(history, "/data/first"),
  explain: (history) => explain(history, 1, "count")
}

describe("A history session", () => {
  for (const [name, look] of Object.entries(looks)) {
    it.effect(`lets the space beat meanwhile (${name})`, () =>
      Effect.gen(function*() {
        const { space } = yield* old
        const order: Array<string> = []
        const looking = yield* Effect.forkChild(
          Effect.tap(space.examine(look), () => Effect.sync(() => order.push("looked"))),
          { startImmediately: true }
        )
        yield* TestSpace.turns(1)
        yield* space.step
        order.push("beat")
        yield* Fiber.join(looking)
        assert.deepStrictEqual(order, ["beat", "looked"])
      }).pipe(Effect.provide(TestKernel.layer())))
  }

  it.effect("is refused during another one, and accepted after it", () =>
    Effect.gen(function*() {
      const { space } = yield* old
      const looking = yield* Effect.forkChild(space.examine(verify), { startImmediately: true })
      assert.strictEqual((yield* Effect.flip(space.examine(verify))).code, "history/busy")
      yield* Fiber.join(looking)
      assert.isUndefined((yield* space.examine(verify)).fault)
      assert.strictEqual((yield* Effect.flip(space.examine((history) => why(history, "nowhere")))).code, "address/invalid")
      assert.isUndefined((yield* space.examine(verify)).fault)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("ends when its client leaves", () =>
    Effect.gen(function*() {
      const { runs, space } = yield* old
      const looking = yield* Effect.forkChild(space.examine((history) => replay(history, 0, Infinity)), { startImmediately: true })
      while (runs.count === BEATS) yield* TestSpace.turns(1)
      yield* Fiber.interrupt(looking)
      yield* TestSpace.turns(30)
      assert.isBelow(runs.count, 2 * BEATS)
      assert.isUndefined((yield* space.examine(verify)).fault)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("ends although the space continues to beat", () =>
    Effect.gen(function*() {
      const TOTAL = 20_000
      const space = yield* TestKernel.space([TestSpace.enzyme("count", (tx) => tx.increment("/data/count"))])
      yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: TOTAL }), () => space.signal({ signal: "/signals/count" }), {
          concurrency: "unbounded",
          discard: true
        }),
        { startImmediately: true }
      )
      yield* TestSpace.turns(20)
      const before = yield* space.head
      const explained = yield* space.examine((history) => explain(history, 0, "count"))
      assert.lengthOf(explained!.signals, 1)
      assert.isBelow((yield* space.head) - before, TOTAL / 4)
    }).pipe(Effect.provide(TestKernel.layer({ pace: "demand" }))))

  it.live("extends the time limit of a run, because it shares the host with beats", () =>
    Effect.gen(function*() {
      let passes = Promise.resolve()
      const space = yield* TestKernel.space([TestSpace.enzyme("slow", async (tx) => {
        // The first run waits for nothing, so no busy machine makes it late. No run may make a timer itself.
        await passes
        tx.set("/data/slow", 1)
      }, { limitMs: 400 })])
      yield* space.signal({ signal: "/signals/slow" })
      yield* space.step
      assert.strictEqual(yield* space.get("/data/slow"), 1)
      passes = setTimeout(800)
      const { difference, impossible } = yield* space.examine((history) => replay(history, 0, Infinity))
      assert.deepStrictEqual([difference, impossible], [undefined, undefined])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("replays as many beats as one request may, and returns the next beat", () =>
    Effect.gen(function*() {
      const { space } = yield* old
      const parts: Array<unknown> = []
      for (let from: number | undefined = 0; from !== undefined;) {
        const part: {
          readonly beats: number; readonly to: number; readonly next?: number | undefined; readonly difference?: unknown
        } = yield* space.examine((history) => replay(history, from, Infinity))
        assert.isUndefined(part.difference)
        parts.push([part.beats, part.to])
        from = part.next
      }
      assert.deepStrictEqual(parts, [[150, 149], [150, 299], [101, 400]])
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...TestKernel.settings.limits, replayBeats: 150 } }))))
})
