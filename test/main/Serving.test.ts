import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Host } from "../scripts/Host.ts"
import { start } from "../scripts/Server.ts"

const hosts: ReadonlyArray<Host> = ["node", "deno", "bun"]

describe("A server", () => {
  for (const host of hosts) {
    it(`says on ${host} that it stopped, and nothing of the host about lists that end with their client`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "systole-serving-"))
      const told: Array<string> = []
      try {
        const server = await start(folder, join(folder, "data"), { host, told: (text) => told.push(text) })
        const ask = (path: string, init?: RequestInit) => fetch(`${server.url}/v1/spaces/home${path}`, init).then(({ status }) => status)
        assert.strictEqual(await ask("", { method: "PUT" }), 201)
        for (const path of ["/waiting", "/beats", "/io", "/dead"]) assert.strictEqual(await ask(path), 200, path)
        const closed = once(server.process, "close")
        await server.end("SIGTERM")
        await closed
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
      assert.strictEqual(told.join(""), "stopped\n")
    })
  }
})
