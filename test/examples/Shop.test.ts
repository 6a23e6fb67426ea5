import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { vi } from "vitest"
import { root } from "../scripts/Host.ts"
import { start } from "../scripts/Server.ts"
import * as Page from "../runtime/Page.ts"
import * as Browser from "./Browser.ts"

const example = join(root, "examples", "shop")
const space = "/v1/spaces/shop"

interface Placed {
  readonly left: number
  readonly placed: boolean
}

/** A client of a shop that is served by a process of its own. */
const client = (url: string) => {
  const send = async (signal: string, item: string, payload: object): Promise<Placed> => {
    const response = await fetch(`${url}${space}/signals`, {
      method: "POST",
      headers: { "content-type": "application/json", prefer: "wait=60" },
      body: JSON.stringify({ signal, target: `/data/products/${item}`, payload })
    })
    const { handlings } = await response.json() as { readonly handlings: ReadonlyArray<{ readonly value: Placed }> }
    return handlings[0]!.value
  }
  return {
    receive: (item: string, price: number, count: number) => send("/signals/goods/receive", item, { price, count }),
    order: (item: string, count: number) => send("/signals/order/place", item, { count }),
    get: async (path: string) => (await fetch(`${url}${space}/cells${path}`)).json(),
    /** The events of the dashboard, from now on or after the last one that was seen. */
    follow: async function*(last?: string) {
      const response = await fetch(`${url}${space}/cells/data/dashboard`, {
        headers: { accept: "text/event-stream", ...(last === undefined ? {} : { "last-event-id": last }) }
      })
      let text = ""
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        const frames = (text + chunk).split("\n\n")
        text = frames.pop()!
        for (const frame of frames) {
          const [, id, event, data] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(frame) ?? []
          if (event === "value") yield { id: id!, ...JSON.parse(data!) as { readonly orders: number; readonly takings: number } }
        }
      }
    }
  }
}

/** Serves the shop from fresh data, for as long as it is looked at. */
const served = (look: (shop: ReturnType<typeof client>, url: string) => Promise<void>) => async () => {
  const data = mkdtempSync(join(tmpdir(), "systole-shop-"))
  const server = await start(example, data)
  try {
    await look(client(server.url), server.url)
  } finally {
    await server.end("SIGTERM")
    rmSync(data, { recursive: true, force: true })
  }
}

describe("The example of the shop", () => {
  it("sells exactly what is there, however many want it at once", served(async ({ get, order, receive }) => {
    await receive("tea", 4, 5)
    await receive("jam", 3, 1)
    const all = await Promise.all([
      ...Array.from({ length: 12 }, () => order("tea", 1)),
      ...Array.from({ length: 3 }, () => order("jam", 1))
    ])
    const [tea, jam] = [all.slice(0, 12), all.slice(12)]
    assert.strictEqual(tea.filter(({ placed }) => placed).length, 5)
    assert.deepStrictEqual(tea.filter(({ placed }) => placed).map(({ left }) => left).toSorted(), [0, 1, 2, 3, 4])
    assert.strictEqual(jam.filter(({ placed }) => placed).length, 1)
    assert.deepStrictEqual(await order("tea", 1), { left: 0, placed: false })
    await receive("tea", 5, 2)
    assert.deepStrictEqual(await order("tea", 2), { left: 0, placed: true })
    assert.deepStrictEqual(await order("soap", 1), { left: 0, placed: false })
    assert.deepStrictEqual(await get("/data/stock?pull"), { jam: 0, tea: 0 })
    assert.deepStrictEqual(await get("/data/dashboard?pull"), {
      items: [{ item: "jam", left: 0, price: 3 }, { item: "tea", left: 0, price: 5 }],
      orders: 7,
      takings: 33
    })
  }))

  it("tells a follower of the dashboard of every order, and after a reconnection of the missed ones", served(async (shop) => {
    const { follow, order, receive } = shop
    await receive("tea", 4, 9)
    let last: string | undefined
    for await (const { id, orders, takings } of follow()) {
      assert.strictEqual(takings, orders * 4)
      last = id
      if (orders === 3) break
      await order("tea", 1)
    }
    // Somebody else goes on looking, or nothing would be derived.
    const other = follow()
    await other.next()
    for (let i = 0; i < 3; i++) await order("tea", 1)
    const missed: Array<number> = []
    for await (const { orders } of follow(last)) {
      missed.push(orders)
      if (orders === 6) break
    }
    assert.deepStrictEqual(missed, [4, 5, 6])
    await other.return(undefined)
  }))

  it("serves a page whose script is the only one that may run", served(async (_, url) => {
    const response = await fetch(url)
    const text = await response.text()
    assert.include(text, "/data/dashboard")
    assert.notInclude(text, "~effect/")
    assert.match(response.headers.get("content-security-policy")!, /default-src 'none'.*script-src 'sha256-[^']+'; connect-src 'self'/)
  }))

  it("has a page that follows an order for longer than its first wait", served(async (shop, url) => {
    await shop.receive("tea", 4, 3)
    const page = await Page.open(url)
    const said = (part: string) => vi.waitUntil(() => page.text("said").includes(part), { timeout: 240_000, interval: 20 })
    await vi.waitUntil(() => page.text("items") === "tea 4 3 Order", { timeout: 240_000, interval: 20 })
    const control = (verb: string) => fetch(`${url}${space}/control/${verb}`, { method: "POST" })
    await control("hold")
    page.click("Order")
    await said("The order of one tea is under way …")
    await control("release")
    await said("One tea is yours.")
    page.close()
  }))

  it.runIf(Browser.installed !== undefined)("updates an open browser with each order, its own and others", served(async (shop, url) => {
    const { order, receive } = shop
    await receive("tea", 4, 3)
    const page = await Browser.open(url)
    try {
      const shown = (takings: number) => `document.querySelector("#takings").textContent === "${takings}"`
      await page.until(shown(0))
      await order("tea", 1)
      await page.until(shown(4))
      await page.run(`document.querySelector("button").click()`)
      await page.until(shown(8))
      await order("tea", 1)
      await page.until(shown(12))
      await page.run(`document.querySelector("button").click()`)
      assert.strictEqual(
        await page.until(`document.querySelector("#said").textContent.startsWith("There") && document.querySelector("#said").textContent`),
        "There is no tea left."
      )
    } finally {
      await page.close()
    }
  }))
})
