import { assert, describe, it } from "@effect/vitest"
import * as Trials from "../support/Trials.ts"
import * as Upgrade from "./Upgrade.ts"

/** Only format 11 has a row in parts. */
const FORMATS = Trials.form<ReadonlyArray<10 | 11>>({ short: [11], long: [10, 11] })

describe("A store that is upgraded under load", () => {
  it.each(FORMATS)("of format %i has each event once after kills before, in and after the upgrade", async (format) => {
    const { acknowledged, after, before, ...found } = await Upgrade.run({ seed: 1, format, kills: 1 })
    assert.deepStrictEqual(found, { lost: 0, twice: 0, faults: [] })
    assert.deepStrictEqual([before, after], [[format, format], [12, 12]])
    assert.isAtLeast(acknowledged, 15)
  })
})
