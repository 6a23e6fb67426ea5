import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Trials from "../support/Trials.ts"
import * as RandomRequests from "./RandomRequests.ts"

describe("Requests in any world", () => {
  it.effect("have one result and one key, and those that are not repeatable are asked once", () => Effect.gen(function*() {
    let [jobs, most] = [0, 0]
    for (const seed of Trials.seeds(120, { least: 6 })) {
      const found = yield* RandomRequests.check(seed, 60).pipe(
        Effect.catchDefect((defect) => Effect.die(new Error(`seed ${seed}`, { cause: defect })))
      )
      jobs += found.jobs
      most = Math.max(most, found.most)
    }
    assert.isAbove(jobs, 100)
    assert.isAbove(most, 2)
  }))
})
