import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { vi } from "vitest"
import * as Command from "../scripts/Command.ts"
import { node, root } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"
import * as Server from "../scripts/Server.ts"
import * as Chromium from "./Chromium.ts"
import * as Edge from "./Edge.ts"

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
  /** Ends the server and starts it anew at the same address, where a test can. */
  readonly restart?: () => Promise<void>
}

/** The same builds, to which a token alone gives access. */
const locked: Readonly<Record<string, (use: (host: Locked) => Promise<void>) => Promise<void>>> = {
  Node: async (use) => {
    const start = (port: string) => Server.start(folder, join(folder, "locked"), {
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
    Edge.running({ folder: join(folder, "workers") }, async ({ miniflare }) => use({ origin: (await miniflare.ready).origin }))
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

/** The visible parts of the page: its takings, its orders, the cells of its items, and its message. */
const shown = async (page: Chromium.Page) => ({
  takings: await page.locator("#takings").textContent(),
  orders: await page.locator("#orders").textContent(),
  items: (await page.locator("#items td").allTextContents()).join(" "),
  said: await page.locator("#said").textContent()
})

/** Waits until the page shows these parts. */
const shows = async (page: Chromium.Page, parts: Partial<Awaited<ReturnType<typeof shown>>>): Promise<void> => {
  const wanted = Object.entries(parts)
  await vi.waitUntil(async () => {
    const now = await shown(page)
    return wanted.every(([part, text]) => now[part as keyof typeof now] === text)
  }, PATIENCE)
}

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
      const { origin, restart } = server
      const asked = async (path: string, init: RequestInit) =>
        (await fetch(origin + path, { method: "POST", headers: asOperator, ...init })).json() as Promise<any>
      await send(server, "/signals/goods/receive", { price: 4, count: 3 })
      const { id, token } = await asked("/v1/access/tokens", { body: JSON.stringify({ verbs: ["read", "signal"] }) })
      const { link } = await asked("/v1/session?as=link", { headers: { authorization: `Bearer ${token}` } })
      await page.goto(origin + link)
      await page.getByRole("button", { name: "Log in" }).click()
      await shows(page, { takings: "0", orders: "0", items: "tea 4 3 Order", said: "Live." })
      await page.getByRole("button", { name: "Order" }).click()
      await shows(page, { takings: "4", orders: "1", items: "tea 4 2 Order", said: "One tea is yours." })
      assert.deepStrictEqual(complaints, [])
      await restart?.()
      await page.reload()
      await shows(page, { orders: "1", said: "Live." })
      await send(server, "/signals/order/place", { count: 1 })
      await shows(page, { takings: "8", orders: "2", items: "tea 4 1 Order" })
      await asked(`/v1/access/tokens/${id}`, { method: "DELETE" })
      await send(server, "/signals/order/place", { count: 1 })
      await shows(page, { orders: "2", said: "Lost, and trying again …" })
    })))
})
