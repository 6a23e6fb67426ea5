import { assert, describe, it } from "@effect/vitest"
import * as Upgrade from "./Upgrade.ts"

describe("A store that is upgraded under load", () => {
  it.each([10, 11] as const)("of format %i has each event once after kills before, in and after the upgrade", async (format) => {
    const { acknowledged, after, before, ...found } = await Upgrade.run({ seed: 1, format, kills: 1 })
    assert.deepStrictEqual(found, { lost: 0, twice: 0, faults: [] })
    assert.deepStrictEqual([before, after], [[format, format], [12, 12]])
    assert.isAtLeast(acknowledged, 15)
  })
})
