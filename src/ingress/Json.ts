/**
 * Answers in JSON.
 *
 * @module
 */

/** What an answer says beside its body. */
export interface Init {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * An answer with a JSON body.
 *
 * Its headers are a plain record, which a host takes as it is; `Response.json`
 * makes a `Headers` of them first, at several microseconds an answer.
 *
 * @category constructors
 * @since 0.1.0
 */
export const answer = (body: unknown, { headers, status = 200 }: Init = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } })
