import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { MemoryStore } from "systole"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import * as Trials from "../support/Trials.ts"
import { pairs, singles } from "./FaultyStore.ts"
import * as Scenarios from "./Scenarios.ts"
import * as Trial from "./Trial.ts"

/** Tries faults of a scenario, spread over all that there are, and finds that each is outlived. */
const outlives = (scenario: Scenarios.Scenario, layer: Trial.Fresh, make: typeof singles) =>
  Effect.gen(function*() {
    const [offered, tried]: readonly [Array<unknown>, Array<unknown>] = [[], []]
    const { failures, faults } = yield* Trial.tryAll(scenario, layer, (counts) => {
      const all = make(counts)
      const some = Trials.some(all, { least: 26 })
      offered.push(...all)
      tried.push(...some)
      return some
    })
    assert.deepStrictEqual(failures, [])
    assert.isAbove(offered.length, 50)
    assert.isAtLeast(faults, tried.length)
  })

describe("Whatever call of the store breaks, and however, all that was acknowledged is handled once", () => {
  for (const scenario of Scenarios.all) {
    it.effect(`in memory: ${scenario.name}`, () => outlives(scenario, MemoryStore.layer, singles), 60_000)
  }

  it.effect(`in memory, and breaks again while it recovers: ${Scenarios.all[0]!.name}`, () => outlives(Scenarios.all[0]!, MemoryStore.layer, pairs), 60_000)

  it.effect(`in SQLite: ${Scenarios.all[0]!.name}`, () => outlives(Scenarios.all[0]!, SqliteFolder.layer, singles), 60_000)
})
