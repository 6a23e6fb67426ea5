import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { vi } from "vitest"
import * as Command from "../scripts/Command.ts"
import { node, root } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"
import * as Server from "../scripts/Server.ts"
import * as Edge from "./Edge.ts"
import * as Page from "./Page.ts"

const PATIENCE = { timeout: 120_000, interval: 20 }

let folder = ""

beforeAll(async () => {
  await Command.ensure()
  folder = mkdtempSync(join(tmpdir(), "systole-shop-"))
  cpSync(join(root, "examples", "shop"), folder, { recursive: true, filter: (file) => !/[\\/]\.(?:data|systole)$/.test(file) })
  for (const target of ["node", "workers"]) {
    const { code, output } = await run([node(), Command.file, "build", "--target", target, "--out", target], { cwd: folder })
    assert.strictEqual(code, 0, output)
  }
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const receive = (item: string, count: number, price: number) =>
  ({ signal: "/signals/goods/receive", target: `/data/products/${item}`, payload: { price, count } })

const order = (item: string, count: number) =>
  ({ signal: "/signals/order/place", target: `/data/products/${item}`, payload: { count } })

/** The same signals for each host; some are refused, dead or duplicates. */
const INPUT = [
  receive("tea", 5, 4), receive("pot", 1, 20), order("tea", 3), order("tea", 3), order("pot", 1), order("pot", 1), order("tea", -1),
  receive("tea", 2, 5), order("tea", 4), { signal: "/signals/nobody" }, order("cup", 1)
].map((signal, n) => ({ id: `s${n}`, ...signal }))

const json = async (url: string, init?: RequestInit): Promise<any> => (await fetch(url, init)).json()

/** Sends a signal to a server. Returns the status of the answer with its end. */
const sent = async (origin: string, signal: object): Promise<number> => {
  const headers = { "content-type": "application/json", prefer: "wait=60" }
  return (await fetch(`${origin}/v1/spaces/shop/signals`, { method: "POST", headers, body: JSON.stringify(signal) })).status
}

/** Sends the input to a new space, each signal after the receipt of the one before. Returns its beats with their digests. */
const beatsOf = async (origin: string) => {
  const space = `${origin}/v1/spaces/shop`
  // The answer comes after the beats of its boot.
  assert.deepInclude(await json(space, { method: "PUT" }), { created: true })
  for (const signal of [...INPUT, ...INPUT.slice(0, 2)]) assert.include([200, 422, 404], await sent(origin, signal))
  assert.deepStrictEqual(await json(`${space}/cells/data/stock?pull`), { tea: 0, pot: 0 })
  return (await json(`${space}/beats?limit=100`)).beats as ReadonlyArray<{ readonly beat: number; readonly hash: string }>
}

/** The page of the shop: its script, and the headers that decide what may run and be kept. */
const pageOf = async (origin: string) => {
  const answer = await fetch(origin)
  const [, script] = /<script type="module">([^]*)<\/script>/.exec(await answer.text()) ?? []
  return { script, headers: ["content-security-policy", "cache-control", "content-type"].map((name) => answer.headers.get(name)) }
}

/** The text of a module that fixes time and chance. */
const fixed = (moment: number) => `Date.now = () => ${moment}
Object.defineProperty(crypto, "randomUUID", { value: () => "01234567-89ab-4def-8123-456789abcdef" })
`

describe("The example of a shop, built", () => {
  // Browser.test.ts does the same with a real browser. This one stays for machines without: it needs no more than Node.
  it("shows the takings in workerd while its page sells", () =>
    Edge.running({ folder: join(folder, "workers") }, async ({ miniflare }) => {
      const { href, origin } = await miniflare.ready
      assert.strictEqual(await sent(origin, receive("tea", 2, 4)), 200)
      const page = await Page.open(href)
      const shows = (id: string, text: string) => vi.waitUntil(() => page.text(id) === text, PATIENCE)
      await shows("items", "tea 4 2 Order")
      for (const left of [1, 0]) {
        page.click("Order")
        await shows("items", `tea 4 ${left} Order`)
        await shows("said", "One tea is yours.")
      }
      page.click("Order")
      await shows("said", "There is no tea left.")
      assert.deepStrictEqual([page.text("takings"), page.text("orders")], ["8", "2"])
      page.close()
    }, { public: true }))

  it("has the same journal in workerd as on Node for the same input, time and chance", async () => {
    const moment = Date.now()
    const command = join(folder, "fixed.mjs")
    writeFileSync(command, `${fixed(moment)}await import("./node/systole.js")\n`)
    // A Worker has no files, so its stores hold no texts of modules.
    rmSync(join(folder, "node", "modules"), { recursive: true })
    const server = await Server.start(folder, join(folder, "data"), { command })
    const onNode = await Promise.all([beatsOf(server.url), pageOf(server.url)]).finally(() => server.end("SIGTERM"))
    const workers = join(folder, "workers")
    renameSync(join(workers, "worker.js"), join(workers, "inner.js"))
    writeFileSync(join(workers, "fixed.js"), fixed(moment))
    const entry = ["import \"./fixed.js\"", "export * from \"./inner.js\"", "export { default } from \"./inner.js\"", ""]
    writeFileSync(join(workers, "worker.js"), entry.join("\n"))
    const inWorkerd = await Edge.running({ folder: workers }, async ({ miniflare }) => {
      const { origin } = await miniflare.ready
      return Promise.all([beatsOf(origin), pageOf(origin)])
    }, { public: true })
    const [beats, { script = assert.fail("the page has no script") }] = onNode
    assert.isAbove(beats.length, INPUT.length)
    const code = readdirSync(workers).filter((file) => file.endsWith(".js")).map((file) => readFileSync(join(workers, file), "utf8"))
    assert.isFalse(code.some((text) => text.includes(script.slice(0, 200))), "the script of the page is no part of the Worker")
    assert.deepStrictEqual(inWorkerd, onNode)
  })
})
