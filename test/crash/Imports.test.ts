import { assert, describe, it } from "@effect/vitest"
import * as Trials from "../support/Trials.ts"
import * as Imports from "./Imports.ts"

const KILLS = Trials.form({ short: 2, long: 12 })

describe("An import over HTTP whose server is killed", () => {
  it("N33 has left the whole space or none after the restart, and goes on to its end", async () => {
    const { absent, faults, unfinished, whole } = await Imports.run({ kills: KILLS, seed: 1 })
    assert.deepStrictEqual(faults, [])
    assert.strictEqual(absent + unfinished + whole, KILLS)
  })
})
