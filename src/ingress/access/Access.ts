/**
 * Access: who may send a request, from its headers alone.
 *
 * @module
 */
import { getPath } from "hono/utils/url"
import { type IsSpent, never } from "../../access/Rates.ts"
import * as Token from "../../access/Token.ts"
import type { TokenDecision, TokenSet } from "../../access/TokenSet.ts"
import { LIVE, LOGIN, READY } from "../../contract/Paths.ts"
import type { Hash } from "../../persistence/Hash.ts"
import { type Access, accessOf, type Public } from "./Caller.ts"
import * as ConfiguredAccess from "./ConfiguredAccess.ts"
import * as Problem from "../wire/Problem.ts"
import type { SessionAccess } from "./SessionAccess.ts"
import * as WorkerToken from "./WorkerToken.ts"

export { type Access, accessOf } from "./Caller.ts"

/** The decision on a credential that is no secret of a token; `undefined` for a request without one. */
export type Bearer = (request: Request, isSpent?: IsSpent) => TokenDecision | Promise<TokenDecision> | undefined

/** The tokens and the sessions of a host. */
export interface CredentialStores {
  readonly set: TokenSet
  readonly sessions?: SessionAccess | undefined
  /** Decides on JSON Web Tokens. */
  readonly bearer?: Bearer | undefined
  /** Decides on requests without a credential. */
  readonly reads?: Public | undefined
}

/** The paths that are open to unauthenticated callers: the probes, and the page that begins a session. */
const open: ReadonlySet<string> = new Set([LIVE, READY, LOGIN])

/**
 * The path of a request, with dot segments resolved. Deno passes them through, unlike the other hosts.
 */
export const pathOf = ({ url }: Request): string =>
  getPath({ url: /\/(?:\.|%2e)/i.test(url) ? new URL(url).href : url } as Request)

/** The decisions on requests. */
export type Decide = (request: Request, isSpent?: IsSpent) => Access | Promise<Access>

/**
 * Creates the decision on requests. It is a promise where tokens have to be loaded. The token of the configuration is checked first, so
 * that it needs none of them.
 */
export const make = (
  rules: ConfiguredAccess.Rules,
  hash: Hash["Service"],
  { bearer, reads = none, sessions, set }: Partial<CredentialStores> = {}
): Decide => {
  const refusal = ConfiguredAccess.make(rules)
  const readerOf = ConfiguredAccess.readers(rules, hash)
  return (request, isSpent = never) => {
    // Each look at a header costs as much as the comparison of a secret.
    const authorization = request.headers.get("authorization")
    const reader = readerOf(authorization, isSpent)
    if (reader !== undefined && !open.has(pathOf(request))) return { kind: "credential", reader }
    const refused = refusal(request, authorization)
    const other = refused === undefined ? undefined : openTo(request, authorization, refused)
    if (other !== undefined) return { kind: other }
    const shown = sessions?.shown(request, authorization)
    if (sessions !== undefined && shown !== undefined && (shown.kind !== "cookie" || refused?.code !== "host/refused")) {
      const path = pathOf(request)
      if (open.has(path)) return { kind: "open" }
      // A browser sends the cookie of a session that is over, too, where it needs none.
      const settled = (access: Access): Access => {
        if (shown.kind !== "cookie") return access
        if (access.refused !== undefined) return refused === undefined ? { kind: "operator" } : reads(request) ?? access
        const instead = reads(request)
        return instead === undefined ? access : { ...access, instead }
      }
      const access = sessions.access(shown, request, { isSpent, path })
      return access instanceof Promise ? access.then(settled) : settled(access)
    }
    if (refused === undefined) return { kind: "operator" }
    const access = refused.code === "auth/missing" && authorization === null ? reads(request) : undefined
    if (access !== undefined) return access
    const secret = set === undefined ? undefined : Token.secretIn(authorization)
    const isJwt = set === undefined || secret === undefined
    const checked = isJwt ? bearer?.(request, isSpent) : set.check(secret, isSpent)
    if (checked === undefined) return { kind: "refused", refused }
    const settled = isJwt ? (checked: TokenDecision): Access => ({ ...accessOf(checked), again: () => bearer?.(request) }) : accessOf
    return checked instanceof Promise ? checked.then(settled) : settled(checked)
  }
}

/**
 * The answer to a request with its access; where its credential has none, that of a request without one.
 */
export const respond = (
  access: Access,
  answer: (access: Access) => Response | Promise<Response>
): Response | Promise<Response> => {
  const { instead } = access
  if (instead === undefined) return answer(access)
  return Promise.resolve(answer({ ...access, hasOther: true })).then(async (response) => {
    if (response.status !== 403) return response
    await response.body?.cancel()
    return answer(instead)
  })
}

/** No request without a credential has access. */
const none: Public = () => undefined

/** Counts the refusal of a request by its credential, under the code of the decision on that unless another one is given. */
export const counted = (tokens: Pick<TokenSet, "deny"> | undefined, { id, refused, token }: Access, code?: string): void =>
  tokens?.deny(id ?? token?.id, code ?? Problem.codeIn(refused))

/** The kind of a request that passes without a token of the configuration: to an open path, or a report with a rendezvous token. */
const openTo = (request: Request, authorization: string | null, { code }: Problem.RequestRefused): "open" | "worker" | undefined => {
  const path = pathOf(request)
  if (open.has(path)) return "open"
  return code === "auth/missing" && WorkerToken.isReport(request, path, authorization) ? "worker" : undefined
}
