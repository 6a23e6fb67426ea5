import { assert, describe, it } from "@effect/vitest"
import * as Crash from "./Crash.ts"

describe("A process that is killed", () => {
  it("has handled every signal that was answered 202 exactly once after a restart, and no signal twice, though two events take it down", { timeout: 120_000 }, async () => {
    const { acknowledged, duplicated, faults, handled, lost, poisoned } = await Crash.run({ kills: 4, seed: 1 })
    assert.deepStrictEqual({ duplicated, faults, handled, lost, poisoned }, { duplicated: 0, faults: [], handled: acknowledged, lost: 0, poisoned: 2 })
    assert.isAtLeast(acknowledged, 40)
  })
})
