import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { verify } from "systole"
import { Import } from "../../src/archive/Import.ts"
import { over } from "../simulation/Over.ts"
import { replays, steps } from "../kernel/TestSpace.ts"
import { bring, frameOf, node } from "./Nodes.ts"
import * as Spaces from "./Spaces.ts"

describe("an import", () => {
  it.effect("N33 whose process ended with its last rows on the disk begins anew, also with another frame", () => Effect.gen(function*() {
    const here = yield* node({ modules: Spaces.enzymes })
    const a = yield* here.kernel.space("a")
    yield* steps(a, 8)
    yield* Spaces.before(a)
    const frame = yield* frameOf(here, "a")
    // The process ends after the rows are durable, and before the store is whole.
    yield* Effect.scoped(Effect.gen(function*() {
      const store = yield* here.kernel.importing("copy")
      let flushes = 0
      const flush = Effect.suspend(() => flushes++ === 0 ? store.flush : Effect.interrupt)
      const importer = new Import(over(store, { flush }), { hash: here.hash }, { id: "abcdefgh", why: "copy" })
      yield* importer.take(frame, 0)
      const exit = yield* Effect.exit(importer.end())
      assert.deepStrictEqual([exit._tag, flushes], ["Failure", 2])
    }))
    yield* Spaces.meanwhile(a)
    const { space } = yield* bring(here, "copy", { frames: [yield* frameOf(here, "a")] })
    yield* space.step
    assert.isUndefined((yield* space.examine(verify)).fault)
    assert.strictEqual(yield* space.head, (yield* a.head) + 1)
    yield* replays(space)
  }).pipe(Effect.scoped))
})
