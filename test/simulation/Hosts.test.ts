import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { command, current, type Host, root } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"
import * as Trials from "../support/Trials.ts"

/** The number of worlds on each host. They have the parts of the core of which Deno and Bun run no other tests. */
const WORLDS = Trials.form({ short: 2, long: 5 })

const digests = async (host: Host): Promise<ReadonlyArray<string>> => {
  const [file, ...args] = command(host, join(root, "test/scripts/simulate.ts"))
  const { output } = await run([file, ...args, "--digests", "--seed", "5000", "--seeds", String(WORLDS)])
  return Array.from(output.matchAll(/^digest of seed .*$/gm), ([line]) => line)
}

describe("A simulated world", () => {
  // It starts all hosts itself.
  it.runIf(current() === "node")("has the same journals, receipts, effects and answers on each host", async () => {
    const made = await digests("node")
    assert.lengthOf(made.filter((line) => /: [0-9a-f]{16}$/.test(line)), WORLDS)
    for (const host of ["deno", "bun"] as const) assert.deepStrictEqual(await digests(host), made, host)
  })
})
