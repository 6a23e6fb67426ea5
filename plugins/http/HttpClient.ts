/**
 * HTTP exchanges under an address policy: each hop of a redirect is checked like the first URL.
 *
 * @module
 */
import { Channel } from "systole"
import * as Addresses from "./Addresses.ts"
import type { AddressPolicy } from "./AddressPolicy.ts"
import * as OriginHeaders from "./OriginHeaders.ts"
import * as RetryAfter from "./RetryAfter.ts"
import * as TargetUrl from "./TargetUrl.ts"
import { type Answer, header, type Headers, type Transport } from "./Transport.ts"

/** The most redirects of a request. */
const MAX_REDIRECTS = 5

/** A client: a policy over the transport of a host, the headers of origins, and the rule of waits. */
export interface HttpClient {
  readonly headers: OriginHeaders.OriginHeaders
  readonly policy: AddressPolicy
  readonly transport: Transport
  readonly retryAfter: RetryAfter.Rule
}

/** The treatment of a redirect: another request, a result, or a failure. */
export type RedirectMode = "follow" | "manual" | "error"

/** A request. The names of its headers are in lower case. */
export interface HttpRequest {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly body: Uint8Array | undefined
  readonly redirect: RedirectMode
}

/** The last answer, the URL that gave it, and the wait in milliseconds that it asks for. */
export interface Exchange extends Answer {
  readonly url: URL
  readonly retryAfterMs: number | undefined
}

const refuse = (reason: string) => Channel.fail("http/refused", reason, { errno: -13 })

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** The headers that describe a body, which a request without one does not have. */
const describing: ReadonlySet<string> = new Set(["content-encoding", "content-language", "content-location", "content-type"])

/** The headers that another origin gets. Any other may be a credential. */
const harmless: ReadonlySet<string> = new Set([
  ...describing, "accept", "accept-encoding", "accept-language", "cache-control", "idempotency-key", "if-modified-since", "if-none-match",
  "range", "user-agent"
])

/** The request that follows a redirect, as `fetch` rewrites it. */
const following = (request: HttpRequest, status: number, [from, to]: readonly [from: URL, to: URL]): HttpRequest => {
  const { body, headers, method } = request
  const becomesGet = status === 303 ? method !== "GET" && method !== "HEAD" : status < 303 && method === "POST"
  const described = becomesGet ? headers.filter(([name]) => !describing.has(name)) : headers
  const kept = from.origin === to.origin ? described : described.filter(([name]) => harmless.has(name))
  return { ...request, url: to.href, method: becomesGet ? "GET" : method, headers: kept, body: becomesGet ? undefined : body }
}

/** The end of an exchange, and the origin that the author named. */
interface Attempt {
  readonly signal: AbortSignal
  readonly origin: string
}

const once = async (client: HttpClient, request: HttpRequest, { origin, signal }: Attempt): Promise<Exchange> => {
  const url = TargetUrl.parse(request.url)
  const { policy, transport: { resolve } } = client
  const addresses = await Addresses.checked(TargetUrl.targetOf(url), { policy, resolve, refuse, signal })
  const { body, method } = request
  const headers = OriginHeaders.add(client.headers, url, request.headers)
  const isNamed = url.origin === origin
  const answer = await client.transport.send({ url, method, headers, body, addresses, isNamed, signal })
  if (answer.status < 200) {
    answer.close()
    const reason = `${url.origin} answered with ${answer.status}: it continues with another protocol, which was not asked for`
    throw Channel.fail("http/upgrade", reason)
  }
  return { ...answer, url, retryAfterMs: RetryAfter.of(answer, client.retryAfter) }
}

/** The place of a redirect; `undefined` for any other answer. */
const locationOf = ({ headers, status, url }: Exchange): URL | undefined => {
  const location = redirects.has(status) ? header(headers, "location") : undefined
  if (location === undefined) return undefined
  if (!URL.canParse(location, url)) throw Channel.fail("http/redirect", `${url.origin} redirects to a place that is no URL`)
  return new URL(location, url)
}

/** Names the redirect in the refusal of its target. */
const afterRedirect = (error: unknown): unknown =>
  error instanceof Channel.ChannelError && error.code === "http/refused" ? refuse(`after a redirect, ${error.reason}`) : error

/**
 * Sends a request, and follows at most 5 redirects. The caller closes the answer.
 *
 * Fails with `http/refused` if the policy refuses the URL, one of its addresses or one of a redirect, and with
 * `http/redirect` for too many redirects, or for the first one with the mode `error`.
 *
 * @throws ChannelError, or an error of the host
 */
export const exchange = async (client: HttpClient, first: HttpRequest, signal: AbortSignal): Promise<Exchange> => {
  const { origin } = TargetUrl.parse(first.url)
  let request = first
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await once(client, request, { origin, signal }).catch((error: unknown) => {
      throw hop === 0 ? error : afterRedirect(error)
    })
    try {
      const location = request.redirect === "manual" ? undefined : locationOf(answer)
      if (location === undefined) return answer
      if (request.redirect === "error") throw Channel.fail("http/redirect", `${answer.url.origin} redirects with ${answer.status}`)
      request = following(request, answer.status, [answer.url, location])
    } catch (error) {
      answer.close()
      throw error
    }
    answer.close()
  }
  throw Channel.fail("http/redirect", `${origin} redirects more than ${MAX_REDIRECTS} times`)
}
