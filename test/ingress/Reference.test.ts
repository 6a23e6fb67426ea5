import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Reference from "../../src/ingress/Reference.ts"
import { problem, serve, test } from "./TestIngress.ts"

describe("The reference of a server", () => {
  it.live("is an OpenAPI document and a page without a script, for callers with a token", () =>
    Effect.flatMap(serve({ config: { token: "operator-operator" }, reference: async () => Reference }), ({ app, ask }) =>
      Effect.promise(async () => {
        const headers = { authorization: "Bearer operator-operator" }
        for (const path of ["/openapi.json", "/docs"]) assert.deepStrictEqual(problem(await ask(path)), [401, "auth/missing"])
        const document = await ask("/openapi.json", { headers })
        assert.deepInclude(document.body as object, { openapi: "3.1.0" })
        const page = await ask("/docs", { headers })
        assert.strictEqual(page.headers.get("content-type"), "text/html; charset=utf-8")
        assert.include(page.headers.get("content-security-policy"), "default-src 'none'")
        const text = String(page.body)
        assert.notMatch(text, /<script|https?:|src=/)
        for (const { path } of app.table.endpoints) assert.include(text, path.replace("/v1/spaces/:space/", "…/"))
        assert.include(text, "signal/no-match")
      })))

  test("is absent on a host without it, which says where it is", async ({ ask }) => {
    for (const path of ["/openapi.json", "/docs"]) {
      const absent = await ask(path)
      assert.deepStrictEqual(problem(absent), [404, "route/absent"])
      assert.include((absent.body as { detail: string }).detail, "the folder assets")
    }
  })
})
