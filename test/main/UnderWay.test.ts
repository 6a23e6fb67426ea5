import { assert, beforeAll, describe, it } from "@effect/vitest"
import { join } from "node:path"
import * as Host from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"

// Hosts differ in how a program collects its garbage. The number is that of a process, and other tests leave runs in theirs.
describe.runIf(Host.current() === "node")("The number of runs under way", () => {
  let counts: Readonly<Record<"functions" | "effects" | "stuck", ReadonlyArray<number>>>

  beforeAll(async () => {
    const { code, output } = await run(Host.command("node", join(import.meta.dirname, "underWay.ts")))
    assert.strictEqual(code, 0, output)
    counts = JSON.parse(output) as typeof counts
  })

  it.each(["functions", "effects"] as const)("has the bodies in memory, and none that was dropped while it waited: %s", (kind) => {
    const [most = 0, ...rest] = counts[kind]
    assert.isAtLeast(most, 4)
    assert.deepStrictEqual(rest, [4, 0])
  })

  it("has no run that exceeded its limit and awaits a promise that never settles", () => {
    assert.deepStrictEqual(counts.stuck, [1, 0])
  })
})
