import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { claims, ISSUER, key } from "../access/Issuer.ts"
import { building } from "./BuiltProject.ts"
import * as Edge from "./Edge.ts"

/** The secrets of the Worker in its environment: two tokens, and the key of its webhook. */
const [ROOT, WEB] = ["a-root-CANARY-of-this-worker", "a-reader-CANARY-of-this-worker"]
const HOOK = `whsec_${btoa("a hook CANARY of this worker")}`

const filesOf = (jwk: object): Readonly<Record<string, string>> => ({
  "enzymes/visit.ts": `import { Enzyme } from "systole"
export default Enzyme.make({ name: "visit", query: "/signals/visit", run: (tx, { payload }) => {
  if (payload === "fail") throw new Error("it failed")
  return tx.increment("/data/visits")
} })
`,
  "systole.config.ts": `import { defineConfig, webhook } from "systole"
export default defineConfig({
  spaces: { create: "on-demand" },
  labels: { cells: { "/data/pay/**": ["salary"] }, readers: { web: { clearance: [] } } },
  ingress: { "/hooks/visit": webhook({ secret: { env: "HOOK" }, space: "shop", signal: "/signals/visit" }) },
  access: {
    rates: { address: { requests: 1000, seconds: 60 } },
    jwt: {
      issuer: "${ISSUER}", audience: "systole", algorithms: ["ES256"], jwks: { keys: [${JSON.stringify(jwk)}] },
      claims: ({ sub }) => ({ verbs: ["read"], prefixes: ["/data/" + sub] })
    }
  }
})
`
})

/** The bytes of all files of a folder. */
const filesIn = (folder: string): ReadonlyArray<readonly [name: string, bytes: Buffer]> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((name) =>
    statSync(join(folder, name)).isFile() ? [[name, readFileSync(join(folder, name))] as const] : [])

describe("A built Worker", () => {
  it("has no secret in its files, its answers, its log and its objects", async () => {
    const issuer = await key("first")
    await building(filesOf(issuer.jwk), async ({ data, output, worker }) => {
      const [told, printed]: [Array<string>, Array<string>] = [[], [output]]
      const secrets: Array<string> = [ROOT, WEB, HOOK]
      await Edge.running({ folder: worker }, async ({ fetch, miniflare }) => {
        const { origin } = await miniflare.ready
        const root = { authorization: `Bearer ${ROOT}`, "content-type": "application/json" }
        /** The text of an answer, which is scanned unless it gives a secret. */
        const ask = async (path: string, init: RequestInit = {}, isGiven = false): Promise<Response> => {
          const response = await globalThis.fetch(origin + path, { headers: root, ...init })
          if (!isGiven) told.push(JSON.stringify([...response.headers]), await response.clone().text())
          return response
        }
        const post = (path: string, body: object, headers: object = {}) =>
          ask(path, { method: "POST", headers: { ...root, ...headers }, body: JSON.stringify(body) })
        const wanted = JSON.stringify({ verbs: ["read", "signal"] })
        const made = await ask("/v1/access/tokens", { method: "POST", headers: root, body: wanted }, true)
        const { id, token } = await made.json() as { readonly id: string; readonly token: string }
        const begun = await ask("/v1/session", { method: "POST", headers: root }, true)
        const cookie = begun.headers.get("set-cookie")?.split(";")[0] ?? assert.fail("no cookie")
        const bearer = await ask("/v1/session?as=token", { method: "POST", headers: { authorization: `Bearer ${token}` } }, true)
        const { token: pass } = await bearer.json() as { readonly token: string }
        const jwt = await issuer.sign(claims(Date.now(), { sub: "visits" }))
        secrets.push(token.slice(13), cookie.slice(-64), pass.slice(-64), jwt.slice(-60))
        await post("/v1/spaces/shop/signals", { signal: "/signals/visit", payload: "fail" }, { prefer: "wait=5" })
        const shown = [token, WEB, pass, jwt].map((secret) => ({ authorization: `Bearer ${secret}` }))
        const wrong = [`${ROOT}x`, `${token}x`, `${pass.slice(0, -1)}_`, `${jwt}x`].map((secret) => ({ authorization: `Bearer ${secret}` }))
        for (const headers of [...shown, ...wrong, { cookie }, { cookie: `${cookie}0` }]) {
          await ask("/v1/spaces/shop/cells/data/visits", { headers })
          await ask("/v1/session", { headers })
          await ask("/v1/spaces/shop/signals", {
            method: "POST", headers: { ...headers, "content-type": "application/json", "x-systole-csrf": "1" },
            body: JSON.stringify({ signal: "/signals/visit", id: "of-a-caller" })
          })
        }
        const signed = { "webhook-id": "1", "webhook-timestamp": "1", "webhook-signature": "v1,none" }
        assert.strictEqual((await post("/hooks/visit", {}, signed)).status, 401)
        const lists = ["", "/rt", "/sys", "/data"].map((folder) => `cells${folder}?below&values`)
        const others = ["beats", "dead", "ops", "denials", "waiting", "receipts/of-a-caller"]
        for (const path of [...lists, ...others]) await ask(`/v1/spaces/shop/${path}`)
        for (let beat = 0; beat < 8; beat++) await ask(`/v1/spaces/shop/beats/${beat}`)
        for (const path of ["/v1/spaces", "/v1/access/tokens", "/readyz", "/livez", "/v1/enzymes"]) await ask(path)
        told.push(await (await fetch("/openapi.json", { headers: root })).text())
        await ask(`/v1/access/tokens/${id}`, { method: "DELETE" })
        await ask("/v1/session", { method: "DELETE", headers: { cookie, "x-systole-csrf": "1" } })
      }, { folder: data, bindings: { SYSTOLE_TOKEN: ROOT, SYSTOLE_TOKEN_WEB: WEB, HOOK }, printed: (text) => printed.push(text) })
      const text = told.join("\n")
      assert.include(text, "access/prefix")
      assert.include(text, "it failed")
      for (const secret of secrets) {
        assert.notInclude(text, secret)
        assert.notInclude(printed.join(""), secret)
        for (const [name, bytes] of [...filesIn(worker), ...filesIn(data)]) assert.isFalse(bytes.includes(secret), `${secret} in ${name}`)
      }
      assert.isTrue(filesIn(data).some(([, bytes]) => bytes.includes("it failed")), "the objects are read")
    }, { SYSTOLE_TOKEN: ROOT, SYSTOLE_TOKEN_WEB: WEB, HOOK })
  })
})
