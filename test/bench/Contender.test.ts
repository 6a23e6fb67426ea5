import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { load, startBaseline } from "./Contender.ts"

/** The digests of the baselines, which must not change, so that figures of different days are comparable. */
const digests = {
  "README.md": "6294585f36eccee4c7ee03e30150f303d1861e3ce38cb6c7fbfb0f939c4b236c",
  "disk.mjs": "90840c979dbda6618467220e55db201e6eaab221100dca6b6975ba7688489d66",
  "load.mjs": "70b65b5e8a4f0a6a4d716e2eee47b1f8ceeea230da96995c1e4eb83a5ce84e78",
  "objects.mjs": "e61ab252a7680f370a8da0dbbe02981b2441c27468bdcc93e5d5b413fb09a70f",
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
