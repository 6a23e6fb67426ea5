import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Server } from "../scripts/Server.ts"
import { start } from "../scripts/Server.ts"

const KILLS = 4
const CALLERS = 8

/** Counts each event once where it is handled, and once more one beat later; one event of the space at a time. */
const enzymes = `import { Enzyme } from "systole"

export default [
  Enzyme.make({
    name: "first",
    query: "/signals/count/:n",
    lane: "space",
    run: (tx, event) => {
      tx.increment("/data/first/" + event.params.n)
      tx.increment("/data/total")
      tx.signal({ signal: "/signals/follow/" + event.params.n })
    }
  }),
  Enzyme.make({
    name: "second",
    query: "/signals/follow/:n",
    run: (tx, event) => tx.increment("/data/second/" + event.params.n)
  })
]
`

const space = "/v1/spaces/counted"

/** Posts one signal after another until the server is gone; says which of them were answered 202. */
const call = async (server: Server, next: () => number, acknowledge: (n: number, id: string) => void): Promise<void> => {
  for (;;) {
    const n = next()
    try {
      const response = await fetch(`${server.url}${space}/signals`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ signal: `/signals/count/${n}`, payload: { n } })
      })
      if (response.status !== 202) throw new Error(`answered ${response.status}: ${await response.text()}`)
      acknowledge(n, (await response.json() as { readonly id: string }).id)
    } catch (error) {
      if (error instanceof TypeError) return
      throw error
    }
  }
}

const cell = async (server: Server, address: string): Promise<number> => {
  const response = await fetch(`${server.url}${space}/cells${address}`)
  if (response.status === 404) return 0
  assert.strictEqual(response.status, 200)
  return await response.json() as number
}

/** Waits for the receipt of an event, and says how it ended. */
const settled = async (server: Server, id: string): Promise<string> => {
  const response = await fetch(`${server.url}${space}/receipts/${id}`, { headers: { prefer: "wait=20" } })
  return (await response.json() as { readonly status: string }).status
}

describe("A process that is killed", () => {
  it("has handled every signal that was answered 202 exactly once after a restart, and no signal twice", { timeout: 60_000 }, async () => {
    const project = mkdtempSync(join(tmpdir(), "systole-crash-"))
    mkdirSync(join(project, "enzymes"))
    writeFileSync(join(project, "enzymes", "count.ts"), enzymes)
    writeFileSync(join(project, "systole.config.ts"), `export default { spaces: { create: "on-demand" } }\n`)
    const acknowledged = new Map<number, string>()
    let sent = 0
    try {
      for (let kill = 1; kill <= KILLS; kill++) {
        const server = await start(project, join(project, ".data"))
        const goal = acknowledged.size + 40 * kill
        const callers: Array<Promise<void>> = []
        await new Promise<void>((enough) => {
          const acknowledge = (n: number, id: string): void => {
            acknowledged.set(n, id)
            if (acknowledged.size === goal) enough()
          }
          for (let caller = 0; caller < CALLERS; caller++) callers.push(call(server, () => sent++, acknowledge))
        })
        await server.end("SIGKILL")
        await Promise.all(callers)
      }
      const server = await start(project, join(project, ".data"))
      let counted = 0
      for (let n = 0; n < sent; n++) {
        const id = acknowledged.get(n)
        if (id !== undefined) assert.strictEqual(await settled(server, id), "handled", `signal ${n}`)
        const first = await cell(server, `/data/first/${n}`)
        assert.strictEqual(await cell(server, `/data/second/${n}`), first, `what signal ${n} sent`)
        if (id === undefined) assert.isAtMost(first, 1, `signal ${n} was not acknowledged`)
        else assert.strictEqual(first, 1, `signal ${n} was acknowledged`)
        counted += first
      }
      assert.strictEqual(await cell(server, "/data/total"), counted)
      assert.isAtLeast(acknowledged.size, 40)
      await server.end("SIGTERM")
    } finally {
      rmSync(project, { recursive: true, force: true })
    }
  })
})
