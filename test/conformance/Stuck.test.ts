import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { replays, steps } from "../kernel/TestSpace.ts"
import { processes } from "../support/TestWatchdog.ts"
import * as TestKernel from "../support/TestKernel.ts"

describe("C: runs that never return", () => {
  it.effect("C34 a run that never returns is retried once after its process ends, then buried, and all others are handled once", () =>
    Effect.gen(function*() {
      const { ends, reach, start } = yield* processes("poison")
      const first = yield* start()
      const { id } = yield* first.signal({ signal: "/signals/s/1", payload: "poison" })
      yield* first.signal({ signal: "/signals/s/2", payload: "good" })
      yield* reach(first)
      ends.bark()
      assert.deepStrictEqual(ends.marks("machine"), [{ beat: 0, enzyme: "poisoned", event: id }])

      const second = yield* start()
      yield* reach(second)
      assert.strictEqual(yield* second.get("/data/poisoned/good"), 1)
      assert.deepStrictEqual((yield* TestKernel.diagnostics(second)).map(({ code, topic }) => [topic, code]), [["run/stuck", "run/stuck"]])
      ends.bark()

      const third = yield* start()
      yield* steps(third, 2)
      const [letter] = (yield* third.dead({ limit: 10 })).letters
      assert.deepInclude(letter, { id, enzyme: "poisoned", code: "run/stuck", attempt: 2 })
      assert.strictEqual(yield* third.get("/data/other/poison"), 1)
      assert.strictEqual(yield* third.get("/data/other/good"), 1)
      assert.deepStrictEqual(ends.marks("machine"), [])
      yield* replays(third)
    }))
})
