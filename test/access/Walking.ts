/**
 * The walk of all routes with all credentials in two spaces: the rules of the contract, and the answers of a host.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { type Endpoint, verbs } from "../../src/contract/Endpoint.ts"
import { SESSION } from "../../src/contract/Paths.ts"
import type { TokenRequest } from "../../src/access/TokenAdmin.ts"
import { ofJwts, READER, ROOT, type Scope, scopes } from "./Scopes.ts"

/** A request to an endpoint, and the addresses that it concerns. */
interface Walked {
  readonly endpoint: Endpoint
  readonly space: string | undefined
  /** The cell of its path, or the target of its signal. */
  readonly address: string | undefined
  readonly path: string
  readonly body: unknown
}

/** An answer of a host. */
export interface Answer {
  readonly status: number
  readonly headers: Pick<Headers, "get">
  readonly body: unknown
}

/** A walked host. */
export interface Host {
  readonly ask: (path: string, init: RequestInit) => Promise<Answer>
  /** The endpoints that it serves. */
  readonly endpoints: ReadonlyArray<Endpoint>
  /** Whether it is a Worker: cells are followed by sockets, and each request takes longer, so some of the scopes are walked. */
  readonly isWorker: boolean
  /** Creates a token. */
  readonly create: (wanted: TokenRequest) => Promise<string>
  /** A JSON Web Token with the scope of a number. */
  readonly jwt: (number: number) => Promise<string>
  /** A token that is revoked, and one that is expired. */
  readonly over: () => Promise<{ readonly revoked: string; readonly expired: string }>
}

/** Each request: of each space, and with addresses within the prefixes, beyond them, and public. */
const walk = function*({ endpoints }: Host): Generator<Walked> {
  for (const endpoint of endpoints) {
    const isCell = endpoint.path.endsWith("*")
    const isSignal = endpoint.verb === "signal"
    for (const space of endpoint.path.includes(":space") ? ["shop", "other"] : [undefined]) {
      for (const address of isCell || isSignal ? ["/data/orders/x", "/data/ordersx", "/data/menu/x"] : [undefined]) {
        const path = endpoint.path.replace(":space", space ?? "").replace("/*", address ?? "").replaceAll(/:\w+/g, "1")
        const body = isSignal ? { signal: "/signals/count", target: address } : isCell ? 1 : {}
        yield { endpoint, space, address, path, body }
      }
    }
  }
}

const isRead = ({ endpoint: { method, path } }: Walked): boolean => method === "GET" && path.endsWith("/cells/*")

/** Whether everybody may send a request. */
const isPublic = (walked: Walked): boolean => isRead(walked) && walked.space === "shop" && walked.address === "/data/menu/x"

/** The refusal of a token by the rules as the pages tell them; `ok` for a request that it may send. */
const expected = (scope: Scope, { address, endpoint: { access, path, verb }, space }: Walked): string => {
  if (access === "anyone" || access === "holder") return "ok"
  if (scope.spaces !== undefined && !scope.spaces.includes(space ?? "")) return "access/space"
  if (!scope.verbs.includes(verb)) return "access/verb"
  if (scope.clearance !== undefined && access !== "reader") return "access/clearance"
  if (scope.scope !== undefined && access !== "reader") return "access/prefix"
  if (scope.prefixes === undefined) return "ok"
  const hasAddress = access === "reader" && (verb === "signal" || path.endsWith("/cells/*"))
  return hasAddress && address === "/data/orders/x" ? "ok" : "access/prefix"
}

const denials = new Set([
  "access/clearance", "access/origin", "access/prefix", "access/space", "access/verb", "auth/expired", "auth/jwt", "auth/missing",
  "auth/revoked", "host/refused", "label/withheld"
])

/** The headers by which a request shows a credential. */
type Shown = Readonly<Record<string, string>>

/** The code with which a caller is refused; `ok` for any other answer. */
const outcome = async ({ ask }: Host, { body, endpoint: { method }, path }: Walked, shown: Shown): Promise<string> => {
  const answer = await ask(path, {
    method,
    headers: { "content-type": "application/json", ...shown },
    ...method === "GET" || method === "DELETE" ? {} : { body: JSON.stringify(body) }
  })
  const { code } = (typeof answer.body === "object" && answer.body !== null ? answer.body : {}) as { readonly code?: string }
  return code !== undefined && denials.has(code) ? code : "ok"
}

const bearerOf = (secret: string): Shown => ({ authorization: `Bearer ${secret}` })

/** The answers that a credential should get: to each request and, where they differ, to one for a socket. */
interface Expected {
  readonly told: string
  readonly of: (walked: Walked) => string
  readonly ofSocket?: (walked: Walked) => string
}

/** Walks all routes with a credential. */
const shows = async (host: Host, shown: Shown, { of, ofSocket = of, told }: Expected) => {
  for (const walked of walk(host)) {
    const { address = "", endpoint: { method, path } } = walked
    // It ends the session.
    if (method === "DELETE" && path === SESSION) continue
    const text = `${told}: ${method} ${walked.path} ${address}`
    assert.strictEqual(await outcome(host, walked, shown), of(walked), text)
    if (!host.isWorker || !isRead(walked)) continue
    assert.strictEqual(await outcome(host, walked, { ...shown, upgrade: "websocket" }), ofSocket(walked), `a socket of ${text}`)
  }
}

/** Walks with sessions and bearers of tokens. */
export const withSessions = async (host: Host): Promise<void> => {
  for (const scope of host.isWorker ? scopes.slice(-4, -2) : scopes.slice(-6)) {
    for (const space of ["shop", "other"]) await host.ask(`/v1/spaces/${space}`, { method: "PUT", headers: bearerOf(ROOT) })
    const shown = bearerOf(await host.create(scope))
    const begun = async (as: string) => host.ask(`${SESSION}${as}`, { method: "POST", headers: shown })
    const { token } = (await begun("?as=token")).body as { readonly token: string }
    const cookie = (await begun("")).headers.get("set-cookie")?.split(";")[0] ?? assert.fail("no cookie")
    const told = JSON.stringify(scope)
    const own = (walked: Walked): string => expected(scope, walked)
    const orPublic = (walked: Walked): string => isPublic(walked) ? "ok" : own(walked)
    await shows(host, bearerOf(token), { told: `bearer of ${told}`, of: own })
    // Everybody reads what is public, and nobody opens a socket without a credential.
    await shows(host, { cookie, "x-systole-csrf": "1" }, { told: `session of ${told}`, of: orPublic, ofSocket: own })
    await shows(host, { cookie }, {
      told: `session of ${told} without an origin`,
      of: (walked) => walked.endpoint.method === "GET" ? orPublic(walked) : "access/origin",
      ofSocket: () => "access/origin"
    })
  }
}

/** The scopes that differ where a Worker decides in front of its objects: some verbs, and each with a part beside them. */
const some = (scopes: ReadonlyArray<Scope>): ReadonlyArray<Scope> =>
  scopes.filter((scope) => scope.verbs === verbs || scope.verbs[0] === "operate" || scope.spaces !== undefined || scope.scope !== undefined)

/** Walks with tokens. */
export const withTokens = async (host: Host): Promise<void> => {
  for (const scope of host.isWorker ? some(scopes) : scopes) {
    await shows(host, bearerOf(await host.create(scope)), { told: JSON.stringify(scope), of: (walked) => expected(scope, walked) })
  }
}

/** Walks with JSON Web Tokens. */
export const withJwts = async (host: Host): Promise<void> => {
  for (const scope of host.isWorker ? some(ofJwts) : ofJwts) {
    // A host that calls the function of the configuration refuses a scope of one user with the verb "write".
    const isNone = host.isWorker && scope.scope !== undefined && scope.verbs === verbs
    const of = (walked: Walked): string => isNone && walked.endpoint.access !== "anyone" ? "auth/jwt" : expected(scope, walked)
    await shows(host, bearerOf(await host.jwt(ofJwts.indexOf(scope))), { told: `JWT ${JSON.stringify(scope)}`, of })
  }
}

/** Walks as the operator, a reader and a worker, and with credentials that are none. */
export const withOthers = async (host: Host): Promise<void> => {
  const { expired, revoked } = await host.over()
  const as = (shown: Shown, of: (walked: Walked) => string, ofSocket = of) => shows(host, shown, {
    told: JSON.stringify(shown),
    of: (walked) => walked.endpoint.access === "anyone" ? "ok" : of(walked),
    ofSocket
  })
  await as(bearerOf(ROOT), () => "ok")
  await as(bearerOf(READER), ({ endpoint: { access } }) => access === "reader" || access === "holder" ? "ok" : "label/withheld")
  await as({}, (walked) => isPublic(walked) ? "ok" : "auth/missing", () => "auth/missing")
  await as(bearerOf("guessed"), () => "auth/missing")
  await as(bearerOf(`sys_00000000_${"A".repeat(43)}`), () => "auth/missing")
  await as({ authorization: `Rendezvous ${"ab".repeat(16)}` }, ({ endpoint: { access } }) => access === "worker" ? "ok" : "auth/missing")
  await as(bearerOf(revoked), () => "auth/revoked")
  await as(bearerOf(expired), () => "auth/expired")
}
