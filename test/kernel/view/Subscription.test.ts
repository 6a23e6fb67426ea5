import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Stream } from "effect"
import * as Subscription from "../../../src/kernel/view/Subscription.ts"
import { MAX_MISSED } from "../../../src/kernel/view/CatchUp.ts"

/** A stream of numbers, its source, and the counts of its begins and ends. */
const told = (left: (waiting: Array<number>, next: number) => Array<number> = (waiting) => waiting) => {
  const seen = { begun: 0, ended: 0 }
  const feeds: Array<Subscription.Subscription<number, "broken">> = []
  const stream = Subscription.stream<number, "broken">({ left }, (feed) => {
    seen.begun++
    feeds.push(feed)
    return () => {
      seen.ended++
    }
  })
  return { stream, seen, feeds }
}

/** Subscribes without waiting, and collects the values. */
const listen = (stream: Stream.Stream<number, "broken">) => {
  const heard: Array<number> = []
  return Effect.map(
    Effect.forkChild(
      Effect.exit(Stream.runForEach(stream, (value) => Effect.sync(() => void heard.push(value)))), { startImmediately: true }
    ),
    (fiber) => ({ fiber, heard })
  )
}

describe("a subscription", () => {
  it.effect("publishes in order, within the call", () =>
    Effect.gen(function*() {
      const { feeds, stream } = told()
      const { fiber, heard } = yield* listen(stream)
      for (let value = 0; value < 5; value++) {
        feeds[0]!.tell(value)
        assert.deepStrictEqual(heard, Array.from({ length: value + 1 }, (_, i) => i))
      }
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("begins for each subscriber, and ends once: by completion, interruption or the end of the source", () =>
    Effect.gen(function*() {
      const { feeds, seen, stream } = told()
      assert.strictEqual(seen.begun, 0)
      const enough = yield* Effect.forkChild(Stream.runHead(stream), { startImmediately: true })
      feeds[0]!.tell(1)
      feeds[0]!.tell(2)
      assert.strictEqual((yield* Fiber.join(enough))._tag, "Some")
      assert.deepStrictEqual(seen, { begun: 1, ended: 1 })
      const { fiber } = yield* listen(stream)
      yield* Fiber.interrupt(fiber)
      feeds[1]!.tell(1)
      assert.deepStrictEqual(seen, { begun: 2, ended: 2 })
      const last = yield* listen(stream)
      feeds[2]!.end(Cause.done())
      assert.isTrue(Exit.isSuccess(yield* Fiber.join(last.fiber)))
      assert.deepStrictEqual(seen, { begun: 3, ended: 3 })
    }))

  for (const [how, over] of [["fails", Effect.fail("broken" as const)], ["ends", Cause.done()]] as const) {
    it.effect(`${how} after all waiting values, once`, () =>
      Effect.gen(function*() {
        const stream = Subscription.stream<number, "broken">({ left: (waiting) => waiting }, (feed) => {
          for (const value of [1, 2, 3]) feed.tell(value)
          feed.end(over)
          feed.tell(4)
          feed.end(Effect.die("again"))
          return () => {}
        })
        const { fiber, heard } = yield* listen(stream)
        assert.strictEqual(String(yield* Fiber.join(fiber)), String(yield* Effect.exit(how === "fails" ? over : Effect.void)))
        assert.deepStrictEqual(heard, [1, 2, 3])
      }))
  }

  it.effect("buffers up to its limit for a lagging subscriber, and then applies `Lag.left`", () =>
    Effect.gen(function*() {
      const waited: Array<number> = []
      const { feeds, stream } = told((waiting, next) => {
        waited.push(waiting.length)
        return [next]
      })
      const batches: Array<ReadonlyArray<number>> = []
      const gate = yield* Effect.forkChild(Stream.runForEachArray(stream, (batch) => {
        batches.push(batch)
        return batches.length === 1 ? Effect.yieldNow : Effect.void
      }), { startImmediately: true })
      const all = Array.from({ length: MAX_MISSED + 2 }, (_, i) => i)
      for (const value of all.slice(0, -1)) feeds[0]!.tell(value)
      assert.deepStrictEqual(batches, [[0]])
      assert.deepStrictEqual(waited, [])
      feeds[0]!.tell(all.at(-1)!)
      assert.deepStrictEqual(waited, [MAX_MISSED])
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      assert.deepStrictEqual(batches, [[0], [all.at(-1)!]])
      yield* Fiber.interrupt(gate)
    }))
})
