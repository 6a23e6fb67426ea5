/**
 * JSON responses.
 *
 * @module
 */

/** The status and the headers of a response. */
export interface Init {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * A response with a JSON body.
 *
 * Its headers stay a plain record, which the hosts accept directly. `Response.json` converts them to `Headers`, which
 * costs several microseconds per response.
 */
export const answer = (body: unknown, { headers, status = 200 }: Init = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } })

/** The settings of a response that caches must not store. */
export const noStore: Init = { headers: { "cache-control": "no-store" } }

/**
 * A response with a JSON body that caches must not store.
 */
export const uncached = (body: unknown): Response => answer(body, noStore)
