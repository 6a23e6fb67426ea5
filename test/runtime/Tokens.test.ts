import { assert, beforeAll, describe, it } from "@effect/vitest"
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { vi } from "vitest"
import * as Edge from "./Edge.ts"

let text = ""

beforeAll(async () => {
  text = await Edge.script("./test/runtime/watched.ts")
})

/** The platform's timers are real. */
const PATIENCE = { timeout: 60_000, interval: 50 }

const JSON_TYPE = { "content-type": "application/json" }

const CELL = "/v1/spaces/shop/cells/data/visits"

/** A row of the list of tokens. */
interface Row {
  readonly id: string
  readonly denied?: Readonly<Record<string, number>>
}

/** A token, and requests with it. */
const created = async ({ fetch }: Edge.Edge, scope: object) => {
  const body = JSON.stringify(scope)
  const answer = await fetch("/v1/access/tokens", { method: "POST", headers: { "content-type": "application/json" }, body })
  assert.strictEqual(answer.status, 201)
  const { id, token } = await answer.json() as { readonly id: string; readonly token: string }
  const ask = async (path: string, init: RequestInit = {}): Promise<string> => {
    const response = await fetch(path, { ...init, headers: { "content-type": "application/json", authorization: `Bearer ${token}` } })
    const { code = "ok" } = await response.json().catch(() => ({})) as { readonly code?: string }
    return response.ok ? "ok" : code
  }
  return { id, token, ask }
}

/** The headers by which a request shows a credential. */
interface Shown {
  readonly authorization?: string
  readonly cookie?: string
}

/** The file of the object of tokens among those of all objects. */
const fileOfTokens = (folder: string): string => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".sqlite"))
  const found = files.map((name) => join(folder, name)).find((file) => {
    const database = new DatabaseSync(file)
    const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'session_key'").get() !== undefined
    database.close()
    return isThere
  })
  return found ?? assert.fail(`no object of tokens among ${files.join(", ")}`)
}

describe("Tokens on Workers", () => {
  it("stay revoked, sessions stay ended, and links stay used, if the object of tokens is restored from a copy", async () => {
    const folder = mkdtempSync(join(tmpdir(), "systole-restored-"))
    const during = <A>(use: (edge: Edge.Edge) => Promise<A>): Promise<A> => Edge.running(text, use, { folder })
    /** The status of a request, with the code of a refusal. */
    const told = async ({ miniflare }: Edge.Edge, headers: Shown, method = "GET") => {
      const { origin, port } = await miniflare.ready
      // The cookie is one of the port, which changes with each start.
      const cookie = { ...headers.cookie && { cookie: headers.cookie.replace(/^systole-\d+/, `systole-${port}`) } }
      const answer = await fetch(`${origin}/v1/session`, { method, headers: { "x-systole-csrf": "1", ...headers, ...cookie } })
      const { code = "" } = await answer.json() as { readonly code?: string }
      return `${answer.status} ${code}`.trim()
    }
    try {
      const made = await during(async (edge) => {
        const { id, token } = await created(edge, { verbs: ["read"] })
        const begun = await edge.fetch("/v1/session", { method: "POST" })
        const cookie = begun.headers.get("set-cookie")?.split(";")[0] ?? ""
        await begun.body?.cancel()
        const { link } = await (await edge.fetch("/v1/session?as=link", { method: "POST" })).json() as { readonly link: string }
        const [shown, redeemed] = [token, link.split("#")[1]].map((secret) => ({ authorization: `Bearer ${secret}` }))
        return { id, token: shown ?? {}, cookie: { cookie }, link: redeemed ?? {} }
      })
      const file = fileOfTokens(folder)
      copyFileSync(file, `${file}.copy`)
      await during(async (edge) => {
        assert.deepStrictEqual([await told(edge, made.token), await told(edge, made.cookie)], ["200", "200"])
        assert.strictEqual((await edge.fetch(`/v1/access/tokens/${made.id}`, { method: "DELETE" })).status, 200)
        assert.deepStrictEqual([await told(edge, made.cookie, "DELETE"), await told(edge, made.link, "POST")], ["200", "201"])
      })
      rmSync(`${file}-wal`, { force: true })
      rmSync(`${file}-shm`, { force: true })
      copyFileSync(`${file}.copy`, file)
      await during(async (edge) => {
        const shown = [await told(edge, made.token), await told(edge, made.cookie), await told(edge, made.link, "POST")]
        assert.deepStrictEqual(shown, ["401 auth/revoked", "401 auth/expired", "401 auth/expired"])
        assert.strictEqual((await edge.fetch("/v1/session")).status, 200)
      })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it("are kept in an object of their own, and decided alike before each object", () =>
    Edge.running(text, async (edge) => {
      await edge.signal("shop", { signal: "/signals/visit" })
      await edge.signal("other", { signal: "/signals/visit" })
      const reads = await created(edge, { verbs: ["read"], spaces: ["shop"] })
      const narrow = await created(edge, { verbs: ["read", "signal"], prefixes: ["/data/orders"] })
      assert.strictEqual(await reads.ask(CELL), "ok")
      assert.strictEqual(await reads.ask(CELL.replace("shop", "other")), "access/space")
      assert.strictEqual(await reads.ask(CELL, { method: "PUT", body: "1" }), "access/verb")
      assert.strictEqual(await reads.ask("/v1/access/tokens"), "access/space")
      assert.strictEqual(await narrow.ask(CELL), "access/prefix")
      assert.strictEqual(await narrow.ask("/v1/spaces/shop/beats"), "access/prefix")
      const { tokens } = await edge.json("/v1/access/tokens") as { readonly tokens: ReadonlyArray<Row> }
      assert.deepInclude(tokens.find(({ id }) => id === reads.id), { denied: { "access/space": 2, "access/verb": 1 } })
      assert.strictEqual((await edge.fetch(`/v1/access/tokens/${reads.id}`, { method: "DELETE" })).status, 200)
      assert.strictEqual(await reads.ask(CELL), "auth/revoked")
      assert.strictEqual(await reads.ask("/v1/spaces"), "auth/revoked")
      assert.deepStrictEqual((await edge.json("/v1/spaces") as { readonly spaces: ReadonlyArray<string> }).spaces, ["other", "shop"])
    }))

  it("are refused while their object is damaged or full, and the operator gets in by the token of the configuration", async () => {
    const folder = mkdtempSync(join(tmpdir(), "systole-damaged-"))
    const during = <A>(use: (edge: Edge.Edge) => Promise<A>): Promise<A> => Edge.running(text, use, { folder })
    try {
      const token = await during(async (edge) => {
        await edge.signal("shop", { signal: "/signals/visit" })
        return (await created(edge, { verbs: ["read"] })).token
      })
      const file = fileOfTokens(folder)
      const full = new DatabaseSync(file)
      const [row = {}] = full.prepare("SELECT row FROM token").all() as Array<{ readonly row?: string }>
      const insert = full.prepare("INSERT OR REPLACE INTO token VALUES (?, ?)")
      for (let n = 0; n < 1000; n++) {
        const id = n.toString(32).padStart(8, "0")
        insert.run(id, JSON.stringify({ ...JSON.parse(row.row ?? "") as object, id }))
      }
      full.close()
      await during(async (edge) => {
        const body = JSON.stringify({ verbs: ["read"] })
        const answer = await edge.fetch("/v1/access/tokens", { method: "POST", headers: JSON_TYPE, body })
        assert.include(await answer.text(), "access/full")
        assert.strictEqual((await edge.fetch(CELL)).status, 200)
      })
      for (const name of [`${file}-wal`, `${file}-shm`]) rmSync(name, { force: true })
      writeFileSync(file, "no database at all, and long enough to look like one. ".repeat(1000))
      await during(async (edge) => {
        const status = async (path: string, headers = {}) => (await edge.fetch(path, { headers })).status
        assert.strictEqual(await status(CELL, { authorization: `Bearer ${token}` }), 503)
        assert.deepStrictEqual([await status(CELL), await status("/v1/spaces"), await status("/v1/session")], [200, 200, 200])
        const put = await edge.fetch(CELL, { method: "PUT", headers: JSON_TYPE, body: "7" })
        assert.deepStrictEqual([put.status, await status("/v1/access/tokens")], [200, 503])
      })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it("begin sessions before each object alike, which end with their logout, their sockets, too", () =>
    Edge.running(text, async (edge) => {
      await edge.signal("shop", { signal: "/signals/visit" })
      const origin = (await edge.miniflare.ready).origin
      const { link } = await (await edge.fetch("/v1/session?as=link", { method: "POST" })).json() as { readonly link: string }
      const page = await fetch(origin + link)
      assert.strictEqual(page.status, 200)
      const headers = { authorization: `Bearer ${link.split("#")[1]}` }
      const begun = await fetch(`${origin}/v1/session`, { method: "POST", headers })
      assert.strictEqual(begun.status, 201)
      assert.strictEqual((await fetch(`${origin}/v1/session`, { method: "POST", headers })).status, 401)
      const cookie = begun.headers.get("set-cookie")?.split(";")[0] ?? ""
      const status = async (path: string, init: RequestInit = {}) =>
        (await fetch(origin + path, { ...init, headers: { cookie, "content-type": "application/json", ...init.headers } })).status
      assert.deepStrictEqual([await status(CELL), await status("/v1/spaces"), await status("/v1/session")], [200, 200, 200])
      assert.strictEqual(await status(CELL, { method: "PUT", body: "7" }), 403)
      assert.strictEqual(await status(CELL, { method: "PUT", body: "7", headers: { origin } }), 200)
      const socket = (from: string) => new WebSocket(origin.replace("http", "ws") + CELL, { headers: { cookie, origin: from } } as never)
      const refused = socket("https://evil.example")
      let isRefused = false
      refused.addEventListener("error", () => isRefused = true)
      await vi.waitFor(() => assert.isTrue(isRefused), PATIENCE)
      const own = socket(origin)
      let [seen, closed] = [0, 0]
      own.addEventListener("message", () => seen++)
      own.addEventListener("close", ({ code }) => closed = code)
      await vi.waitFor(() => assert.strictEqual(seen, 1), PATIENCE)
      assert.strictEqual(await status("/v1/session", { method: "DELETE", headers: { origin } }), 200)
      await edge.signal("shop", { signal: "/signals/visit" })
      await vi.waitFor(() => assert.strictEqual(closed, 1008), PATIENCE)
      assert.deepStrictEqual([seen, await status("/v1/session"), await status(CELL)], [1, 401, 401])
    }))

  it("end their sockets before the next event when they are revoked", () =>
    Edge.running(text, async (edge) => {
      await edge.signal("shop", { signal: "/signals/visit" })
      const { id, token } = await created(edge, { verbs: ["read"], prefixes: ["/data/visits"] })
      const origin = (await edge.miniflare.ready).origin.replace("http", "ws")
      const socket = new WebSocket(`${origin}${CELL}`, { headers: { authorization: `Bearer ${token}` } } as never)
      const seen: Array<unknown> = []
      let closed = 0
      socket.addEventListener("message", ({ data }) => seen.push((JSON.parse(String(data)) as { readonly data: string }).data))
      socket.addEventListener("close", ({ code }) => closed = code)
      await vi.waitFor(() => assert.lengthOf(seen, 1), PATIENCE)
      await edge.fetch(`/v1/access/tokens/${id}`, { method: "DELETE" })
      await edge.signal("shop", { signal: "/signals/visit" })
      await vi.waitFor(() => assert.strictEqual(closed, 1008), PATIENCE)
      assert.lengthOf(seen, 1)
    }))

  it("end the sockets of an older secret with its rotation, and none of the newer one", () =>
    Edge.running(text, async (edge) => {
      await edge.signal("shop", { signal: "/signals/visit" })
      const { id, token } = await created(edge, { verbs: ["read"], prefixes: ["/data/visits"] })
      const origin = (await edge.miniflare.ready).origin.replace("http", "ws")
      const opened = async (secret: string) => {
        const socket = new WebSocket(`${origin}${CELL}`, { headers: { authorization: `Bearer ${secret}` } } as never)
        const seen = { values: 0, closed: 0 }
        socket.addEventListener("message", () => seen.values++)
        socket.addEventListener("close", ({ code }) => seen.closed = code)
        await vi.waitFor(() => assert.strictEqual(seen.values, 1), PATIENCE)
        return { close: () => socket.close(), seen }
      }
      const older = await opened(token)
      const rotated = await edge.fetch(`/v1/access/tokens/${id}/rotation`, { method: "POST" })
      const newer = await opened((await rotated.json() as { readonly token: string }).token)
      await edge.signal("shop", { signal: "/signals/visit" })
      await vi.waitFor(() => assert.deepStrictEqual([older.seen.values, newer.seen.values], [2, 2]), PATIENCE)
      assert.strictEqual((await edge.fetch(`/v1/access/tokens/${id}/rotation`, { method: "DELETE" })).status, 200)
      await edge.signal("shop", { signal: "/signals/visit" })
      await vi.waitFor(() => assert.deepStrictEqual([older.seen.closed, newer.seen.values], [1008, 3]), PATIENCE)
      assert.deepStrictEqual([older.seen.values, newer.seen.closed], [2, 0])
      newer.close()
    }))
})
