/**
 * The access that a configuration gives: by the token of the operator or of a reader or, without a token, by local origin.
 *
 * A web page can reach a server on a loopback address in two ways. With DNS rebinding, the `host` header names the
 * host of the page. With a cross-site request, the browser sets `origin` or `sec-fetch-site`. Both are refused.
 *
 * @module
 */
import * as Redacted from "../../cell/Redacted.ts"
import { type IsSpent, never } from "../../access/Rates.ts"
import { isSame } from "../../access/Token.ts"
import type { Hash } from "../../persistence/Hash.ts"
import { hostOf, isFromElsewhere, isLocal } from "./RequestOrigin.ts"
import { RequestRefused } from "../wire/Problem.ts"
import type { Clearance } from "../../kernel/view/Space.ts"

/** The authentication settings. */
export interface Rules {
  /** The bearer token of the operator. */
  readonly token: Redacted.Redacted | undefined
  /** A further token of the operator, which the process draws at its start for the commands of its project. */
  readonly localToken?: Redacted.Redacted | undefined
  /** The origins of the pages of other sites that may read answers; none unless given. */
  readonly origins?: ReadonlyArray<string> | undefined
  /** True if the server listens on a loopback address. */
  readonly loopback: boolean
  /** The readers with a limited clearance, each with its own token. */
  readonly readers?: ReadonlyArray<Clearance & { readonly token: Redacted.Redacted }> | undefined
}

/** Creates a function that returns the reader of a header `authorization` by its token; `undefined` for other callers. */
export const readers = ({ readers = [] }: Rules, hash: Hash["Service"]): ReaderOf => {
  // There may be many readers, so the length of a header shall not count for each.
  const known = readers.map((reader) => {
    const text = `Bearer ${Redacted.value(reader.token)}`
    return { reader, text: Redacted.make(text), expected: hash.hex(text) }
  })
  return (authorization, isSpent = never) => {
    if (authorization === null || known.length === 0) return undefined
    const text = normalized(authorization)
    // No digest is made for a caller whose rate is used. The comparison of texts depends on their lengths alone, too.
    if (isSpent()) return known.filter((each) => isSame(text, Redacted.value(each.text)))[0]?.reader
    const shown = hash.hex(text)
    return known.filter(({ expected }) => isSame(shown, expected))[0]?.reader
  }
}

/** Finds the reader of a header `authorization`. */
type ReaderOf = (authorization: string | null, isSpent?: IsSpent) => Clearance | undefined

/** A check of a request. Its header `authorization` is read unless it is given. */
export type Check = (request: Request, authorization?: string | null) => RequestRefused | undefined

/**
 * Creates a check of request headers. It returns the refusal, or `undefined` if the request is allowed.
 */
export const make = (rules: Rules): Check => {
  const { localToken, loopback, origins = [], token } = rules
  // A page of the open web never gets what a server without a token lets each program of its machine do.
  const local: ReadonlySet<string> = new Set(origins.filter((origin) => isLocal(origin.replace(/^\w+:\/\//, ""))))
  const known = [token, localToken].flatMap((each) => each === undefined ? [] : [`Bearer ${Redacted.value(each)}`])
  const isKnown = (header: string | null): boolean => {
    if (header === null || known.length === 0) return false
    const shown = normalized(header)
    return known.filter((expected) => isSame(shown, expected)).length > 0
  }
  const given = ({ headers }: Request): string | null => headers.get("authorization")
  if (token !== undefined) return (request, authorization = given(request)) => isKnown(authorization) ? undefined : unauthorized
  return (request, authorization = given(request)) => {
    if (isKnown(authorization)) return undefined
    if (loopback && !isLocal(hostOf(request))) return foreign(hostOf(request))
    if (loopback && !local.has(request.headers.get("origin") ?? "") && isFromElsewhere(request)) return elsewhere
    // A request with a wrong token is refused, although no token is required.
    return authorization !== null && credentials.test(authorization) ? unknown : undefined
  }
}

const elsewhere = new RequestRefused({
  code: "host/refused",
  reason: "The request comes from a page of another origin, and this server has no token. Name an origin of this machine in origins " +
    "of the configuration, such as http://localhost:5173; for any other, set a token there, too"
})

/** An `authorization` header with a scheme of this server. */
const credentials = /^\s*(?:bearer|rendezvous)\b/i

const unknown = new RequestRefused({
  code: "auth/missing",
  reason: "The request shows a token, and this server knows no such token. Send the request without the header Authorization, or with " +
    "the token of a reader or a rendezvous"
})

const unauthorized = new RequestRefused({
  code: "auth/missing",
  reason: "The request shows no token, or a wrong one. Send the header Authorization: Bearer <token> with the token of the configuration"
})

const foreign = (host: string) =>
  new RequestRefused({
    code: "host/refused",
    reason: `The request names the host ${JSON.stringify(host.slice(0, 100))}. Call this server as 127.0.0.1 or localhost`
  })

/** Normalizes the scheme, which is case-insensitive. The token is case-sensitive. */
const normalized = (header: string): string => header.replace(/^bearer +/i, "Bearer ")
