import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Transaction } from "systole"
import { BeatAborted } from "systole"
import { processes } from "../support/Ends.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { ended, enzyme, replays, steps } from "./Kit.ts"

describe("an event whose run never returns", () => {
  it.effect("is given up at once where its enzyme is tried once", () =>
    Effect.gen(function*() {
      const { ends, reach, start } = yield* processes("poison", { retry: { attempts: 1 } })
      const first = yield* start()
      const { id } = yield* first.signal({ signal: "/signals/s/1", payload: "poison" })
      yield* reach(first)
      ends.bark()
      const second = yield* start()
      yield* steps(second, 1)
      assert.deepStrictEqual((yield* second.dead({ limit: 10 })).letters.map(({ code, id }) => [id, code]), [[id, "run/stuck"]])
    }))

  it.effect("is found where the process ended without a word: on probation each run is noted before it begins", () =>
    Effect.gen(function*() {
      const { ends, reach, start } = yield* processes("poison")
      const first = yield* start()
      for (const payload of ["good", "poison", "better"]) yield* first.signal({ signal: `/signals/s/${payload}`, payload })
      yield* reach(first)
      assert.strictEqual(ends.notes(), 0, "nothing is noted on the normal path")

      yield* reach(yield* start())
      assert.deepStrictEqual(ends.marks("machine").map((mark) => "event" in mark && mark.enzyme), ["poisoned"])
      yield* reach(yield* start())
      const last = yield* start()
      yield* steps(last, 3)
      assert.deepStrictEqual((yield* last.dead({ limit: 10 })).letters.map(({ code, enzyme }) => [enzyme, code]), [["poisoned", "run/stuck"]])
      for (const payload of ["good", "better"]) assert.strictEqual(yield* last.get(`/data/poisoned/${payload}`), 1)
      const notes = ends.notes()
      yield* last.signal({ signal: "/signals/s/1", payload: "late" })
      yield* steps(last, 2)
      assert.strictEqual(ends.notes(), notes, "probation is over")
    }))

  it.effect("leaves a space alone that was closed, or whose head moved", () =>
    Effect.gen(function*() {
      const { ends, start } = yield* processes("poison")
      const first = yield* start()
      yield* first.signal({ signal: "/signals/s/1", payload: "good" })
      yield* steps(first, 1)
      const second = yield* start()
      yield* second.signal({ signal: "/signals/s/1", payload: "better" })
      yield* steps(second, 1)
      ends.close()
      const third = yield* start()
      yield* third.signal({ signal: "/signals/s/1", payload: "best" })
      yield* steps(third, 1)
      assert.strictEqual(ends.notes(), 0)
    }))
})

describe("a run that breaks its beat", () => {
  const breaking: Readonly<Record<string, (tx: Transaction) => unknown>> = {
    "freezes its transaction": (tx) => void Object.freeze(tx),
    "returns a promise whose constructor throws": () => {
      const promise = Promise.resolve()
      Object.defineProperty(promise, "constructor", { get: () => { throw new Error("no constructor") } })
      return promise
    }
  }
  for (const [what, run] of Object.entries(breaking)) {
    it.effect(`costs its own handling alone, where it ${what}`, () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space([
          enzyme("breaks", run, { query: "/signals/s" }),
          enzyme("counts", (tx) => tx.increment("/data/count"), { query: "/signals/s" })
        ])
        const { id } = yield* space.signal({ signal: "/signals/s" })
        let aborted = 0
        for (let i = 0; i < 6; i++) {
          const step = yield* Effect.result(space.step)
          if (step._tag === "Failure" && step.failure instanceof BeatAborted) aborted++
        }
        assert.strictEqual(yield* space.get("/data/count"), 1)
        const { letters } = yield* space.dead({ limit: 10 })
        assert.deepStrictEqual(letters.map(({ enzyme, id }) => [enzyme, id]), [["breaks", id]])
        if (letters[0]!.code === "run/stuck") assert.deepStrictEqual([aborted, yield* ended(space, id)], [2, ["counts ok @0 #1", "breaks dead @1 #2"]])
        yield* replays(space)
      }).pipe(Effect.provide(TestKernel.layer())))
  }
})
