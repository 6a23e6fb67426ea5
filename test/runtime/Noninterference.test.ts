import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Endpoint } from "../../src/contract/Endpoint.ts"
import { claims, key } from "../access/Issuer.ts"
import { config, ROOT, SHOP } from "../access/WorldModules.ts"
import * as Worlds from "../access/Worlds.ts"
import { serve } from "../ingress/TestIngress.ts"
import * as Trials from "../support/Trials.ts"
import * as Edge from "./Edge.ts"

const SEED = 1

/** Some credentials: one of each kind. The others differ in the kernel alone, which servers have, too. */
const NAMES = Trials.form({
  short: ["a session of a reader", "a JSON Web Token with a scope and a clearance"],
  long: [
    "a session of a reader", "a bearer of a token with prefixes", "a token with both", "a JSON Web Token with a scope and a clearance",
    "public reads"
  ]
})

let [text, endpoints]: [string, ReadonlyArray<Endpoint>] = ["", []]
const issuer = await key("first")

beforeAll(async () => {
  text = await Edge.script("./test/runtime/world.ts")
  endpoints = await Effect.runPromise(Effect.scoped(Effect.map(serve({ config }), ({ app }) => [...app.table.endpoints])))
})

/** A Worker, and its sockets by their first messages without their cursors. */
const hostOf = ({ miniflare }: Edge.Edge): Worlds.Host => {
  let requests = 0
  const sent = (path: string, init: RequestInit) => {
    // The rate of each request is whole, because two worlds may have other numbers of pages.
    const headers = { ...init.headers as Record<string, string>, "cf-connecting-ip": `2001:db8:${(++requests).toString(16)}::1` }
    return miniflare.dispatchFetch(`http://worker${path}`, { ...init, headers } as object)
  }
  return {
    endpoints,
    send: async (path, init) => await sent(path, init) as unknown as Response,
    socket: async (path, init) => {
      const response = await sent(path, init)
      const { webSocket } = response
      if (webSocket === null) return response as unknown as Response
      const first = await new Promise<string>((resolve) => {
        webSocket.addEventListener("message", ({ data }) => resolve(String(data)))
        webSocket.addEventListener("close", ({ code, reason }) => resolve(`closed ${code} ${reason}`))
        webSocket.accept()
      })
      webSocket.close()
      return first.replace(/"id":"[0-9a-f]{16}"/, "\"id\"")
    }
  }
}

describe("Two worlds on Workers that differ in what a credential may not know have the same answers and sockets for", () => {
  const settings = { bindings: { SYSTOLE_TOKEN: ROOT, KEY: JSON.stringify(issuer.jwk) }, printed: () => undefined }
  for (const name of NAMES) {
    const made = Worlds.credentials[name] ?? assert.fail(name)
    it(name, () => Edge.running(text, async (edge) => {
      const host = hostOf(edge)
      const headers = { authorization: `Bearer ${ROOT}`, "content-type": "application/json" }
      const create = async (wanted: object): Promise<string> => {
        const response = await host.send("/v1/access/tokens", { method: "POST", headers, body: JSON.stringify(wanted) })
        return (await response.json() as { readonly token: string }).token
      }
      const jwt = (name: string) => issuer.sign(claims(Date.now(), { sub: name }))
      const credential = await made({ create, jwt }, host)
      const one = await Worlds.world({ host, credential, seed: SEED, isOther: false })
      const removed = await host.send(SHOP, { method: "DELETE", headers })
      assert.strictEqual(removed.status, 200, await removed.text())
      const other = await Worlds.world({ host, credential, seed: SEED, isOther: true })
      Worlds.compare(one, other, name)
    }, settings))
  }
})
