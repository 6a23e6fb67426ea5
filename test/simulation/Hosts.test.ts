import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { command, current, type Host, root } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"

const digests = async (host: Host): Promise<ReadonlyArray<string>> => {
  const [file, ...args] = command(host, join(root, "test/scripts/simulate.ts"))
  const { output } = await run([file, ...args, "--digests", "--seed", "5000", "--seeds", "3"])
  return Array.from(output.matchAll(/^digest of seed .*$/gm), ([line]) => line)
}

describe("A simulated world", () => {
  // It starts all hosts itself.
  it.runIf(current() === "node")("has the same journals, receipts, effects and answers on each host", async () => {
    const made = await digests("node")
    assert.lengthOf(made.filter((line) => /: [0-9a-f]{16}$/.test(line)), 3)
    for (const host of ["deno", "bun"] as const) assert.deepStrictEqual(await digests(host), made, host)
  })
})
