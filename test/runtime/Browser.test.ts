import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import type { RequestListener } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, vi } from "vitest"
import * as PageModules from "../../src/main/module/PageModules.ts"
import * as Command from "../scripts/Command.ts"
import { node, root } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"
import * as Server from "../scripts/Server.ts"
import * as Chromium from "./Chromium.ts"
import * as Edge from "./Edge.ts"
import * as Sites from "./Sites.ts"

/** The origins of the pages of another site, whose registrable domain is another one, too. */
const ELSEWHERE = ["https://pages.test", "http://pages.test"]

/** The browser's timers are real. */
const PATIENCE = { timeout: 120_000, interval: 50 }

const hindrance = await Chromium.hindrance()
const isThere = hindrance === undefined

let folder = ""

beforeAll(async () => {
  if (!isThere) return
  await Command.ensure()
  folder = mkdtempSync(join(tmpdir(), "systole-browser-"))
  cpSync(join(root, "examples", "shop"), folder, { recursive: true, filter: (file) => !/[\\/]\.(?:data|systole)$/.test(file) })
  const config = join(folder, "systole.config.ts")
  writeFileSync(config, readFileSync(config, "utf8").replace("defineConfig({", `defineConfig({\n  origins: ${JSON.stringify(ELSEWHERE)},`))
  for (const target of ["node", "workers"]) {
    const { code, output } = await run([node(), Command.file, "build", "--target", target, "--out", target], { cwd: folder })
    assert.strictEqual(code, 0, output)
  }
})

afterAll(() => {
  if (isThere) rmSync(folder, { recursive: true, force: true })
})

/** The builds of the shop. Each runs until the use of its address ends. */
const hosts: Readonly<Record<string, (use: (origin: string) => Promise<void>) => Promise<void>>> = {
  Node: async (use) => {
    const server = await Server.start(folder, join(folder, "data"), { command: join(folder, "node", "systole.js") })
    await use(server.url).finally(() => server.end("SIGTERM"))
  },
  workerd: (use) =>
    Edge.running({ folder: join(folder, "workers") }, async ({ miniflare }) => use((await miniflare.ready).origin), { public: true })
}

/** A host with a token in force. */
interface Locked {
  readonly origin: string
  /** Ends the process of the server, and starts another one with the same data. */
  readonly restart: () => Promise<void>
}

/** The same builds, to which a token alone gives access. */
const locked: Readonly<Record<string, (use: (host: Locked) => Promise<void>) => Promise<void>>> = {
  Node: async (use) => {
    const data = mkdtempSync(join(folder, "data-"))
    const start = (port: string) => Server.start(folder, data, {
      line: ["env", `SYSTOLE_TOKEN=${Edge.TOKEN}`, ...Command.line("node", join(folder, "node", "systole.js")), "start", "--port", port]
    })
    let server = await start("0")
    const origin = server.url
    const restart = async (): Promise<void> => {
      await server.end("SIGTERM")
      server = await start(new URL(origin).port)
    }
    await use({ origin, restart }).finally(() => server.end("SIGTERM"))
  },
  workerd: (use) =>
    Edge.running({ folder: join(folder, "workers") }, async ({ miniflare, restart }) => {
      const { origin } = await miniflare.ready
      const host = { origin, restart: async () => {
        await restart()
        host.origin = (await miniflare.ready).origin
      } }
      await use(host)
    }, { folder: mkdtempSync(join(folder, "stored-")) })
}

const asOperator = { authorization: `Bearer ${Edge.TOKEN}`, "content-type": "application/json" }

/** Sends a signal to the shop, as another client does. */
const send = async (at: string | Locked, signal: string, payload: object): Promise<void> => {
  const origin = typeof at === "string" ? at : at.origin
  const own = typeof at === "string" ? {} : asOperator
  const headers = { "content-type": "application/json", prefer: "wait=60", ...own }
  const body = JSON.stringify({ signal, target: "/data/products/tea", payload })
  const response = await fetch(`${origin}/v1/spaces/shop/signals`, { method: "POST", headers, body })
  assert.deepInclude(await response.json(), { status: "handled" })
}

/** Asks a server as the operator, by POST unless given. */
const asking = (server: Locked) => async (path: string, init: RequestInit = {}) =>
  (await fetch(server.origin + path, { method: "POST", headers: asOperator, ...init })).json() as Promise<any>

/** The site of a page elsewhere, and its server, which gives the page bearers for its own token. */
const elsewhere = (backend: { readonly server: Locked; readonly token: string }, script: string): RequestListener =>
  async ({ method, url }, response) => {
    if (method !== "POST" || url !== "/bearer") {
      response.setHeader("content-type", "text/html; charset=utf-8")
      return void response.end(`<link rel=icon href=data:,><p id=takings></p><p id=said></p><button>Order</button><p id=order></p>
<script type=module>${script}</script>`)
    }
    const headers = { authorization: `Bearer ${backend.token}` }
    const answer = await fetch(`${backend.server.origin}/v1/session?as=token`, { method: "POST", headers })
    response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text())
  }

/** The cookie that another site gets from a page, which sets one for it with each request. */
const tracked = (page: Chromium.Page) =>
  page.evaluate(async () => (await fetch("https://third.test/", { credentials: "include" })).text())

/** The visible parts of the page: its takings, its orders, the cells of its items, and its message. */
const parts = {
  takings: (page: Chromium.Page) => page.locator("#takings").textContent(),
  orders: (page: Chromium.Page) => page.locator("#orders").textContent(),
  items: async (page: Chromium.Page) => (await page.locator("#items td").allTextContents()).join(" "),
  said: (page: Chromium.Page) => page.locator("#said").textContent()
}

/** Waits until the page shows these parts. */
const shows = (page: Chromium.Page, wanted: Partial<Record<keyof typeof parts, string>>): Promise<void> =>
  vi.waitFor(async () => {
    const now = await Promise.all(Object.keys(wanted).map(async (part) => [part, await parts[part as keyof typeof parts](page)] as const))
    expect(Object.fromEntries(now)).toEqual(wanted)
  }, PATIENCE)

/** Adds a script to the page, as an attacker would. Returns the directive that forbids it, and whether it ran. */
const injected = (page: Chromium.Page) =>
  page.evaluate(() =>
    new Promise<{ readonly directive: string; readonly ran: boolean }>((resolve) => {
      const { document } = globalThis as unknown as { readonly document: any }
      document.addEventListener("securitypolicyviolation", ({ effectiveDirective }: { readonly effectiveDirective: string }) =>
        resolve({ directive: effectiveDirective, ran: "wasInjected" in globalThis }))
      const script = document.createElement("script")
      script.textContent = "globalThis.wasInjected = true"
      document.body.append(script)
    }))

describe.skipIf(!isThere)(`The example of a shop in a browser${isThere ? "" : ` (skipped: ${hindrance})`}`, () => {
  it.each(Object.keys(hosts))("sells, follows the orders of others, and is the same after a reload: %s", (host) =>
    hosts[host]!((origin) => Chromium.open(async ({ complaints, origins, page }) => {
      await send(origin, "/signals/goods/receive", { price: 4, count: 3 })
      await page.goto(origin)
      await shows(page, { takings: "0", orders: "0", items: "tea 4 3 Order" })
      const order = page.getByRole("button", { name: "Order" })
      await order.click()
      await shows(page, { takings: "4", orders: "1", items: "tea 4 2 Order", said: "One tea is yours." })
      await send(origin, "/signals/order/place", { count: 2 })
      await shows(page, { takings: "12", orders: "2", items: "tea 4 0 Order" })
      await page.reload()
      await shows(page, { takings: "12", orders: "2", items: "tea 4 0 Order", said: "Live." })
      await order.click()
      await shows(page, { takings: "12", orders: "2", said: "There is no tea left." })
      await send(origin, "/signals/goods/receive", { price: 5, count: 1 })
      await shows(page, { items: "tea 5 1 Order" })
      assert.deepStrictEqual([complaints, [...origins]], [[], [origin]])
      assert.deepStrictEqual(await injected(page), { directive: "script-src-elem", ran: false })
      await vi.waitUntil(() => complaints.some((text) => text.includes("Content Security Policy")), PATIENCE)
    })))

  it.each(Object.keys(locked))("is live with a token in force by a session that a link begins, and ends with its token: %s", (host) =>
    locked[host]!((server) => Chromium.open(async ({ complaints, page }) => {
      const asked = asking(server)
      await send(server, "/signals/goods/receive", { price: 4, count: 3 })
      const { id, token } = await asked("/v1/access/tokens", { body: JSON.stringify({ verbs: ["read", "signal"] }) })
      const { link } = await asked("/v1/session?as=link", { headers: { authorization: `Bearer ${token}` } })
      await page.goto(server.origin + link)
      await page.getByRole("button", { name: "Log in" }).click()
      await shows(page, { takings: "0", orders: "0", items: "tea 4 3 Order", said: "Live." })
      await page.getByRole("button", { name: "Order" }).click()
      await shows(page, { takings: "4", orders: "1", items: "tea 4 2 Order", said: "One tea is yours." })
      assert.deepStrictEqual(complaints, [])
      await send(server, "/signals/order/place", { count: 1 })
      await shows(page, { takings: "8", orders: "2", items: "tea 4 1 Order" })
      await asked(`/v1/access/tokens/${id}`, { method: "DELETE" })
      await send(server, "/signals/order/place", { count: 1 })
      await shows(page, { orders: "2", said: expect.stringMatching(/^Ended: .*revoked/) })
    })))

  it("is not logged in at an address without TLS, where a link stays usable", () =>
    locked["Node"]!((server) => Chromium.open(async ({ page }) => {
      await send(server, "/signals/goods/receive", { price: 4, count: 3 })
      const { link } = await asking(server)("/v1/session?as=link")
      await page.goto(`${server.origin.replace("127.0.0.1", "shop.test")}${link}`)
      await shows(page, { said: expect.stringMatching(/without TLS.*https, or at 127\.0\.0\.1 in place of shop\.test/) })
      await page.goto(server.origin + link)
      await page.getByRole("button", { name: "Log in" }).click()
      await shows(page, { takings: "0", said: "Live." })
    }, ["MAP shop.test 127.0.0.1"])))

  it.each(Object.keys(locked))("is live on its own site and on another one, until its token is rotated and revoked: %s", (host) =>
    locked[host]!(async (server) => {
      const asked = asking(server)
      await send(server, "/signals/goods/receive", { price: 4, count: 9 })
      const { id, token } = await asked("/v1/access/tokens", { body: JSON.stringify({ verbs: ["read", "signal"] }) })
      const { link } = await asked("/v1/session?as=link", { headers: { authorization: `Bearer ${token}` } })
      const backend = { server, token: token as string }
      const script = await PageModules.bundle({ root, isReadable: false }, "test/runtime/elsewhere.ts")
      const shop = Sites.proxy(() => server.origin)
      const sites = { "shop.example": shop, "pages.test": elsewhere(backend, script), "third.test": Sites.tracker }
      await Sites.serving(sites, (rules) => Chromium.open(async ({ complaints, page, tab }) => {
        await page.goto(`https://shop.example${link}`)
        await page.getByRole("button", { name: "Log in" }).click()
        await shows(page, { takings: "0", said: "Live." })
        const [other, plain] = [await tab(), await tab()]
        await other.goto(ELSEWHERE[0]!)
        await shows(other, { takings: "0", said: "live" })
        assert.deepStrictEqual([await tracked(other), await tracked(other)], ["none", "none"])
        await other.getByRole("button", { name: "Order" }).click()
        for (const each of [page, other]) await shows(each, { takings: "4" })
        await vi.waitUntil(async () => await other.locator("#order").textContent() === "tea", PATIENCE)
        await plain.goto(ELSEWHERE[1]!)
        await plain.getByRole("button", { name: "Order" }).click()
        for (const each of [page, other, plain]) await shows(each, { takings: "8" })
        assert.deepStrictEqual(complaints, [])
        await server.restart()
        await send(server, "/signals/order/place", { count: 1 })
        for (const each of [page, other, plain]) await shows(each, { takings: "12" })
        backend.token = (await asked(`/v1/access/tokens/${id}/rotation`)).token
        await send(server, "/signals/order/place", { count: 1 })
        for (const each of [page, other]) await shows(each, { takings: "16" })
        await asked(`/v1/access/tokens/${id}/rotation`, { method: "DELETE" })
        await send(server, "/signals/order/place", { count: 1 })
        await shows(other, { takings: "20", said: "live" })
        await shows(page, { takings: "16", said: expect.stringMatching(/^Ended: .*credential has changed/) })
        await asked(`/v1/access/tokens/${id}`, { method: "DELETE" })
        await send(server, "/signals/order/place", { count: 1 })
        await shows(other, { takings: "20", said: expect.stringMatching(/^Ended: .*revoked/) })
      }, rules))
    }))
})
