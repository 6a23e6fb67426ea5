import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { terminal } from "./Terminal.ts"

const count = `import { Enzyme } from "systole"
export default Enzyme.make({ name: "count", query: "/signals/count", run: (tx) => tx.increment("/data/n") })
`

const project = { "enzymes/count.ts": count, "systole.config.ts": `export default { spaces: { create: "on-demand" } }\n` }

describe("systole pause, rollback, resume, shutdown and restart", () => {
  it.live("change the state of a space and print it", () =>
    Effect.flatMap(terminal(project), ({ json, run }) =>
      Effect.promise(async () => {
        await json("space", "create", "shop")
        const receipt = await json("signal", "shop", "--signal", "/signals/count", "--wait", "60") as { readonly beat: number }
        await json("signal", "shop", "--signal", "/signals/count", "--wait", "60")
        assert.deepInclude(await json("pause", "shop") as object, { state: "paused", control: null, locks: [
          { cell: "/data", by: "OPS:7.x.0" }
        ] })
        const parked = await run("signal", "shop", "--signal", "/signals/count", "--wait", "0")
        assert.strictEqual(parked.code, 5)
        assert.strictEqual((await run("cell", "set", "shop", "/data/n", "7")).stderr.includes("cell/locked"), true)
        assert.deepInclude(await json("rollback", "shop", String(receipt.beat)) as object, { view_hzn: receipt.beat, parked: 1 })
        assert.strictEqual(await json("cell", "get", "shop", "/data/n"), 1)
        const state = await run("space", "state", "shop")
        for (const line of ["paused", "1 signal waits", `rolled back to beat ${receipt.beat}`, "/data is locked by OPS:7.x.0"]) {
          assert.include(state.stdout, line)
        }
        assert.include((await run("resume", "shop")).stdout, "resumed shop")
        assert.strictEqual(await json("cell", "get", "shop", "/data/n"), 2)
        const refused = await run("rollback", "shop", "1")
        assert.strictEqual(refused.code, 1)
        assert.include(refused.stderr, "not paused")
        assert.strictEqual((await run("rollback", "shop", "x")).code, 2)
        assert.deepInclude(await json("shutdown", "shop") as object, { state: "halted" })
        assert.deepInclude(await json("restart", "shop") as object, { state: "running" })
        await json("space", "lock", "shop", "/data")
        const failed = await run("pause", "shop")
        assert.strictEqual(failed.code, 1)
        assert.include(failed.stderr, "/data is locked by (outside)")
        await json("space", "unlock", "shop", "/data")
        assert.strictEqual((await run("journal", "verify", "shop")).code, 0)
        assert.strictEqual((await run("replay", "shop")).code, 0)
      })))
})

/** All rows in the file of a space except the epoch, which each process increments to fence off the previous one. */
const rowsOf = (file: string): unknown => {
  const database = new DatabaseSync(file, { readOnly: true })
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all().map(({ name }) => String(name))
  const rows = tables.map(
    (table) => [table, database.prepare(`SELECT * FROM ${table}`).all().map((row) => ({ ...row, ...table === "meta" ? { epoch: 0 } : {} }))]
  )
  database.close()
  return rows
}

const space = "/v1/spaces/shop"

/** Sends a request to a server. */
const speaker = (url: string) => async (method: string, path: string, body?: unknown) => {
  const response = await fetch(`${url}${space}${path}`, { method, ...body === undefined ? {} : { body: JSON.stringify(body), headers: {
    "content-type": "application/json"
  } } })
  return { status: response.status, body: await response.json() as Readonly<Record<string, unknown>> }
}

describe("a server", () => {
  it.live("completes the pending work when it is stopped, and neither stop nor start adds a beat or a row", () =>
    Effect.flatMap(terminal(project), ({ root, serve }) =>
      Effect.promise(async () => {
        const file = join(root, ".data", "shop.sqlite")
        const first = await serve("start")
        const ask = speaker(first.url)
        assert.strictEqual((await ask("PUT", "")).status, 201)
        assert.strictEqual((await ask("POST", "/signals", { signal: "/signals/count" })).status, 202)
        const receipt = (await ask("POST", "/signals", { signal: "/signals/count", id: "late", at: { ms: 3_600_000 } })).body
        const stream = await fetch(`${first.url}${space}/cells/data/n`, { headers: { accept: "text/event-stream" } })
        const ended = await first.stop("SIGTERM")
        assert.deepStrictEqual([ended.code, ended.stderr], [0, "stopped\n"])
        assert.include(await stream.text(), "data: 1\n")
        const before = rowsOf(file)
        const second = await serve("start")
        const again = speaker(second.url)
        for (const path of ["/control", "/beats", "/ops", "/cells/data/n", `/receipts/${String(receipt["id"])}`]) {
          assert.strictEqual((await again("GET", path)).status, 200, path)
        }
        assert.strictEqual((await second.stop("SIGTERM")).code, 0)
        assert.deepStrictEqual(rowsOf(file), before)
      })))

  it.live("keeps a space paused, locked or shut down after a crash, and runs pending signals once when allowed", () =>
    Effect.flatMap(terminal(project), ({ json, serve }) =>
      Effect.promise(async () => {
        const killed = async (server: { readonly stop: (signal: "SIGKILL") => Promise<unknown> }) => {
          await server.stop("SIGKILL")
          const next = await serve("start")
          return { ...next, ask: speaker(next.url) }
        }
        const count = async (ask: ReturnType<typeof speaker>, more: object = {}) => {
          const { body, status } = await ask("POST", "/signals", { signal: "/signals/count", ...more })
          assert.strictEqual(status, 202)
          return `/receipts/${String(body["id"])}`
        }
        let server = { ...await serve("start"), ask: speaker("") }
        server.ask = speaker(server.url)
        await server.ask("PUT", "")
        await json("pause", "shop")
        const links = [await count(server.ask), await count(server.ask, { qos: "retain" })]
        server = await killed(server)
        assert.deepInclude((await server.ask("GET", "/control")).body, { state: "paused", parked: 2 })
        assert.strictEqual((await server.ask("GET", "/cells/data/n")).status, 404)
        await json("resume", "shop")
        await json("space", "lock", "shop", "/data/n")
        assert.strictEqual((await count(server.ask)).length > 0, true)
        server = await killed(server)
        const { body: standing } = await server.ask("GET", "/control")
        assert.deepInclude(standing, { state: "running", locks: [{ cell: "/data/n", by: "(outside)" }] })
        const counted = (await server.ask("GET", "/cells/data/n")).body as unknown
        await json("space", "unlock", "shop", "/data/n")
        const last = await json("signal", "shop", "--signal", "/signals/count", "--wait", "60") as { readonly status: string }
        assert.deepStrictEqual([counted, last.status], [2, "handled"])
        for (const link of links) assert.strictEqual((await server.ask("GET", link)).body["status"], "handled")
        await json("shutdown", "shop")
        server = await killed(server)
        assert.deepInclude((await server.ask("GET", "/control")).body, { state: "halted" })
        await json("restart", "shop")
        assert.strictEqual((await server.ask("GET", "/cells/data/n")).body as unknown, 4)
        assert.deepInclude(await json("replay", "shop") as object, { changed: [] })
      })))
})
