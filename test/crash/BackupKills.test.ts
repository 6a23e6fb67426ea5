import { assert, describe, it } from "@effect/vitest"
import * as Trials from "../support/Trials.ts"
import * as BackupKills from "./BackupKills.ts"

const KILLS = Trials.form({ short: 1, long: 4 })

describe("A server that is killed while it writes a backup", () => {
  it("leaves no file with the name of a backup that is not whole, and the next one goes on", async () => {
    const { faults, met, whole } = await BackupKills.run({ kills: KILLS, seed: 1 })
    assert.deepStrictEqual({ faults, met }, { faults: [], met: KILLS })
    assert.isAtLeast(whole, 1)
  })
})
