/**
 * Access of the server of the durable benchmarks, and the headers of requests with each kind of credential.
 *
 * The server listens on loopback without a token of the configuration, so that a request without a credential has access, too.
 *
 * @module
 */
import { randomBytes } from "node:crypto"
import * as Redacted from "../../src/cell/Redacted.ts"
import { Sessions } from "../../src/access/Sessions.ts"
import { TokenAdmin } from "../../src/access/TokenAdmin.ts"
import { TokenSet } from "../../src/access/TokenSet.ts"
import type { Settings } from "../../src/contract/Jwt.ts"
import { CSRF } from "../../src/contract/Paths.ts"
import * as SessionCookie from "../../src/ingress/access/SessionCookie.ts"
import * as HostAccess from "../../src/main/host/HostAccess.ts"
import * as Jwts from "../../src/main/composition/Jwts.ts"
import type { Hash } from "../../src/persistence/Hash.ts"
import { AUDIENCE, claims, ISSUER, key } from "../access/Issuer.ts"

/** The kinds of credentials, `none` for a request without one. */
export const kinds = ["none", "token", "jwt", "session"] as const
export type Kind = (typeof kinds)[number]

/** The headers of a request with each kind of credential, as lines of HTTP/1.1. */
export type Lines = Readonly<Record<Kind, string>>

const SESSION_MILLIS = 43_200_000

/** A token, a JSON Web Token and a session of the token: the settings of an application that accepts them, and their headers. */
export const make = async (hash: Hash["Service"], url: string) => {
  const report = (failure: unknown): void => console.error(failure)
  const set = new TokenSet({ store: HostAccess.inMemory(), hash, now: Date.now, report })
  const admin = new TokenAdmin({ set, draw: randomBytes })
  const sessions = new Sessions({ set, draw: randomBytes, root: undefined })
  const issuer = await key("bench")
  const scope = { verbs: ["read", "signal"] as const }
  const jwks = { keys: [{ ...issuer.jwk }] }
  const jwt: Settings = { issuer: ISSUER, audience: AUDIENCE, algorithms: ["ES256"], jwks, claims: () => scope }
  const { id, token: made } = await admin.create(scope, undefined)
  const token = Redacted.value(made)
  const { pass } = await sessions.make("cookie", { name: `token-${id}`, digest: hash.hex(token) }, SESSION_MILLIS)
  const cookie = SessionCookie.header(new Request(url), pass, SESSION_MILLIS).split(";", 1)[0] ?? ""
  const lines: Lines = {
    none: "",
    token: `Authorization: Bearer ${token}`,
    jwt: `Authorization: Bearer ${await issuer.sign(claims(Date.now()))}`,
    session: `Cookie: ${cookie}\r\n${CSRF}: 1`
  }
  return { lines, options: { tokens: { set, sessions, admin }, bearer: Jwts.bearer(jwt, { report, verifier: Jwts.verifier }) } }
}
