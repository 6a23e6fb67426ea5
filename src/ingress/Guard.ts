/**
 * Who may speak to the runtime: whoever shows the token, or, without one, only
 * programs of this machine that mean to.
 *
 * A server on a loopback address can still be reached by a web page: by one whose
 * name resolves to it, and then the request names that page's host; or by any
 * that sends a request across sites, and then the browser says so.
 *
 * @module
 */
import type { Hash } from "../persistence/Hash.ts"
import { RequestRefused } from "./Problem.ts"
import type { Clearance } from "../kernel/view/Space.ts"

/** What a guard goes by. */
export interface Rules {
  /** What callers have to show as a bearer token. */
  readonly token: string | undefined
  /** Whether the server listens on a loopback address. */
  readonly loopback: boolean
  /** Who may speak to it without being told everything. */
  readonly readers?: ReadonlyArray<Clearance & { readonly token: string }> | undefined
}

/** Finds the reader by whose token a request is made; `undefined` for any other. */
export const readers = ({ readers = [] }: Rules, hash: Hash["Service"]): (request: Request) => Clearance | undefined => {
  if (readers.length === 0) return () => undefined
  const known = readers.map((reader) => ({ reader, expected: hash.hex(`Bearer ${reader.token}`) }))
  return (request) => {
    const shown = hash.hex(normalized(request.headers.get("authorization")))
    return known.filter(({ expected }) => sameDigest(shown, expected))[0]?.reader
  }
}

/**
 * A check of a request's headers: why it is refused, or `undefined`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (rules: Rules, hash: Hash["Service"]): (request: Request) => RequestRefused | undefined => {
  const { loopback, token } = rules
  if (token !== undefined) {
    const expected = hash.hex(`Bearer ${token}`)
    return (request) => sameDigest(hash.hex(normalized(request.headers.get("authorization"))), expected) ? undefined : unauthorized
  }
  return (request) => {
    if (loopback && !isLocal(hostOf(request))) return foreign(hostOf(request))
    if (loopback && isFromElsewhere(request)) return elsewhere
    // A token that is shown is meant to be checked: a wrong one never passes for none.
    return credentials.test(request.headers.get("authorization") ?? "") ? unknown : undefined
  }
}

/**
 * Whether a page of another origin sends this, such as one at another port, other than by leading its reader here.
 *
 * A frame inside such a page is its own doing: its reader could be made to press what the frame shows.
 */
const isFromElsewhere = (request: Request): boolean => {
  const { headers, method } = request
  const origin = headers.get("origin")
  if (origin !== null) return !URL.canParse(origin) || new URL(origin).host !== new URL(`http://${hostOf(request)}`).host
  const site = headers.get("sec-fetch-site")
  if (site === null || site === "same-origin" || site === "none") return false
  const destination = headers.get("sec-fetch-dest") ?? "document"
  return !(method === "GET" && headers.get("sec-fetch-mode") === "navigate" && destination === "document")
}

const elsewhere = new RequestRefused({
  code: "host/refused",
  reason: "The request comes from a page of another origin. Set a token in the configuration, and have that page's own server send it"
})

/** A header that shows one of our tokens. */
const credentials = /^\s*(?:bearer|rendezvous)\b/i

const unknown = new RequestRefused({
  code: "auth/missing",
  reason: "The request shows a token, and this server knows no such token. Send the request without the header Authorization, or with the token of a reader or a rendezvous"
})

const unauthorized = new RequestRefused({
  code: "auth/missing",
  reason: "The request shows no token, or a wrong one. Send the header Authorization: Bearer <token> with the token of the configuration"
})

const foreign = (host: string) =>
  new RequestRefused({ code: "host/refused", reason: `The request names the host ${JSON.stringify(host.slice(0, 100))}. Call this server as 127.0.0.1 or localhost` })

/** The scheme's name is the same in any case; the token is not. */
const normalized = (header: string | null): string => (header ?? "").replace(/^bearer +/i, "Bearer ")

/** Compares digests in a time that does not depend on where they differ. */
const sameDigest = (a: string, b: string): boolean => {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

/** The host that a request names; an old client may name none. */
const hostOf = ({ headers, url }: Request): string => headers.get("host") ?? (URL.canParse(url) ? new URL(url).host : "")

const isLocal = (host: string): boolean => URL.canParse(`http://${host}`) && /^(?:localhost|[a-z0-9-]+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d{1,5})?$/i.test(host)
