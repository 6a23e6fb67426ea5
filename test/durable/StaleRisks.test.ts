import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme, type Space, type Transaction } from "systole"
import { CurrentReporter, Reporter } from "../../src/diagnostic/Reporter.ts"
import { RunWatch } from "../../src/kernel/watchdog/RunWatch.ts"
import { replays } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** Reads a counter, sleeps, and writes it in one of several ways. */
const add = (how: "blind" | "fresh" | "increment" | "elsewhere", options: Partial<Enzyme.Definition> = {}) => Enzyme.make({
  name: `add_${how}`,
  query: "/signals/add",
  durable: true,
  ...options,
  run: async (tx: Transaction) => {
    const before = (tx.get("/data/count") ?? 0) as number
    await tx.sleep(10)
    if (how === "increment") return tx.increment("/data/count")
    if (how === "fresh") tx.get("/data/count")
    return tx.set(how === "elsewhere" ? "/data/sum" : "/data/count", before + 1)
  }
})

/** The reports of a development host on two runs of an enzyme. */
const reports = (enzyme: Enzyme.Enzyme, isWatched = true) => {
  const told: Array<string> = []
  // A reporter may date what it reports.
  const reporter = new Reporter(({ note, topic }) => void (Date.now() > 0 && topic === "run/stale-risk" && told.push(note)))
  const watch = isWatched ? { enter: () => {}, leave: () => {}, stop: () => {} } : undefined
  const layers = Layer.mergeAll(Layer.succeed(CurrentReporter, reporter), Layer.succeed(RunWatch, watch))
  const run = (space: Space) => Effect.gen(function*() {
    yield* space.signal({ signal: "/signals/add" })
    yield* space.step
    yield* TestClock.adjust(10)
    yield* space.step
  })
  return Effect.gen(function*() {
    const space = yield* TestKernel.space([enzyme])
    yield* run(space)
    yield* run(space)
    assert.deepStrictEqual(yield* space.list("/data/mailbox/diag/msgs"), [])
    yield* replays(space)
    return told
  }).pipe(Effect.provide(TestKernel.layer().pipe(Layer.provide(layers))))
}

describe("A development host", () => {
  it.effect("reports a durable enzyme that writes from a read before its await, once", () => Effect.gen(function*() {
    assert.deepStrictEqual(yield* reports(add("blind")), [
      "segment 0 reads /data/count, and a later one writes /data/count without a fresh read"
    ])
  }))

  it.effect("reports none of its cures, and no write of another cell", () => Effect.gen(function*() {
    for (const how of ["fresh", "increment", "elsewhere"] as const) assert.deepStrictEqual(yield* reports(add(how)), [], how)
    assert.deepStrictEqual(yield* reports(add("blind", { order: "strict" })), [])
  }))

  it.effect("is the only one that reports it", () => Effect.gen(function*() {
    assert.deepStrictEqual(yield* reports(add("blind"), false), [])
  }))
})
