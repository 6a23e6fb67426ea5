import { afterEach, assert, describe, it } from "@effect/vitest"
import { Miniflare } from "miniflare"
import { createHmac } from "node:crypto"
import { LocalServers } from "../plugins/http/LocalServer.ts"
import { bundle, modulesOf } from "./Bundle.ts"

const servers = new LocalServers()

afterEach(() => servers.close())

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

/** A job of the worker. */
interface Asked {
  readonly provider: string
  readonly opcode: string
  readonly options: object
  readonly payload: object
}

/** Executes jobs in a Worker that has the variables of Node, but no import of a module of Node. */
const running = async (use: (run: (asked: Asked) => Promise<Record<string, unknown>>) => Promise<void>): Promise<void> => {
  const { imports, text } = await bundle("export { default } from \"./test/runtime/http.ts\"")
  assert.deepStrictEqual(imports, [])
  const worker = new Miniflare({
    ...modulesOf(text),
    compatibilityDate: "2026-08-03",
    compatibilityFlags: ["nodejs_compat"],
    bindings: { HOOK: SECRET },
    cf: false
  })
  try {
    await use(async (asked) => {
      const response = await worker.dispatchFetch("http://worker/", { method: "POST", body: JSON.stringify(asked) })
      return await response.json() as Record<string, unknown>
    })
  } finally {
    await worker.dispose()
  }
}

describe("Channels on Workers", () => {
  it("fetch from the allow list alone", async () => {
    const { port, seen, url } = await servers.http(({ url }, response) => {
      if (url === "/away") return void response.writeHead(302, { location: `http://localhost:${port}/` }).end()
      response.setHeader("content-type", url === "/text" ? "text/plain" : "image/png")
      response.setHeader("set-cookie", ["a=1", "b=2"])
      response.end("body")
    })
    const fetching = (options: object, payload: object) => ({ provider: "http", opcode: "fetch", options, payload })
    const allow = ["127.0.0.1"]
    await running(async (run) => {
      const text = await run(fetching({ allow }, { url: `${url}/text`, method: "POST", body: "x" }))
      assert.deepInclude(text, { caps: ["stream", "tls", "pinned:false"], bytes: 4, kept: [] })
      assert.deepInclude(text["value"], { status: 200, url: `${url}/text`, body: "body" })
      assert.deepInclude((text["value"] as { readonly headers: object }).headers, { "set-cookie": ["a=1", "b=2"] })
      assert.deepInclude(seen[0], { method: "POST", body: "x" })
      assert.strictEqual(seen[0]?.headers["idempotency-key"], "key-1")
      assert.deepInclude(await run(fetching({ allow }, { url: `${url}/image` })), { kept: ["body"] })
      assert.deepInclude(await run(fetching({ allow, maxBytes: 3 }, { url })), { code: "http/size" })
      for (const [options, place] of [[{}, url], [{ allow }, `${url}/away`], [{ allow }, "http://8.8.8.8/"]] as const) {
        const { code, message } = await run(fetching(options, { url: place }))
        assert.strictEqual(code, "http/refused")
        assert.include(message, "Request R1")
      }
      await servers.close()
      assert.deepInclude(await run(fetching({ allow }, { url })), { code: "io/unreachable" })
    })
  })

  it("sign webhooks with a secret of the environment", async () => {
    const { seen, url } = await servers.http((_, response) => response.end())
    await running(async (run) => {
      const options = { allow: ["127.0.0.1"], secrets: [{ env: "HOOK" }] }
      const sent = await run({ provider: "webhook-out", opcode: "send", options, payload: { url, type: "a.b", data: [1] } })
      assert.deepInclude(sent, { value: { status: 200 } })
    })
    const [{ body, headers } = assert.fail("no webhook arrived")] = seen
    const hmac = createHmac("sha256", Buffer.from(SECRET.slice("whsec_".length), "base64"))
    const signature = hmac.update(`key-1.${String(headers["webhook-timestamp"])}.${body}`).digest("base64")
    assert.strictEqual(headers["webhook-signature"], `v1,${signature}`)
  })
})
