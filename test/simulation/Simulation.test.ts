import { assert, describe, it } from "@effect/vitest"
import * as Trials from "../support/Trials.ts"
import * as Plan from "./Plan.ts"
import { asTest, shrink } from "./Shrink.ts"
import * as Trial from "./Trial.ts"

describe("A simulated world", () => {
  for (const seed of Trials.seedsBy({ ok: 20, test: 50, full: 200, soak: 2000 })) {
    it(`keeps all its rules under seed ${seed}`, async () => {
      const plan = Plan.make(seed)
      const { failure } = await Trial.run(plan)
      if (failure !== undefined) assert.fail(`${failure.message}\n${asTest(await shrink(plan, failure, 3000))}`)
    })
  }
})
