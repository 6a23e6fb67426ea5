import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { command, type Host, root } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"
import * as Trials from "../support/Trials.ts"
import type { HostJournal } from "./HostScript.ts"

const hosts: ReadonlyArray<Host> = ["node", "deno", "bun"]

const seeds = Trials.seeds(40, { least: 5 })

/** The journals of a host, by its own process. */
const journals = async (host: Host): Promise<ReadonlyArray<HostJournal>> => {
  const [file, ...args] = command(host, join(root, "test", "replay", "HostScript.ts"))
  const { code, output } = await run([file, ...args, ...seeds.map(String)])
  assert.strictEqual(code, 0, `${host}: ${output}`)
  return JSON.parse(output.trim().split("\n").at(-1) ?? "") as ReadonlyArray<HostJournal>
}

const sum = (found: ReadonlyArray<HostJournal>, of: "ends" | "outcomes", name: string): number =>
  found.reduce((total, journal) => total + (journal[of][name] ?? 0), 0)

describe("The same script of completions", () => {
  it("makes the same journal on Node, Deno and Bun, to the digest of each beat", async () => {
    const [onNode = [], ...others] = await Promise.all(hosts.map(journals))
    for (const [i, other] of others.entries()) {
      for (const [at, { hashes, seed }] of onNode.entries()) {
        const differs = hashes.findIndex((hash, beat) => hash !== other[at]?.hashes[beat])
        assert.strictEqual(differs, -1, `seed ${seed} on ${hosts[i + 1]}`)
      }
      assert.deepStrictEqual(other, onNode)
    }
    for (const end of ["complete", "cnl io/cancelled", "fail bank/closed", "fail io/timeout", "fail io/interrupted"]) {
      assert.isAbove(sum(onNode, "ends", end), 0, end)
    }
    for (const outcome of ["ask ok", "durable waits", "durable ok", "durable dead", "effectful waits", "effectful ok", "cancel ok"]) {
      assert.isAbove(sum(onNode, "outcomes", outcome), 0, outcome)
    }
  })
})
