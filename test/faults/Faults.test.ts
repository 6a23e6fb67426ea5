import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { MemoryStore } from "systole"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import * as Trials from "../support/Trials.ts"
import { pairs, randoms, singles } from "./FaultyStore.ts"
import type { Scenario } from "./Scenario.ts"
import * as Scenarios from "./Scenarios.ts"
import * as Trial from "./Trial.ts"

/** Tries a sample of the faults of a scenario, and asserts that the space recovers from each. */
const recovers = (scenario: Scenario, layer: Trial.Fresh, make: typeof singles) =>
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

describe("An acknowledged event is handled once after any fault of a call to the store", () => {
  for (const scenario of Scenarios.all) {
    it.effect(`in memory: ${scenario.name}`, () => recovers(scenario, MemoryStore.layer, singles))
  }

  const [first] = Scenarios.all
  it.effect(`in memory, with a second fault during the recovery: ${first.name}`, () => recovers(first, MemoryStore.layer, pairs))

  for (const scenario of Scenarios.all) {
    it.effect(`in memory, with random faults one after another: ${scenario.name}`, () =>
      Effect.gen(function*() {
        const seeds = Trials.seeds(100, { least: 6 })
        const { failures, faults } = yield* Trial.tryAll(scenario, MemoryStore.layer, randoms(seeds))
        assert.deepStrictEqual(failures, [])
        assert.isAtLeast(faults, seeds.length)
      }))
  }

  it.effect(`in SQLite: ${first.name}`, () => recovers(first, SqliteFolder.layer, singles))
})
