import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { MemoryStore } from "systole"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import { pairs, singles } from "./FaultyStore.ts"
import * as Scenarios from "./Scenarios.ts"
import * as Trial from "./Trial.ts"

/** Tries all faults, and finds that each is outlived. */
const outlives = (...trial: Parameters<typeof Trial.tryAll>) =>
  Effect.map(Trial.tryAll(...trial), ({ failures, faults }) => {
    assert.deepStrictEqual(failures, [])
    assert.isAbove(faults, 50)
  })

describe("Whatever call of the store breaks, and however, all that was acknowledged is handled once", () => {
  for (const scenario of Scenarios.all) {
    it.effect(`in memory: ${scenario.name}`, () => outlives(scenario, MemoryStore.layer, singles), 60_000)
  }

  it.effect(`in memory, and breaks again while it recovers: ${Scenarios.all[0]!.name}`, () => outlives(Scenarios.all[0]!, MemoryStore.layer, pairs), 60_000)

  it.effect(`in SQLite: ${Scenarios.all[0]!.name}`, () => outlives(Scenarios.all[0]!, SqliteFolder.layer, singles), 60_000)
})
