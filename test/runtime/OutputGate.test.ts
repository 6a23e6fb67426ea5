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

const CELL = "/v1/spaces/shop/cells/data/visits/ann"

const visit = (id: string, route: ReadonlyArray<string> = []) => ({ signal: "/signals/visit", id, payload: { who: "ann", route } })

/** Sends a signal whose commit fails: the platform resets the object, and its caller may send it again. */
const lost = async ({ fetch, json, signal }: Edge.Edge, space: string, sent: object): Promise<void> => {
  const { number } = await json(`/test/seen/${space}`)
  await fetch(`/test/spoil/${space}`)
  const { body, status } = await signal(space, sent)
  assert.deepStrictEqual([status, body.code], [503, "space/stopped"])
  assert.isAbove((await json(`/test/seen/${space}`)).number, number)
}

/** The texts of a stream, until the object that sends it is reset. */
const streamed = async ({ body }: Response, begun: () => void): Promise<string> => {
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
  let seen = ""
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      seen += read.value
      if (seen.includes("data: ")) begun()
    }
  } catch {
    // The platform breaks it off.
  }
  return seen
}

describe("A commit that fails in an object", { timeout: 300_000 }, () => {
  it("reaches no caller, no event stream and no socket, and its signal is handled once when it is sent again", () =>
    Edge.running(text, async (edge) => {
      const { fetch, json, miniflare, signal } = edge
      await signal("shop", visit("first"))
      let begun = false
      const events = streamed(await fetch(CELL, { headers: { accept: "text/event-stream" } }), () => (begun = true))
      const headers = { upgrade: "websocket", authorization: `Bearer ${Edge.TOKEN}` }
      const { webSocket } = await miniflare.dispatchFetch(`http://worker${CELL}`, { headers })
      if (webSocket === null) return assert.fail("no socket came")
      const messages: Array<string> = []
      webSocket.addEventListener("message", ({ data }) => messages.push((JSON.parse(String(data)) as { readonly data: string }).data))
      webSocket.accept()
      await vi.waitUntil(() => begun && messages.length === 1, PATIENCE)
      await lost(edge, "shop", visit("second"))
      assert.notInclude(await events, "data: 2")
      assert.deepStrictEqual(messages, ["1"])
      assert.strictEqual(await json(CELL), 1)
      for (let n = 0; n < 2; n++) assert.strictEqual((await signal("shop", visit("second"))).body.status, "handled")
      assert.strictEqual(await json(CELL), 2)
    }))

  it("sends no signal to another space, and no request", async () => {
    let calls = 0
    const { url } = await servers.http((_, response) => {
      calls++
      response.end("page")
    })
    await Edge.running(text, async (edge) => {
      const { json, signal } = edge
      await signal("shop", visit("first"))
      await lost(edge, "shop", visit("second", ["other"]))
      const page = { signal: "/signals/page", id: "page", payload: { who: "ann", url } }
      await lost(edge, "shop", page)
      assert.deepStrictEqual([await json("/v1/spaces"), calls], [{ spaces: ["shop"], next: null }, 0])
      await signal("shop", visit("second", ["other"]))
      await signal("shop", page, "")
      await vi.waitUntil(async () => await json("/v1/spaces/other/cells/data/visits/ann") === 1, PATIENCE)
      await vi.waitUntil(async () => (await json("/v1/spaces/shop/cells/data/pages/ann")).value?.status === 200, PATIENCE)
      assert.deepStrictEqual([calls, await json(CELL)], [1, 2])
    })
  })

  it("arms no alarm, and one that succeeds arms it", () =>
    Edge.running(text, async (edge) => {
      const { fetch, json, signal } = edge
      await signal("shop", visit("first"))
      const alarm = async () => (await json("/test/seen/shop")).alarm
      await vi.waitUntil(async () => {
        await fetch("/test/lose/shop")
        assert.strictEqual(await json(CELL), 1)
        return await alarm() === null
      }, PATIENCE)
      const later = { ...visit("later"), at: { ms: 3_600_000 } }
      await lost(edge, "shop", later)
      assert.isNull(await alarm())
      const at = Date.now() + 3_600_000
      assert.strictEqual((await signal("shop", later, "")).status, 202)
      await vi.waitUntil(async () => await alarm() >= at, PATIENCE)
    }))

  it("is told to no sender of another object: it sends the signal again, and it is handled once", () =>
    Edge.running(text, async (edge) => {
      const { fetch, json, signal } = edge
      for (const space of ["shop", "other"]) await signal(space, visit("first"))
      const { number } = await json("/test/seen/other")
      await fetch("/test/spoil/other")
      await signal("shop", visit("second", ["other", "shop"]))
      await vi.waitUntil(async () => await json(CELL) === 3, PATIENCE)
      assert.isAbove((await json("/test/seen/other")).number, number)
      assert.strictEqual(await json("/v1/spaces/other/cells/data/visits/ann"), 2)
    }))
})
