import { assert, describe, it } from "@effect/vitest"
import * as Trials from "../support/Trials.ts"
import * as Crash from "./Crash.ts"

const KILLS = Trials.form({ short: 2, long: 6 })

describe("A killed process", () => {
  it("handles every acknowledged signal exactly once after a restart, even if two events crash it", async () => {
    const { acknowledged, duplicated, faults, handled, lost, poisoned } = await Crash.run({ kills: KILLS, seed: 1 })
    assert.deepStrictEqual(
      { duplicated, faults, handled, lost, poisoned },
      { duplicated: 0, faults: [], handled: acknowledged, lost: 0, poisoned: 2 }
    )
    assert.isAtLeast(acknowledged, KILLS)
  })
})
