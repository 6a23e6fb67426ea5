import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as RandomHistory from "./RandomHistory.ts"
import * as Trials from "../support/Trials.ts"

describe("Operations, in any order of starts, states, closes, awaits, time-outs, conflicts and restarts", () => {
  for (const pace of ["manual", "demand"] as const) {
    it.effect(`send exactly one continuation or time-out for each watcher, with beats ${pace === "manual" ? "by hand" : "on demand"}`, () =>
      Effect.gen(function*() {
        let watchers = 0
        const seeds = Trials.seeds(20, { from: 1, least: 2 })
        for (const seed of seeds) {
          watchers += yield* RandomHistory.check(seed, 60, pace).pipe(
            Effect.catchDefect((defect) => Effect.die(new Error(`seed ${seed}: ${(defect as Error).message}`, { cause: defect })))
          )
        }
        assert.isAbove(watchers, 5 * seeds.length)
      }))
  }
})
