import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { AUDIENCE, claims, ISSUER, key } from "../access/Issuer.ts"
import { bytesBelow } from "../support/FolderBytes.ts"
import { terminal } from "./Terminal.ts"

const ROOT = "the-operators-own-token"
const READER = "the-token-of-a-reader"

/** The address that a proxy tells. */
const ADDRESS = "203.0.113.77"

const issued = await key("issued")

const project = {
  "systole.config.ts": `export default {
  token: "${ROOT}",
  spaces: { create: "on-demand" },
  labels: { cells: {}, readers: { web: { token: "${READER}", clearance: [] } } },
  access: {
    jwt: {
      issuer: "${ISSUER}", audience: "${AUDIENCE}", algorithms: ["ES256"], jwks: { keys: [${JSON.stringify(issued.jwk)}] },
      claims: () => ({ verbs: ["read", "signal"] })
    },
    rates: { address: { requests: 5, seconds: 3600 } },
    trustedProxies: ["127.0.0.1", "::1"]
  }
}\n`,
  "enzymes/place.ts": `import { Enzyme } from "systole"
export default Enzyme.make({ name: "place", query: "/signals/place", run: (tx, { payload }) => {
  if (payload === "fail") throw new Error("no luck")
  tx.set("/data/a", payload)
} })
`
}

/** The answers for the operator that may tell of credentials. */
const told = [
  "/v1/access/tokens", "/openapi.json", "/livez", "/readyz", "/v1/session",
  ...["/cells/?below&values", "/cells/rt?below&values", "/cells/sys?below&values", "/beats", "/dead", "/ops", "/denials", "/waiting"]
    .map((path) => `/v1/spaces/shop${path}`),
  ...Array.from({ length: 12 }, (_, beat) => `/v1/spaces/shop/beats/${beat}`)
]

describe("A credential", () => {
  it.live("and the address of a caller are in no file, no log and no answer beside the first", () =>
    Effect.flatMap(terminal(project), ({ root, run, serve }) => Effect.promise(async () => {
      const token = (await run("token", "create", "--verbs", "read,signal")).stdout.trim()
      const server = await serve("start")
      const seen: Array<string> = []
      const send = async (path: string, headers: Record<string, string>, init: RequestInit = {}) => {
        const answer = await fetch(server.url + path, {
          ...init, headers: { "content-type": "application/json", prefer: "wait=30", "x-forwarded-for": ADDRESS, ...headers }
        })
        return { status: answer.status, cookie: answer.headers.get("set-cookie")?.split(";")[0] ?? "", text: await answer.text() }
      }
      const by = (credential: string) => ({ authorization: `Bearer ${credential}` })
      const post = (payload: unknown) => ({ method: "POST", body: JSON.stringify({ signal: "/signals/place", payload }) })
      const link = new URL((await run("login")).stdout.trim()).hash.slice(1)
      const { cookie } = await send("/v1/session", by(link), { method: "POST" })
      const handed = await send("/v1/session?as=token", by(token), { method: "POST" })
      const { token: bearer } = JSON.parse(handed.text) as { readonly token: string }
      const jwt = await issued.sign(claims(Date.now()))
      const shown = { cookie: { cookie, "x-systole-csrf": "1" }, bearer: by(bearer), jwt: by(jwt), token: by(token), reader: by(READER) }
      for (const [name, headers] of Object.entries(shown)) {
        for (const payload of [1, "fail"]) {
          const { status, text } = await send("/v1/spaces/shop/signals", headers, post(payload))
          assert.isBelow(status, 500, `${name}: ${text}`)
          assert.isTrue(status !== 401 && status !== 429, `${name}: ${status} ${text}`)
          seen.push(text)
        }
      }
      // A credential with one character more is wrong, and is told as little.
      const wrong = [link, bearer, jwt, token].map((credential) => by(`${credential}x`))
      for (const headers of [...wrong, by(link), { cookie: `${cookie}x` }, by("no"), by("no")]) {
        const { status, text } = await send("/v1/spaces/shop/cells/data/a", headers)
        assert.include([401, 429], status)
        seen.push(text)
      }
      for (const path of told) seen.push((await send(path, by(ROOT))).text)
      assert.include(seen.join(), "access/rate")
      const [left, files] = [readdirSync(join(root, ".data")), bytesBelow(join(root, ".data"))]
      const { stderr, stdout } = await server.stop("SIGTERM")
      const secrets = {
        link: link.slice(-64), cookie: cookie.slice(-64), bearer: bearer.slice(-64), jwt: jwt.split(".")[2] ?? "", token: token.slice(13),
        root: ROOT, reader: READER, address: ADDRESS
      }
      const places = { files, stderr, stdout, answers: seen.join("\n") }
      for (const [name, secret] of Object.entries(secrets)) {
        assert.isAtLeast(secret.length, 12, name)
        for (const [place, text] of Object.entries(places)) assert.isFalse(text.includes(secret), `${name} is in ${place}`)
      }
      assert.include(files, "no luck")
      assert.include(left, "server.json")
    })))
})
