import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Config from "../../src/loader/Config.ts"
import { make } from "../access/TestTokens.ts"
import { enzymes, serve, type TestIngress } from "./TestIngress.ts"
import * as StreamText from "../support/StreamText.ts"

const SHOP = "https://shop.example"
const OTHER = "https://evil.example"
const CELL = "/v1/spaces/shop/cells/data/count"

const test = (name: string, origins: ReadonlyArray<string>, run: (app: TestIngress, tokens: ReturnType<typeof make>) => Promise<void>) =>
  it.live(name, () => {
    const tokens = make()
    const config = { spaces: { create: "on-demand" as const }, origins }
    return Effect.flatMap(serve({ config, enzymes, tokens }), (app) => Effect.promise(() => run(app, tokens)))
  })

/** The headers of an answer that concern pages of other sites. */
const shared = ({ headers }: Response): ReadonlyArray<string> => [...headers.keys()].filter((name) => /^access-control|^vary$/.test(name))

describe("A page of another site", () => {
  test("asks, reads and writes with a token, and gets no cookies", [SHOP], async ({ fetch, kernel }, { create }) => {
    const asked = { origin: SHOP, "access-control-request-method": "PUT", "access-control-request-headers": "authorization" }
    const preflight = await fetch(CELL, { method: "OPTIONS", headers: asked })
    assert.strictEqual(preflight.status, 204)
    assert.strictEqual(preflight.headers.get("access-control-allow-origin"), SHOP)
    assert.include(preflight.headers.get("access-control-allow-headers"), "authorization")
    assert.isNull(preflight.headers.get("access-control-allow-credentials"))
    const authorization = `Bearer ${await create({ verbs: ["read", "write"], expires: "15m" })}`
    await Effect.runPromise(Effect.flatMap(kernel.space("shop"), (space) => space.set("/data/count", 1)))
    const read = await fetch(CELL, { headers: { origin: SHOP, authorization } })
    assert.deepStrictEqual([read.status, await read.text()], [200, "1"])
    assert.deepStrictEqual([read.headers.get("access-control-allow-origin"), read.headers.get("vary")], [SHOP, "origin"])
    assert.include(read.headers.get("access-control-expose-headers"), "etag")
    const headers = { origin: SHOP, authorization, "content-type": "application/json" }
    assert.strictEqual((await fetch(CELL, { method: "PUT", headers, body: "2" })).status, 200)
    const stream = await fetch(CELL, { headers: { origin: SHOP, authorization, accept: "text/event-stream" } })
    assert.strictEqual(stream.headers.get("access-control-allow-origin"), SHOP)
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
    await StreamText.until(reader, "data: 2")
    await reader.cancel()
  })

  test("reads the refusal, too, and is refused without a token", [SHOP], async ({ fetch }) => {
    const refused = await fetch(CELL, { headers: { origin: SHOP } })
    assert.deepStrictEqual([refused.status, refused.headers.get("access-control-allow-origin")], [403, SHOP])
    assert.strictEqual((await refused.json() as { readonly code: string }).code, "host/refused")
  })

  test("needs no token if it is one of this machine, and the server has none", ["http://localhost:5173"], async ({ fetch }) => {
    const from = async (origin: string, init: RequestInit = {}) =>
      (await fetch(CELL, { ...init, headers: { origin, "content-type": "application/json" } })).status
    assert.strictEqual(await from("http://localhost:5173", { method: "PUT", body: "1" }), 200)
    assert.strictEqual(await from("http://localhost:5173"), 200)
    for (const origin of ["http://localhost:5174", "http://127.0.0.1:5173", "https://localhost:5173", "null"]) {
      assert.strictEqual(await from(origin), 403, origin)
    }
  })

  test("gets nothing that is not for its origin", [SHOP], async ({ fetch }, { create }) => {
    const authorization = `Bearer ${await create({ verbs: ["read"] })}`
    for (const origin of [OTHER, "null", `${SHOP}.evil.example`, "http://shop.example", `${SHOP}:8443`]) {
      assert.deepStrictEqual(shared(await fetch(CELL, { headers: { origin, authorization } })), ["vary"], origin)
      const headers = { origin, "access-control-request-method": "GET" }
      assert.deepStrictEqual(shared(await fetch(CELL, { method: "OPTIONS", headers })), ["vary"], origin)
    }
  })

  test("is no different from others without origins", [], async ({ fetch }, { create }) => {
    const authorization = `Bearer ${await create({ verbs: ["read"] })}`
    assert.deepStrictEqual(shared(await fetch(CELL, { headers: { origin: SHOP, authorization } })), [])
  })
})

describe("The origins of a configuration", () => {
  it.effect("are written as a browser does", () =>
    Effect.gen(function*() {
      for (const origin of ["*", "shop.example", "https://shop.example/", "https://shop.example:443", "ftp://shop.example", "null"]) {
        const { reason } = yield* Effect.flip(Config.decode({ origins: [origin] }))
        assert.include(reason, "an origin", origin)
      }
      assert.deepStrictEqual((yield* Config.decode({ origins: [SHOP, "http://localhost:3000"] })).origins, [SHOP, "http://localhost:3000"])
    }))
})
