import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Daemon from "../../src/diagnostic/Daemon.ts"

/** Passes with these ends, one each second, and their log. */
const passes = Effect.fnUntraced(function*(ends: ReadonlyArray<Effect.Effect<void, string>>, isLogBroken = false) {
  const log: Array<string> = []
  let count = 0
  const pass = Effect.suspend(() => {
    log.push("pass")
    return ends[count++] ?? Effect.void
  })
  const failed = (failure: unknown) => Effect.sync(() => {
    log.push(String(failure))
    if (isLogBroken) throw new Error("the log is broken")
  })
  const fiber = yield* Effect.forkChild(Daemon.every(1000, pass, failed), { startImmediately: true })
  return { fiber, log }
})

describe("Work that a host repeats", () => {
  it.effect("goes on after a failure, after an unexpected one, and after one of its log, each after the same wait", () =>
    Effect.gen(function*() {
      const ends = [Effect.fail("refused"), Effect.die(new Error("a defect")), Effect.sync(() => {
        throw new Error("thrown")
      })]
      for (const isLogBroken of [false, true]) {
        const { log } = yield* passes(ends, isLogBroken)
        yield* TestClock.adjust(999)
        assert.deepStrictEqual(log, [])
        yield* TestClock.adjust(1)
        assert.deepStrictEqual(log, ["pass", "refused"])
        yield* TestClock.adjust(3000)
        assert.deepStrictEqual(log.slice(2), ["pass", "Error: a defect", "pass", "Error: thrown", "pass"])
      }
    }))

  it.effect("ends with its interruption, within a pass too, without a failure", () =>
    Effect.gen(function*() {
      const { fiber, log } = yield* passes([Effect.never])
      yield* TestClock.adjust(1000)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      assert.deepStrictEqual(log, ["pass"])
    }))
})
