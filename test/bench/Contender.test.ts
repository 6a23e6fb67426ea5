import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { load, startBaseline } from "./Contender.ts"

/** The digests of the baselines, which must not change, so that figures of different days are comparable. */
const digests = {
  "README.md": "442b1be3072634a658a6b6ed751a2072f14bbf4598e42e6f554bae1244304fe2",
  "disk.mjs": "90840c979dbda6618467220e55db201e6eaab221100dca6b6975ba7688489d66",
  "load.mjs": "02df09cee6a584bf58d0dbf4d1e0bd2acc6ec7676ee90ce13ba2c377a0ba488d",
  "objects.mjs": "7464e9525ddc8a8cb7bdc1af207c2bc105e4c056b26d0fa1808dd0595de6c314",
  "server.mjs": "70e6fe9a549230b9a59cfdc33d9877635ef9f56373703c547198e55beb58c140"
}

describe("baselines", () => {
  it("are unchanged", async () => {
    const folder = join(import.meta.dirname, "baseline")
    const names = (await readdir(folder)).sort()
    const digestOf = async (name: string) => createHash("sha256").update(await readFile(join(folder, name))).digest("hex")
    const found = await Promise.all(names.map(async (name) => [name, await digestOf(name)]))
    assert.deepStrictEqual(Object.fromEntries(found), digests)
  })

  it("serve requests under load, and report statistics", async () => {
    const folder = await mkdtemp(join(tmpdir(), "systole-bench-"))
    const server = await startBaseline("group", join(folder, "db"))
    try {
      const rows = await load(`${server.url}/v1/spaces/bench/signals`, { concurrency: "4", ms: "100", warm: "0" })
      const stats = await server.stats()
      assert.lengthOf(rows, 1)
      assert.isAbove(stats.events, 0)
      assert.isAbove(stats.commits, 0)
    } finally {
      await server.stop()
      await rm(folder, { recursive: true })
    }
  })
})
