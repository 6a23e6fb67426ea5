import { afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import { LocalServers } from "../plugins/http/LocalServer.ts"
import * as Edge from "./Edge.ts"

let text = ""

const servers = new LocalServers()

afterEach(() => servers.close())

beforeAll(async () => {
  text = await Edge.script("./test/runtime/worker.ts")
})

/** The platform's timers are real. */
const PATIENCE = { timeout: 120_000, interval: 50 }

const greet = (who: string) => ({ signal: "/signals/greet", payload: { who } })

describe("A space in a durable object", { timeout: 300_000 }, () => {
  it("handles each of 100 posts, one after another and side by side", () =>
    Edge.running(text, async ({ json, signal }) => {
      for (let n = 0; n < 40; n++) {
        const { body, status } = await signal("shop", greet(`guest${n}`), n % 2 === 0 ? "wait=10" : "")
        assert.strictEqual(status, n % 2 === 0 ? 200 : 202, JSON.stringify(body))
      }
      const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => signal("shop", greet(`guest${40 + n}`))))
      assert.deepStrictEqual(answers.filter(({ body }) => body.status !== "handled"), [])
      assert.strictEqual((await json("/v1/spaces/shop/cells/data/greetings?list")).names.length, 100)
    }))

  it("delivers signals between objects, there and back, and refuses those of other applications", () =>
    Edge.running(text, async ({ json, signal }) => {
      const route = ["b", "a", "c", "a"]
      await Promise.all(Array.from({ length: 20 }, (_, n) =>
        signal("a", { signal: "/signals/visit", payload: { who: `w${n}`, route } })))
      const visits = (space: string) => json(`/v1/spaces/${space}/cells/data/visits/w19`)
      await vi.waitUntil(async () => await visits("a") === 3, PATIENCE)
      assert.deepStrictEqual([await visits("b"), await visits("c")], [1, 1])
      assert.strictEqual((await json("/v1/spaces/b/cells/data/visits?list")).names.length, 20)
      assert.deepStrictEqual(await json("/v1/spaces"), { spaces: ["a", "b", "c"], next: null })
      const answers = await json("/test/foreign/a") as ReadonlyArray<string>
      assert.strictEqual(answers.length, 2)
      for (const answer of answers) assert.include(answer, "no object of this application")
    }))

  it("delivers signals between objects once, there and back, while the platform resets both", () =>
    Edge.running(text, async ({ fetch, json, signal }) => {
      const ids = Array.from({ length: 60 }, (_, n) => `w${n}`)
      const visit = async (id: string): Promise<void> => {
        const sent = { signal: "/signals/visit", id, payload: { who: id, route: ["b", "a", "b"] } }
        while ((await signal("a", sent)).status !== 200);
      }
      for (let n = 0; n < ids.length; n += 5) {
        const sent = ids.slice(n, n + 5).map(visit)
        await Promise.race(sent)
        await Promise.all([fetch("/test/reset/a"), fetch("/test/reset/b"), ...sent])
      }
      const visits = (space: string) => Promise.all(ids.map((id) => json(`/v1/spaces/${space}/cells/data/visits/${id}`)))
      const twice = ids.map(() => 2)
      await vi.waitUntil(async () => (await visits("b")).every((count) => count === 2), PATIENCE)
      assert.deepStrictEqual([await visits("a"), await visits("b")], [twice, twice])
    }))

  it.each([[600, 10, 3], [6, 300_000, 2]])("delivers %d signals of %d characters in order, in batches", (count, length, calls) =>
    Edge.running(text, async ({ json, signal }) => {
      const { body } = await signal("a", { signal: "/signals/mail", payload: { space: "b", count, length } })
      assert.deepInclude(body, { status: "handled" })
      const mail = () => json("/v1/spaces/b/cells/data/mail")
      await vi.waitUntil(async () => (await mail()).length >= count, PATIENCE)
      assert.deepStrictEqual(await mail(), Array.from({ length: count }, (_, n) => n))
      const { deliveries } = await json("/test/seen/b") as { readonly deliveries: ReadonlyArray<readonly [number, number]> }
      assert.deepStrictEqual(deliveries.reduce((sum, [signals]) => sum + signals, 0), count)
      assert.isAtLeast(deliveries.length, calls)
      for (const [signals, characters] of deliveries) {
        assert.isAtMost(signals, 256)
        // The limit counts the signals without the rest of their rows.
        assert.isAtMost(characters, 1_048_576 + 1000 * signals)
      }
    }))

  it("takes no signal of another object when its storage is nearly full, and loses none", () =>
    Edge.running(text, async ({ fetch, json, signal }) => {
      for (const space of ["a", "b"]) await signal(space, greet("first"))
      await fetch("/test/fill/b")
      assert.deepInclude((await signal("b", greet("second"))).body, { status: 507, code: "store/full" })
      await signal("a", { signal: "/signals/visit", payload: { who: "ann", route: ["b"] } })
      // Its alarm waits for the delivery, which is refused.
      await fetch("/test/ring/a")
      const read = await fetch("/v1/spaces/b/cells/data/visits/ann")
      assert.deepStrictEqual([read.status, (await json("/v1/spaces/a/dead")).letters], [404, []])
      await fetch("/test/reset/b")
      await vi.waitUntil(async () => await json("/v1/spaces/b/cells/data/visits/ann") === 1, PATIENCE)
    }))

  it("ends a segment of a durable run only after all promises of its body", () =>
    Edge.running(text, async ({ json, signal }) => {
      await signal("shop", { signal: "/signals/race", payload: { who: "ann" } }, "")
      await vi.waitUntil(async () => (await json("/v1/spaces/shop/runs")).runs.length === 0, PATIENCE)
      assert.strictEqual(await json("/v1/spaces/shop/cells/data/races/ann"), "short")
    }))

  it("carries nothing of the agent, which its project does not use", () => {
    assert.include(text, "/signals/race")
    for (const part of ["/signals/heartbeat/wake", "YAMLParseError"]) assert.notInclude(text, part)
  })

  it("streams the changes of a cell", () =>
    Edge.running(text, async ({ fetch, signal }) => {
      await signal("shop", { signal: "/signals/visit", payload: { who: "ann", route: [] } })
      const { body } = await fetch("/v1/spaces/shop/cells/data/visits/ann", { headers: { accept: "text/event-stream" } })
      if (body === null) throw new Error("no stream came")
      const reader = body.pipeThrough(new TextDecoderStream()).getReader()
      let seen = ""
      const until = async (part: string) => {
        while (!seen.includes(part)) seen += (await reader.read()).value ?? assert.fail(`the stream ended with ${seen}`)
      }
      await until("data: 1")
      await signal("shop", { signal: "/signals/visit", payload: { who: "ann", route: [] } })
      await until("data: 2")
      await reader.cancel()
    }))

  it("sends the changes of a cell over a socket", () =>
    Edge.running(text, async ({ miniflare, signal }) => {
      const visit = () => signal("shop", { signal: "/signals/visit", payload: { who: "ann", route: [] } })
      await visit()
      const path = "http://worker/v1/spaces/shop/cells/data/visits/ann"
      assert.strictEqual((await miniflare.dispatchFetch(path, { headers: { upgrade: "websocket" } })).status, 401)
      const headers = { upgrade: "websocket", authorization: `Bearer ${Edge.TOKEN}` }
      const { webSocket } = await miniflare.dispatchFetch(path, { headers })
      if (webSocket === null) throw new Error("no socket came")
      const seen: Array<string> = []
      webSocket.addEventListener("message", ({ data }) => seen.push((JSON.parse(String(data)) as { readonly data: string }).data))
      webSocket.accept()
      await vi.waitUntil(() => seen.length === 1, PATIENCE)
      await visit()
      await vi.waitUntil(() => seen.length === 2, PATIENCE)
      assert.deepStrictEqual(seen, ["1", "2"])
      webSocket.close()
    }))

  it("goes on with a durable run after its object is reset, within a request and within a wait", async () => {
    let calls = 0
    const { url } = await servers.http((_, response) => {
      // The first answer never comes.
      if (++calls > 1) response.end("page")
    })
    await Edge.running(text, async ({ fetch, json, signal }) => {
      await signal("shop", { signal: "/signals/page", payload: { who: "ann", url } }, "")
      await vi.waitUntil(() => calls === 1, PATIENCE)
      await fetch("/test/reset/shop")
      await vi.waitUntil(() => calls === 2, PATIENCE)
      await fetch("/test/reset/shop")
      const kept = async () => (await json("/v1/spaces/shop/cells/data/pages/ann")).value?.status === 200
      await vi.waitUntil(kept, PATIENCE)
      // The request whose answer was not yet stored is repeated.
      assert.include([2, 3], calls)
    })
  })

  it("answers 503 to requests in progress when its object is reset", () =>
    Edge.running(text, async ({ fetch, json, signal }) => {
      await signal("shop", greet("first"))
      const waiting = signal("shop", { ...greet("later"), at: { ms: 3_600_000 } }, "wait=60")
      await vi.waitUntil(async () => (await json("/v1/spaces/shop/waiting")).waiting.length === 1, PATIENCE)
      await fetch("/test/reset/shop")
      const { body, status } = await waiting
      assert.deepStrictEqual([status, body.code], [503, "space/stopped"])
      assert.strictEqual((await json("/v1/spaces/shop/waiting")).waiting.length, 1)
    }))

  it("is deleted with its data, its alarm and its entry in the directory", () =>
    Edge.running(text, async ({ fetch, json, signal }) => {
      await signal("shop", greet("first"))
      await signal("shop", { ...greet("later"), at: { ms: 3_600_000 } }, "")
      assert.deepStrictEqual(await (await fetch("/v1/spaces/shop", { method: "DELETE" })).json(), { space: "shop", removed: true })
      assert.strictEqual((await fetch("/v1/spaces/shop", { method: "DELETE" })).status, 404)
      assert.strictEqual((await fetch("/v1/spaces/shop/cells/data/greetings/first")).status, 404)
      assert.deepStrictEqual(await json("/v1/spaces"), { spaces: [], next: null })
      assert.isNull((await json("/test/seen/shop")).alarm)
      assert.deepInclude((await signal("shop", greet("anew"))).body, { status: "handled" })
      assert.deepStrictEqual((await json("/v1/spaces/shop/cells/data/greetings?list")).names, ["anew"])
    }))

  it("refuses signals after its deletion, unless signals create spaces, and their sender gives them up", () =>
    Edge.running(text, async ({ fetch, json, signal }) => {
      const visit = () => signal("a", { signal: "/signals/visit", payload: { who: "ann", route: ["b"] } })
      for (const space of ["a", "b"]) assert.strictEqual((await fetch(`/v1/spaces/${space}`, { method: "PUT" })).status, 201)
      await visit()
      await vi.waitUntil(async () => await json("/v1/spaces/b/cells/data/visits/ann") === 1, PATIENCE)
      await fetch("/v1/spaces/b", { method: "DELETE" })
      assert.deepInclude((await signal("b", greet("late"))).body, { status: 404, code: "space/unknown" })
      await visit()
      const letters = async () => (await json("/v1/spaces/a/dead")).letters as ReadonlyArray<{ readonly code: string }>
      await vi.waitUntil(async () => (await letters()).length === 1, PATIENCE)
      assert.deepStrictEqual((await letters()).map(({ code }) => code), ["space/unknown"])
      await fetch("/test/reset/b")
      assert.deepInclude(await json("/test/seen/b"), { alarm: null })
      assert.deepStrictEqual(await json("/v1/spaces"), { spaces: ["a"], next: null })
    }, { bindings: { CREATE: "explicit" } }))

  it("leaves the directory when a removal that failed half-way is repeated", () =>
    Edge.running(text, async ({ fetch, json, signal }) => {
      await signal("shop", greet("first"))
      await fetch("/test/forget/shop")
      assert.deepStrictEqual(await json("/v1/spaces"), { spaces: ["shop"], next: null })
      await fetch("/v1/spaces/shop", { method: "DELETE" })
      assert.deepStrictEqual(await json("/v1/spaces"), { spaces: [], next: null })
    }))

  it("fails a read of a page as a server does", () =>
    Edge.running(text, async ({ fetch, json, signal }) => {
      const visit = () => signal("shop", { signal: "/signals/visit", payload: { who: "slow", route: [] } })
      const page = async (path: string) => {
        const response = await fetch(path)
        const answer = await response.text()
        const problem = () => JSON.parse(answer) as { readonly code: string; readonly retry_at?: number }
        return response.ok ? answer : { status: response.status, ...problem() }
      }
      await visit()
      assert.strictEqual(await json("/v1/spaces/shop/cells/data/slow?pull"), 1)
      assert.strictEqual(await page("/slow"), "1")
      await visit()
      const [held, bad] = [await page("/slow"), await page("/bad")]
      if (typeof held === "string" || typeof bad === "string") throw new Error("a page whose read failed has an answer")
      assert.deepInclude(held, { status: 503, code: "cell/held" })
      assert.isAbove(held.retry_at ?? 0, Date.now())
      assert.deepInclude(bad, { status: 400, code: "address/invalid" })
      assert.deepStrictEqual([await page("/nowhere"), await page("/code")], ["undefined", "address/invalid"])
    }))

  it("is listed in the pages of the directory, in order", () =>
    Edge.running(text, async ({ fetch, json }) => {
      const names = ["a", "a-b", "a0", "b", "c"]
      for (const name of names.toReversed()) assert.strictEqual((await fetch(`/v1/spaces/${name}`, { method: "PUT" })).status, 201)
      const pages: Array<ReadonlyArray<string>> = []
      for (let next: string | null = ""; next !== null;) {
        const page: { readonly spaces: ReadonlyArray<string>; readonly next: string | null } =
          await json(`/v1/spaces?limit=2${next === "" ? "" : `&after=${next}`}`)
        pages.push(page.spaces)
        next = page.next
      }
      assert.deepStrictEqual(pages, [["a", "a-b"], ["a0", "b"], ["c"]])
      assert.deepStrictEqual(await json("/v1/spaces?limit=5"), { spaces: names, next: null })
    }))

  it("creates nothing for a space that is unknown", () =>
    Edge.running(text, async ({ fetch, json }) => {
      assert.strictEqual((await fetch("/v1/spaces/nowhere/cells/data/a")).status, 404)
      assert.deepInclude(await json("/test/seen/nowhere"), { rowsWritten: 0 })
      assert.deepStrictEqual(await json("/v1/spaces"), { spaces: [], next: null })
    }))
})
