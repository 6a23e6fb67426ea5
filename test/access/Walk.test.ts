import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Endpoint, Verb } from "../../src/contract/Endpoint.ts"
import { verbs } from "../../src/contract/Endpoint.ts"
import { SESSION } from "../../src/contract/Paths.ts"
import type { Bearer } from "../../src/ingress/access/Access.ts"
import { enzymes, serve, type TestIngress } from "../ingress/TestIngress.ts"
import { make } from "./TestTokens.ts"

const ROOT = "the-operators-own-token"
const READER = "the-token-of-the-page"
const config = {
  token: ROOT,
  spaces: { create: "on-demand" as const },
  labels: { cells: { "/data/pay/**": ["salary"] }, readers: { web: { token: READER, clearance: [] } } }
}

/** The scope of a token. */
interface Scope {
  readonly verbs: ReadonlyArray<Verb>
  readonly spaces?: ReadonlyArray<string>
  readonly prefixes?: ReadonlyArray<string>
  readonly clearance?: ReadonlyArray<string>
  /** Of JSON Web Tokens alone. */
  readonly scope?: string
}

const scopes: ReadonlyArray<Scope> = [
  ...verbs.map((verb) => ({ verbs: [verb] })),
  { verbs },
  { verbs, spaces: ["shop"] },
  { verbs: ["read", "signal"], spaces: ["shop"] },
  { verbs: ["read", "signal"], prefixes: ["/data/orders"] },
  { verbs: ["read", "signal"], spaces: ["shop"], prefixes: ["/data/orders", "/signals/count"] },
  { verbs: ["read"], prefixes: ["/data/orders"], clearance: [] },
  { verbs: ["read", "signal"], clearance: ["salary"] },
  { verbs: ["signal"], clearance: [] }
]

/** A request to an endpoint, and the addresses that it concerns. */
interface Walked {
  readonly endpoint: Endpoint
  readonly space: string | undefined
  /** The cell of its path, or the target of its signal. */
  readonly address: string | undefined
  readonly path: string
  readonly body: unknown
}

/** Each request: of each space, and with an address within the prefixes and one beyond them. */
const walk = function*(endpoints: ReadonlyArray<Endpoint>): Generator<Walked> {
  for (const endpoint of endpoints) {
    const isCell = endpoint.path.endsWith("*")
    const isSignal = endpoint.verb === "signal"
    for (const space of endpoint.path.includes(":space") ? ["shop", "other"] : [undefined]) {
      for (const address of isCell || isSignal ? ["/data/orders/x", "/data/ordersx"] : [undefined]) {
        const path = endpoint.path.replace(":space", space ?? "").replace("/*", address ?? "").replaceAll(/:\w+/g, "1")
        const body = isSignal ? { signal: "/signals/count", target: address } : isCell ? 1 : {}
        yield { endpoint, space, address, path, body }
      }
    }
  }
}

/** The refusal of a token by the rules as the pages tell them; `ok` for a request that it may send. */
const expected = (scope: Scope, { address, endpoint: { access, path, verb }, space }: Walked): string => {
  if (access === "anyone" || access === "holder") return "ok"
  if (!scope.verbs.includes(verb)) return "access/verb"
  if (scope.spaces !== undefined && !scope.spaces.includes(space ?? "")) return "access/space"
  if (scope.clearance !== undefined && access !== "reader") return "access/clearance"
  if (scope.scope !== undefined && access !== "reader") return "access/prefix"
  if (scope.prefixes === undefined) return "ok"
  const hasAddress = access === "reader" && (verb === "signal" || path.endsWith("/cells/*"))
  return hasAddress && address === "/data/orders/x" ? "ok" : "access/prefix"
}

const denials = new Set([
  "access/clearance", "access/origin", "access/prefix", "access/space", "access/verb", "auth/expired", "auth/missing", "auth/revoked",
  "host/refused", "label/withheld"
])

/** The code with which a caller is refused; `ok` for any other answer. */
const outcome = async ({ ask }: TestIngress, walked: Walked, credential: string | object | undefined) => {
  const { body, endpoint: { method }, path } = walked
  const shown = typeof credential === "string" ? { authorization: credential } : credential
  const answer = await ask(path, {
    method,
    headers: { "content-type": "application/json", ...shown },
    ...method === "GET" || method === "DELETE" ? {} : { body: JSON.stringify(body) }
  })
  const { code } = (typeof answer.body === "object" && answer.body !== null ? answer.body : {}) as { readonly code?: string }
  return code !== undefined && denials.has(code) ? code : "ok"
}

/** The decision on a verified JSON Web Token, which is here the number of its scope. */
const bearer: Bearer = ({ headers }) => {
  const number = /^Bearer jwt-(\d+)$/.exec(headers.get("authorization") ?? "")?.[1]
  if (number === undefined) return undefined
  return { token: { id: "jwt:ada", created: 0, expires: 2 ** 50, digests: [], ...ofJwts[Number(number)]! } }
}

/** The scopes of JSON Web Tokens. */
const ofJwts: ReadonlyArray<Scope> = [
  ...scopes,
  { verbs: ["read", "signal"], scope: "user:42" },
  { verbs, scope: "user:42" },
  { verbs: ["read"], spaces: ["shop"], prefixes: ["/data/orders"], scope: "user:42" }
]

const walked = (name: string, run: (app: TestIngress, tokens: ReturnType<typeof make>) => Promise<void>) =>
  it.live(name, () => {
    const tokens = make()
    return Effect.flatMap(serve({ config, enzymes, debug: true, tokens, bearer }), (app) => Effect.promise(() => run(app, tokens)))
  })

describe("Every route", () => {
  walked("allows a session and a bearer what their token may", async (app, { create }) => {
    for (const scope of scopes.slice(-6)) {
      const root = { authorization: `Bearer ${ROOT}` }
      for (const space of ["shop", "other"]) await app.ask(`/v1/spaces/${space}`, { method: "PUT", headers: root })
      const authorization = `Bearer ${await create(scope)}`
      const begun = async (as: string) => app.ask(`${SESSION}${as}`, { method: "POST", headers: { authorization } })
      const { token } = (await begun("?as=token")).body as { readonly token: string }
      const cookie = (await begun("")).headers.get("set-cookie")?.split(";")[0]
      for (const request of walk(app.app.table.endpoints)) {
        const { endpoint: { method, path } } = request
        // It ends the session.
        if (method === "DELETE" && path === SESSION) continue
        for (const shown of [{ cookie, "x-systole-csrf": "1" }, { authorization: `Bearer ${token}` }]) {
          const told = `${JSON.stringify(scope)}: ${method} ${request.path} ${request.address ?? ""} ${Object.keys(shown)[0]}`
          assert.strictEqual(await outcome(app, request, shown), expected(scope, request), told)
        }
        const without = method === "GET" ? expected(scope, request) : "access/origin"
        assert.strictEqual(await outcome(app, request, { cookie }), without, `${method} ${request.path} without an origin`)
      }
    }
  })

  walked("allows each token exactly what its scope says, in two spaces", async (app, { create }) => {
    for (const scope of scopes) {
      const authorization = `Bearer ${await create(scope)}`
      for (const request of walk(app.app.table.endpoints)) {
        const told = `${JSON.stringify(scope)}: ${request.endpoint.method} ${request.path} ${request.address ?? ""}`
        assert.strictEqual(await outcome(app, request, authorization), expected(scope, request), told)
      }
    }
  })

  walked("allows a JSON Web Token exactly what its claims say, in two spaces", async (app) => {
    for (const [number, scope] of ofJwts.entries()) {
      for (const request of walk(app.app.table.endpoints)) {
        const told = `${JSON.stringify(scope)}: ${request.endpoint.method} ${request.path} ${request.address ?? ""}`
        assert.strictEqual(await outcome(app, request, `Bearer jwt-${number}`), expected(scope, request), told)
      }
    }
  })

  walked("allows the root all, a reader its routes, a worker its report, and others the probes", async (app, { admin, create, clock }) => {
    const revoked = await create({ verbs: ["read"] })
    await admin.revoke(revoked.split("_")[1] ?? "")
    const expired = await create({ verbs: ["read"], expires: "1m" })
    clock.now += 60_000
    for (const request of walk(app.app.table.endpoints)) {
      const { access } = request.endpoint
      const told = `${request.endpoint.method} ${request.path}`
      const check = async (authorization: string | undefined, code: string) =>
        assert.strictEqual(await outcome(app, request, authorization), access === "anyone" ? "ok" : code, `${authorization} ${told}`)
      await check(`Bearer ${ROOT}`, "ok")
      await check(`Bearer ${READER}`, access === "reader" || access === "holder" ? "ok" : "label/withheld")
      await check(undefined, "auth/missing")
      await check("Bearer guessed", "auth/missing")
      await check(`Bearer sys_00000000_${"A".repeat(43)}`, "auth/missing")
      await check(`Rendezvous ${"ab".repeat(16)}`, access === "worker" ? "ok" : "auth/missing")
      await check(`Bearer ${revoked}`, "auth/revoked")
      await check(`Bearer ${expired}`, "auth/expired")
    }
  })
})
