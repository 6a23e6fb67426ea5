import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { replay, verify } from "systole"
import { enzyme } from "../TestSpace.ts"
import * as TestKernel from "../../support/TestKernel.ts"

const count = enzyme("count", (tx) => tx.increment("/data/n"))

describe("the history of a space", () => {
  it.effect("goes before a beat on request, and what is left is verified and replays", () => Effect.gen(function*() {
    const space = yield* TestKernel.space([count], "home")
    for (let beat = 0; beat < 6; beat++) {
      yield* space.signal({ signal: "/signals/count" })
      yield* space.step
    }
    assert.strictEqual(yield* space.storage.prune(0), -1)
    assert.strictEqual(yield* space.storage.prune(3), 2)
    assert.strictEqual(yield* space.storage.prune(2), 2)
    assert.deepInclude(yield* space.examine(verify), { first: 3, last: 5, fault: undefined })
    assert.deepInclude(yield* space.examine((history) => replay(history, undefined, 5)), { from: 3, beats: 3, difference: undefined })
    assert.strictEqual(yield* space.storage.prune(1000), 4)
    assert.deepStrictEqual([yield* space.get("/data/n"), yield* space.head], [6, 5])
  }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("stays while an export reads it", () => Effect.gen(function*() {
    const space = yield* TestKernel.space([count], "home")
    for (let beat = 0; beat < 3; beat++) yield* space.step
    yield* Effect.scoped(Effect.gen(function*() {
      yield* space.pin
      assert.strictEqual((yield* Effect.flip(space.storage.prune(2))).code, "store/pinned")
    }))
    assert.strictEqual(yield* space.storage.prune(2), 1)
  }).pipe(Effect.provide(TestKernel.layer())))
})
