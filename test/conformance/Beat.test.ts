import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme } from "systole"
import * as TestKernel from "../support/TestKernel.ts"

const emitter = Enzyme.make({
  name: "first",
  query: "/signals/first",
  run: (tx) => {
    tx.set("/data/first", tx.beat)
    tx.signal({ signal: "/signals/second" })
  }
})
const second = Enzyme.make({ name: "second", query: "/signals/second", run: (tx) => tx.set("/data/second", tx.beat) })

describe("C: the beat cycle", () => {
  it.effect("C1 a signal runs in the step after it was posted, and what it emits runs in the next step", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([emitter, second])
      yield* space.signal({ signal: "/signals/first" })
      assert.strictEqual(yield* space.step, 0)
      assert.strictEqual(yield* space.get("/data/first"), 0)
      assert.strictEqual(yield* space.get("/data/second"), undefined)
      assert.strictEqual(yield* space.step, 1)
      assert.strictEqual(yield* space.get("/data/second"), 1)
      console.log(yield* space.get("/rt/beat/0/agenda"), yield* space.get("/rt/beat/0/stage"), yield* space.get("/rt/beat/1/inbox"), yield* space.get("/rt/beat/1/meta"), yield* space.receipt("x.0.0"))
    }).pipe(Effect.provide(TestKernel.layer())))
})
