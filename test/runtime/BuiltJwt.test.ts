import { assert, describe, it } from "@effect/vitest"
import { renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { claims, ISSUER, key, type KeyServer, keysOf, withServer } from "../access/Issuer.ts"
import { building } from "./BuiltProject.ts"
import * as Edge from "./Edge.ts"

const CELL = "/v1/spaces/shop/cells/data/visits"

/** A project whose tokens an issuer signs, with the keys at a URL. */
const filesOf = (jwks: string): Readonly<Record<string, string>> => ({
  "enzymes/visit.ts": `import { Enzyme } from "systole"
export default Enzyme.make({ name: "visit", query: "/signals/visit", run: (tx) => tx.increment("/data/visits") })
`,
  "systole.config.ts": `import { defineConfig } from "systole"
export default defineConfig({
  spaces: { create: "on-demand" },
  access: {
    jwt: {
      issuer: "${ISSUER}", audience: "systole", algorithms: ["ES256"], jwks: "${jwks}",
      claims: ({ sub }) => ({ verbs: ["read"], spaces: ["shop"], prefixes: ["/data/" + sub] })
    }
  }
})
`
})

/** The entry of a Worker whose clock is ahead by the milliseconds that a request says. */
const ENTRY = `import inner from "./inner.js"
const now = Date.now
let ahead = 0
Date.now = () => now() + ahead
export * from "./inner.js"
export default {
  fetch: (request, ...rest) => {
    ahead = Math.max(ahead, Number(request.headers.get("x-ahead")))
    return inner.fetch(request, ...rest)
  }
}
`

/** Builds the project for Workers, and runs it. */
const built = (server: KeyServer, use: (edge: Edge.Edge) => Promise<void>): Promise<void> =>
  building(filesOf(server.url), async ({ worker }) => {
    renameSync(join(worker, "worker.js"), join(worker, "inner.js"))
    writeFileSync(join(worker, "worker.js"), ENTRY)
    await Edge.running({ folder: worker }, use)
  })

describe("A built Worker with the tokens of an issuer", () => {
  it("accepts them, refuses one for another audience, and follows the rotation of the keys, with its streams", () =>
    withServer(async (server) => {
      const [first, second] = [await key("first"), await key("second")]
      server.answer = keysOf(first)
      await built(server, async ({ fetch, signal }) => {
        await signal("shop", { signal: "/signals/visit" })
        /** The status of a read, and the code of its refusal. */
        const told = async (token: string, ahead = 0): Promise<ReadonlyArray<unknown>> => {
          const response = await fetch(CELL, { headers: { authorization: `Bearer ${token}`, "x-ahead": String(ahead) } })
          const body = await response.json() as { readonly code?: string } | number
          return typeof body === "number" ? [response.status, body] : [response.status, body.code]
        }
        const by = (issuer: typeof first, other = {}) => issuer.sign(claims(Date.now(), { sub: "visits", ...other }))
        const [old, young] = [await by(first), await by(second)]
        assert.deepStrictEqual(await told(old), [200, 1])
        assert.deepStrictEqual(await told(await by(first, { aud: "other" })), [401, "auth/jwt"])
        assert.deepStrictEqual(await told(await by(first, { sub: "other" })), [403, "access/prefix"])
        assert.deepStrictEqual(await told(young), [401, "auth/jwt"])
        assert.strictEqual(server.asked, 1)
        const headers = { authorization: `Bearer ${old}`, accept: "text/event-stream" }
        const reader = (await fetch(CELL, { headers })).body!.pipeThrough(new TextDecoderStream()).getReader()
        let streamed = ""
        while (!streamed.includes("data: 1")) streamed += (await reader.read()).value ?? assert.fail("the stream ended")
        server.answer = keysOf(second)
        assert.deepStrictEqual(await told(young), [401, "auth/jwt"])
        assert.deepStrictEqual(await told(young, 31_000), [200, 1])
        assert.deepStrictEqual(await told(old), [401, "auth/jwt"])
        assert.strictEqual(server.asked, 2)
        await signal("shop", { signal: "/signals/visit" })
        for (let read = await reader.read(); !read.done; read = await reader.read()) streamed += read.value
        assert.notInclude(streamed, "data: 2")
      })
    }))
})
