/**
 * Pages of other sites: the headers with which a browser lets them send requests and read answers.
 *
 * The origins of the configuration alone get them, and none gets cookies: a page shows a token.
 *
 * @module
 */
import * as HeaderFields from "../wire/HeaderFields.ts"

/** The headers of requests that mean something to an endpoint. */
const TAKEN = [
  "authorization", "content-type", "idempotency-key", "if-match", "if-none-match", "if-range", "last-event-id", "prefer", "range"
].join(", ")

/** The headers of answers that a page may read beside those that each may. */
const TOLD = [
  "allow", "content-range", "etag", "link", "location", "ratelimit", "ratelimit-policy", "retry-after", "www-authenticate"
].join(", ")

const METHODS = "GET, HEAD, PUT, POST, DELETE"

/** The time for which a browser keeps the answer to a preflight, in seconds. */
const KEPT = 600

/** The answers to pages of other sites. */
export interface Cors {
  /** The answer to a request that asks for permission; `undefined` for any other request, or for another origin. */
  readonly preflight: (request: Request) => Response | undefined
  /** An answer as a page may read it. */
  readonly shared: (request: Request, response: Response) => Response
}

/**
 * The answers to pages of these origins; `undefined` without any.
 */
export const make = (origins: ReadonlyArray<string>): Cors | undefined => {
  if (origins.length === 0) return undefined
  const listed: ReadonlySet<string> = new Set(origins)
  const originOf = ({ headers }: Request): string | undefined => {
    const origin = headers.get("origin") ?? ""
    return listed.has(origin) ? origin : undefined
  }
  return {
    preflight: (request) => {
      const origin = originOf(request)
      if (origin === undefined || request.method !== "OPTIONS" || !request.headers.has("access-control-request-method")) return undefined
      return new Response(null, {
        status: 204,
        headers: {
          "access-control-allow-origin": origin,
          "access-control-allow-methods": METHODS,
          "access-control-allow-headers": TAKEN,
          "access-control-max-age": String(KEPT),
          vary: "origin"
        }
      })
    },
    shared: (request, response) => HeaderFields.changed(response, (headers) => {
      const origin = originOf(request)
      headers.append("vary", "origin")
      if (origin === undefined) return
      headers.set("access-control-allow-origin", origin)
      headers.set("access-control-expose-headers", TOLD)
    })
  }
}

/**
 * A handler of requests that answers pages of other sites, too.
 */
export const wrap = <Rest extends ReadonlyArray<unknown>>(
  { preflight, shared }: Cors,
  fetch: (request: Request, ...rest: Rest) => Response | Promise<Response>
) =>
  async (request: Request, ...rest: Rest): Promise<Response> => preflight(request) ?? shared(request, await fetch(request, ...rest))
