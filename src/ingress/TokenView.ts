/**
 * The view and the streams of a request with a token.
 *
 * @module
 */
import * as Token from "../access/Token.ts"
import type { TokenSet } from "../access/TokenSet.ts"
import type { Viewer } from "../kernel/view/Space.ts"
import * as Label from "../cell/Label.ts"

/**
 * The view that a token has of a space.
 *
 * @category getters
 * @since 0.2.0
 */
export const viewerOf = ({ clearance, id, prefixes }: Token.Token): Viewer =>
  ({ name: Token.labelOf(id), atoms: clearance === undefined ? "all" : Label.make(clearance), within: prefixes })

/** Whether a response is an event stream. */
const isStream = ({ body, headers }: Response): boolean =>
  body !== null && headers.get("content-type") === "text/event-stream"

/**
 * A response to a request with a token. A stream ends before its next event once the token is revoked or expired.
 *
 * @category combinators
 * @since 0.2.0
 */
export const guarded = (response: Response, { id }: Token.Token, tokens: TokenSet): Response => {
  if (!isStream(response)) return response
  const body = response.body?.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({
    transform: async (chunk, controller) => {
      if (await tokens.isLive(id)) controller.enqueue(chunk)
      else controller.terminate()
    }
  }, undefined, { highWaterMark: 0 }))
  return new Response(body, response)
}
