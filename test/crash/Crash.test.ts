import { assert, describe, it } from "@effect/vitest"
import * as Crash from "./Crash.ts"

describe("A killed process", () => {
  it("handles every acknowledged signal exactly once after a restart, even if two events crash it", async () => {
    const { acknowledged, duplicated, faults, handled, lost, poisoned } = await Crash.run({ kills: 6, seed: 1 })
    assert.deepStrictEqual(
      { duplicated, faults, handled, lost, poisoned },
      { duplicated: 0, faults: [], handled: acknowledged, lost: 0, poisoned: 2 }
    )
    assert.isAtLeast(acknowledged, 6)
  })
})
