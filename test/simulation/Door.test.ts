import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { defaults } from "systole"
import { present } from "../support/Present.ts"
import * as Derived from "./Derived.ts"
import * as Plan from "./Plan.ts"
import * as Simulation from "./Simulation.ts"
import { World } from "./World.ts"

/** The request of a reader for the cell of the node `sum`. */
const SUM = 51

describe("A request to a simulated host", () => {
  it("that waits for a held cell ends by the time of the world", async () => {
    const plan: Plan.Plan = { ...Plan.make(1), hosts: 1, spaces: ["one"], faults: [], absent: [], isSmall: false, steps: [] }
    const world = new World(plan)
    try {
      await Simulation.begin(world)
      await world.run(present(await world.space(0)).control.hold)
      await world.swap(Derived.named("sum"), 2)
      const answer = world.ask(Effect.promise(() => present(world.door(0))("one", SUM)))
      await world.advance(defaults.pullMillis - 1)
      assert.isUndefined(answer())
      await world.advance(1)
      assert.deepStrictEqual(answer(), Exit.succeed(503))
    } finally {
      Simulation.end(world)
    }
  })
})
