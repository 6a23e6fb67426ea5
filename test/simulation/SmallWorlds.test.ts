import { assert, describe, it } from "@effect/vitest"
import * as Trials from "../support/Trials.ts"
import * as Plan from "./Plan.ts"
import * as Trial from "./Trial.ts"

/** The small worlds among those of so many seeds. */
const seeds = Array.from({ length: Trials.form({ short: 12, long: 40 }) }, (_, i) => 5000 + i)
  .filter((seed) => Plan.make(seed).steps.length < 30)

describe("A small world", () => {
  for (const seed of seeds) {
    it(`keeps all its rules under seed ${seed}`, async () => {
      assert.isUndefined((await Trial.run(Plan.make(seed))).failure)
    })
  }

  it("is the same each time", async () => {
    const counts = async () => [...(await Trial.run(Plan.make(5001))).counts]
    assert.deepStrictEqual(await counts(), await counts())
  })
})
