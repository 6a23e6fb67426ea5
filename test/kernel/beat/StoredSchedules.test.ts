import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Kernel, Retry } from "systole"
import * as SqliteFolder from "../../persistence/SqliteFolder.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme, replays, turns } from "../TestSpace.ts"
import { demand, HOUR, scheduled } from "./ScheduledEnzyme.ts"

describe("a schedule", () => {
  it.effect("is kept with its waits in a file of SQLite, over kernels that end", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* SqliteFolder.folder
      const { log, made } = scheduled({ every: "1h" })
      const retry = new Retry({ reason: "not yet", after: "90m" })
      const late = enzyme("late", (_, { attempt }) => attempt === 1 ? retry : void log.push("late"))
      const lived = <A, E>(life: (kernel: Kernel["Service"]) => Effect.Effect<A, E>) =>
        Effect.gen(function*() {
          const kernel = yield* Kernel
          yield* kernel.register(made)
          yield* kernel.register(late)
          yield* kernel.resume
          yield* turns()
          return yield* life(kernel)
        }).pipe(Effect.provide(TestKernel.layer({ ...demand, first: "home" }, SqliteFolder.layerIn(folder))))
      yield* lived((kernel) => Effect.flatMap(kernel.space("home"), (space) => space.signal({ signal: "/signals/late" })))
      yield* TestClock.adjust(2 * HOUR)
      yield* lived((kernel) => Effect.gen(function*() {
        const space = yield* kernel.space("home")
        yield* space.idle
        yield* replays(space)
      }))
      // A replay runs them once more.
      assert.deepStrictEqual([...new Set(log)].sort(), [`${2 * HOUR}: ${HOUR} ${3 * HOUR}`, "late"])
    })))
})
