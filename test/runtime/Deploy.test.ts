import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { vi } from "vitest"
import { bundle } from "./Bundle.ts"
import * as Edge from "./Edge.ts"

const PATIENCE = { timeout: 120_000, interval: 50 }

/** The number of durable runs that wait. */
const RUNS = 100

let folder = ""

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "systole-deploy-"))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Uses the objects of the folder with a version of the code. */
const deployed = async (version: "one" | "two" | "other", use: (edge: Edge.Edge) => Promise<void>): Promise<void> => {
  const { text } = await bundle(`import { deployed } from "./test/runtime/waits.ts"
    const worker = deployed("${version}")
    export const { Space, Directory } = worker
    export default worker.handler`)
  await Edge.running(text, use, { folder })
}

const statesOf = async ({ json }: Edge.Edge): Promise<ReadonlyArray<string>> => {
  const states: Array<string> = []
  for (let after = ""; ;) {
    const { next, runs } = await json(`/v1/spaces/shop/runs?limit=100${after}`)
    states.push(...runs.map(({ state }: { readonly state: string }) => state))
    if (next === null) return states
    after = `&after=${encodeURIComponent(next)}`
  }
}

/** Starts all runs, and waits until each waits. */
const begin = async (edge: Edge.Edge): Promise<void> => {
  const start = (n: number) => edge.signal("shop", { signal: "/signals/wait", payload: { who: `r${n}` } }, "")
  await Promise.all(Array.from({ length: RUNS }, (_, n) => start(n)))
  await vi.waitUntil(async () => (await statesOf(edge)).filter((state) => state === "waiting").length === RUNS, PATIENCE)
}

const go = ({ signal }: Edge.Edge) => signal("shop", { signal: "/signals/go", target: "/data/go" }, "")

/** Waits until all runs are over, and checks that each ended once, with one version. */
const ended = async ({ json }: Edge.Edge, version: string): Promise<void> => {
  const cell = (name: string) => json(`/v1/spaces/shop/cells/data/ended/${name}`)
  await vi.waitUntil(async () => await cell(`by-${version}`) === RUNS, PATIENCE)
  assert.deepStrictEqual(await Promise.all(Array.from({ length: RUNS }, (_, n) => cell(`r${n}`))), Array.from({ length: RUNS }, () => 1))
}

describe("Other code over the storage of an object", () => {
  for (const [before, after] of [["one", "two"], ["two", "one"]] as const) {
    it(`goes on with 100 waiting runs where it makes the same calls: ${before}, then ${after}`, { timeout: 300_000 }, async () => {
      await deployed(before, begin)
      await deployed(after, async (edge) => {
        await go(edge)
        await ended(edge, after)
      })
    })
  }

  it("holds 100 runs that it cannot go on with, sleeps meanwhile, and the old code ends them", { timeout: 300_000 }, async () => {
    await deployed("one", begin)
    await deployed("other", async (edge) => {
      await go(edge)
      await vi.waitUntil(async () => (await statesOf(edge)).filter((state) => state === "held").length === RUNS, PATIENCE)
      await edge.fetch("/test/ring/shop")
      const { alarm, longestTimer } = await edge.json("/test/seen/shop")
      assert.isAbove(alarm, Date.now() + 900_000)
      assert.isAtMost(longestTimer, 10_000)
    })
    await deployed("one", (edge) => ended(edge, "one"))
  })
})
