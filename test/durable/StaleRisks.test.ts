import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Enzyme, type Transaction } from "systole"
import * as DevelopmentHost from "./DevelopmentHost.ts"

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

/** The reports of a host on writes that may become stale. */
const reports = (enzyme: Enzyme.Enzyme, isWatched = true) =>
  DevelopmentHost.reports(enzyme, { topic: "run/stale-risk", signal: "/signals/add", isWatched })

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
