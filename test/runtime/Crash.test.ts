import { assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { vi } from "vitest"
import { REPORTS } from "../../src/access/Rates.ts"
import * as Edge from "./Edge.ts"
import * as Workerd from "./Workerd.ts"

/** The kills, and the connections at each. */
const KILLS = 6
const CONNECTIONS = 16

/** The acknowledged signals after which a process is killed. */
const ACKNOWLEDGED = 40

const { TOKEN } = Edge

let text = ""

beforeAll(async () => {
  text = await Edge.script("./test/runtime/worker.ts")
})

const headers = { "authorization": `Bearer ${TOKEN}`, "content-type": "application/json", "prefer": "wait=60" }

/** Sends a signal that is counted in two spaces. Returns whether it was acknowledged. */
const send = async (url: string, id: string): Promise<boolean> => {
  const body = JSON.stringify({ signal: "/signals/visit", id, payload: { who: id, route: ["b"] } })
  try {
    const response = await fetch(`${url}/v1/spaces/a/signals`, { method: "POST", headers, body })
    return (await response.text()).includes("\"handled\"") && response.ok
  } catch {
    return false
  }
}

const json = async (url: string, path: string): Promise<any> => (await fetch(`${url}/v1/spaces/${path}`, { headers })).json()

const visits = async (url: string, space: string, ids: ReadonlyArray<string>): Promise<ReadonlyArray<unknown>> =>
  Promise.all(ids.map((id) => json(url, `${space}/cells/data/visits/${id}`)))

describe("workerd, killed under load", () => {
  it("loses no acknowledged signal and handles none twice, in this object or the next", async () => {
    const folder = mkdtempSync(join(tmpdir(), "systole-workerd-"))
    const ids: Array<string> = []
    const unsure = new Set<string>()
    /** Sends on one connection until the process ends, the doubtful signals first. */
    const load = async ({ url }: Workerd.Workerd, again: Array<string>, acknowledged: () => void): Promise<void> => {
      for (;;) {
        const id = again.pop() ?? `s${ids.length}`
        if (id === `s${ids.length}`) ids.push(id)
        unsure.add(id)
        if (!await send(url, id)) return
        unsure.delete(id)
        acknowledged()
      }
    }
    try {
      let doubtful = 0
      for (let n = 0; n < KILLS; n++) {
        const workerd = await Workerd.start(folder, text, { token: TOKEN })
        const again = [...unsure]
        let left = ACKNOWLEDGED
        let killed: Promise<void> | undefined
        const acknowledged = (): void => {
          if (--left === 0) killed = workerd.kill()
        }
        await Promise.all(Array.from({ length: CONNECTIONS }, () => load(workerd, again, acknowledged)))
        await killed
        assert.isAtMost(left, 0)
        doubtful += unsure.size
      }
      assert.isAbove(doubtful, KILLS)
      const workerd = await Workerd.start(folder, text, { token: TOKEN })
      try {
        for (const id of unsure) assert.isTrue(await send(workerd.url, id))
        const once = ids.map(() => 1)
        assert.deepStrictEqual(await visits(workerd.url, "a", ids), once)
        const list = async () => (await json(workerd.url, "b/cells/data/visits?list")).names?.length as number | undefined
        await vi.waitUntil(async () => await list() === ids.length, { timeout: 120_000, interval: 100 })
        assert.deepStrictEqual(await visits(workerd.url, "b", ids), once)
      } finally {
        await workerd.kill()
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it("goes on by the alarms alone after the kill: with a delayed signal, and with signals for another object", async () => {
    const folder = mkdtempSync(join(tmpdir(), "systole-workerd-"))
    try {
      const killed = await Workerd.start(folder, text, { token: TOKEN })
      const post = (body: object, prefer = "wait=60") =>
        fetch(`${killed.url}/v1/spaces/a/signals`, { method: "POST", headers: { ...headers, prefer }, body: JSON.stringify(body) })
      const later = { signal: "/signals/visit", id: "later", payload: { who: "later", route: ["b"] }, at: { ms: 1000 } }
      assert.strictEqual((await post(later, "")).status, 202)
      const ids = Array.from({ length: CONNECTIONS }, (_, n) => `s${n}`)
      const acknowledged: Array<string> = ["later"]
      let end: Promise<void> | undefined
      await Promise.all(ids.map(async (id) => {
        if (!await send(killed.url, id)) return
        acknowledged.push(id)
        // The signals for the other object may be on their way.
        end ??= killed.kill()
      }))
      await end
      assert.isAbove(acknowledged.length, 1)
      const { kill, url } = await Workerd.start(folder, text, { token: TOKEN })
      try {
        // No call reaches the object that sends.
        const arrived = async () => (await json(url, "b/cells/data/visits?list")).names as ReadonlyArray<string> | undefined
        await vi.waitUntil(async () => {
          const names = await arrived()
          return acknowledged.every((id) => names?.includes(id))
        }, { timeout: 120_000, interval: 100 })
        for (const space of ["a", "b"]) assert.deepStrictEqual(await visits(url, space, acknowledged), acknowledged.map(() => 1))
      } finally {
        await kill()
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe("The address of a caller", () => {
  /** The statuses of refused reports, each with another address in the header by which Cloudflare tells it. */
  const reports = async (url: string): Promise<ReadonlySet<number>> =>
    new Set(await Promise.all(Array.from({ length: 2 * REPORTS.requests }, async (_, n) => {
      const shown = { authorization: `Rendezvous ${"ab".repeat(16)}`, "cf-connecting-ip": `192.0.2.${n}` }
      const { body, status } = await fetch(`${url}/v1/spaces/a/rv/k/report`, { method: "POST", headers: shown })
      await body?.cancel()
      return status
    })))

  it("is believed from Cloudflare alone, and is that of the connection in a workerd of one's own", async () => {
    await Edge.running(text, async ({ miniflare }) => {
      assert.deepStrictEqual(await reports((await miniflare.ready).origin), new Set([403]))
    })
    const folder = mkdtempSync(join(tmpdir(), "systole-workerd-"))
    const { kill, url } = await Workerd.start(folder, text, { token: TOKEN })
    try {
      assert.deepStrictEqual(await reports(url), new Set([403, 429]))
    } finally {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
