import { beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Endpoint } from "../../src/contract/Endpoint.ts"
import { claims, key } from "../access/Issuer.ts"
import { config, ROOT } from "../access/Scopes.ts"
import { make } from "../access/TestTokens.ts"
import * as Walking from "../access/Walking.ts"
import { serve } from "../ingress/TestIngress.ts"
import * as Edge from "./Edge.ts"

let [text, endpoints]: [string, ReadonlyArray<Endpoint>] = ["", []]
const issuer = await key("first")

beforeAll(async () => {
  text = await Edge.script("./test/runtime/walked.ts")
  // A Worker serves what a server serves without its debugger.
  endpoints = await Effect.runPromise(Effect.scoped(Effect.map(serve({ config, tokens: make() }), ({ app }) => [...app.table.endpoints])))
})

/** The answer to a request, with the code of a refused socket. */
const asking = ({ miniflare }: Edge.Edge): Walking.Host["ask"] => async (path, init) => {
  const response = await miniflare.dispatchFetch(`http://worker${path}`, init as object)
  const { headers, status, webSocket } = response
  if (webSocket !== null) {
    webSocket.accept()
    webSocket.close()
    return { status, headers, body: undefined }
  }
  const body = await response.text()
  return { status, headers, body: headers.get("content-type")?.includes("json") === true ? JSON.parse(body) : body }
}

const hostOf = (edge: Edge.Edge): Walking.Host => {
  const ask = asking(edge)
  const root = { authorization: `Bearer ${ROOT}`, "content-type": "application/json" }
  const made = async (wanted: object) => {
    const { body } = await ask("/v1/access/tokens", { method: "POST", headers: root, body: JSON.stringify(wanted) })
    return body as { readonly id: string; readonly token: string }
  }
  return {
    ask, endpoints, isWorker: true,
    create: async (wanted) => (await made(wanted)).token,
    jwt: (number) => issuer.sign(claims(Date.now(), { sub: String(number) })),
    over: async () => {
      const [revoked, expired] = [await made({ verbs: ["read"] }), await made({ verbs: ["read"], expires: "1m" })]
      await ask(`/v1/access/tokens/${revoked.id}`, { method: "DELETE", headers: root })
      await ask("/test/later/shop", {})
      return { revoked: revoked.token, expired: expired.token }
    }
  }
}

const walked = (name: string, run: (host: Walking.Host) => Promise<void>) =>
  it(name, () => Edge.running(text, (edge) => run(hostOf(edge)), { bindings: { SYSTOLE_TOKEN: ROOT, KEY: JSON.stringify(issuer.jwk) } }))

describe("Every route of a Worker", () => {
  walked("allows a session and a bearer what their token may", Walking.withSessions)

  walked("allows each token exactly what its scope says, in two spaces", Walking.withTokens)

  walked("allows a JSON Web Token exactly what its claims say, in two spaces", Walking.withJwts)

  walked("allows the root all, a reader its routes, a worker its report, and others what is public", Walking.withOthers)
})
