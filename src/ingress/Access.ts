/**
 * Access: who may send a request, from its headers alone.
 *
 * @module
 */
import { getPath } from "hono/utils/url"
import * as Token from "../access/Token.ts"
import type { Checked, TokenSet } from "../access/TokenSet.ts"
import { LIVE, READY } from "../contract/Paths.ts"
import type { Viewer } from "../kernel/view/Space.ts"
import type { Hash } from "../persistence/Hash.ts"
import * as Guard from "./Guard.ts"
import type { RequestRefused } from "./Problem.ts"
import * as WorkerToken from "./WorkerToken.ts"

/** The decision on a request: refused, or allowed for a reader, within the scope of a token, or for all other callers. */
export interface Access {
  readonly refused?: Error | undefined
  readonly reader?: Viewer | undefined
  readonly token?: Token.Token | undefined
}

/** The liveness and readiness probes, open to unauthenticated callers. */
const probes: ReadonlySet<string> = new Set([LIVE, READY])

/**
 * The path of a request, with dot segments resolved. Deno passes them through, unlike the other hosts.
 *
 * @category getters
 * @since 0.1.0
 */
export const pathOf = ({ url }: Request): string =>
  getPath({ url: /\/(?:\.|%2e)/i.test(url) ? new URL(url).href : url } as Request)

/** The decisions on requests. */
export type Decide = (request: Request) => Access | Promise<Access>

/**
 * Creates the decision on requests. It is a promise where tokens have to be loaded. The token of the configuration is checked first, so
 * that it needs none of them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (rules: Guard.Rules, hash: Hash["Service"], tokens?: TokenSet): Decide => {
  const refusal = Guard.make(rules, hash)
  const readerOf = Guard.readers(rules, hash)
  return (request) => {
    const reader = readerOf(request)
    if (reader !== undefined && !probes.has(pathOf(request))) return { reader }
    const refused = refusal(request)
    if (refused === undefined || isOpen(request, refused)) return {}
    const secret = tokens === undefined ? undefined : Token.shown(request.headers)
    if (tokens === undefined || secret === undefined) return { refused }
    const checked = tokens.check(secret)
    return checked instanceof Promise ? checked.then(accessOf(tokens)) : accessOf(tokens)(checked)
  }
}

/** The access of a token. A refusal is counted, under its id if the request shows its secret. */
const accessOf = (tokens: TokenSet) => (checked: Checked): Access => {
  if ("refused" in checked) tokens.deny(checked.id, checked.refused.code)
  return checked
}

/** Whether a request passes although the guard refused it: a probe, or a worker's report with a rendezvous token. */
const isOpen = (request: Request, { code }: RequestRefused): boolean => {
  const path = pathOf(request)
  return probes.has(path) || (code === "auth/missing" && WorkerToken.isReport(request, path))
}
