import { assert, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import { claims, key } from "../access/Issuer.ts"
import * as Edge from "./Edge.ts"

/** The platform's timers are real. */
const PATIENCE = { timeout: 60_000, interval: 50 }

const CELL = "/v1/spaces/shop/cells/data/visits"

describe("JSON Web Tokens on Workers", () => {
  it("are verified anew by their sockets, which are closed for that after 10 minutes", async () => {
    const [text, issuer] = [await Edge.script("./test/runtime/walked.ts"), await key("first")]
    const now = Math.floor(Date.now() / 1000)
    await Edge.running(text, async ({ fetch, miniflare, signal }) => {
      const authorization = `Bearer ${await issuer.sign(claims(Date.now(), { sub: "0", exp: now + 20_000 }))}`
      const url = (await miniflare.ready).origin.replace("http", "ws")
      await signal("shop", { signal: "/signals/count" })
      /** The values that a socket brings, and the code of its close. */
      const opened = async (seen: number) => {
        const socket = new WebSocket(`${url}/v1/spaces/shop/cells/data/count`, { headers: { authorization } } as never)
        const told = { values: 0, closed: 0 }
        socket.addEventListener("message", () => told.values++)
        socket.addEventListener("close", ({ code }) => told.closed = code)
        await vi.waitFor(() => assert.strictEqual(told.values, seen), PATIENCE)
        return { socket, told }
      }
      const { told } = await opened(1)
      await signal("shop", { signal: "/signals/count" })
      await vi.waitFor(() => assert.strictEqual(told.values, 2), PATIENCE)
      await fetch("/test/later/shop")
      await signal("shop", { signal: "/signals/count" })
      await vi.waitFor(() => assert.deepStrictEqual(told, { values: 2, closed: 1011 }), PATIENCE)
      const { socket } = await opened(1)
      socket.close()
    }, { bindings: { SYSTOLE_TOKEN: Edge.TOKEN, KEY: JSON.stringify(issuer.jwk) } })
  })

  it("are verified in front, and decided upon by the objects; wrong ones are limited by address", async () => {
    const [text, issuer] = [await Edge.script("./test/runtime/issued.ts"), await key("first")]
    await Edge.running(text, async (edge) => {
      await edge.signal("shop", { signal: "/signals/visit" })
      const { origin } = await edge.miniflare.ready
      const good = await issuer.sign(claims(Date.now(), { sub: "visits" }))
      const ask = (token: string, path: string, accept = "application/json") =>
        fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}`, accept, "cf-connecting-ip": "192.0.2.1" } })
      const status = async (...request: Parameters<typeof ask>): Promise<number> => {
        const response = await ask(...request)
        await response.body?.cancel()
        return response.status
      }
      const together = await Promise.all(Array.from({ length: 10 }, () => status(good, CELL)))
      assert.deepStrictEqual(new Set(together), new Set([200]))
      for (const path of ["/v1/spaces/shop/cells/data/other", "/v1/spaces/other/cells/data/visits"]) {
        assert.strictEqual(await status(good, path), 403)
      }
      const reader = (await ask(good, CELL, "text/event-stream")).body?.getReader()
      assert.isFalse((await reader?.read())?.done)
      await reader?.cancel()
      const wrong = await issuer.sign(claims(Date.now(), { aud: "other" }))
      for (const expected of [401, 401, 401, 429]) assert.strictEqual(await status(wrong, CELL), expected)
      assert.strictEqual(await status(good, CELL), 200)
    }, { bindings: { KEY: JSON.stringify(issuer.jwk) } })
  })
})
