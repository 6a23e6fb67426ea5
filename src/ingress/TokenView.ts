/**
 * The view and the streams of a request with a token.
 *
 * @module
 */
import * as Token from "../access/Token.ts"
import type { TokenSet } from "../access/TokenSet.ts"
import type { Viewer } from "../kernel/view/Space.ts"
import * as Label from "../cell/Label.ts"
import { RequestRefused } from "./Problem.ts"
import type { StreamQuota } from "./StreamQuota.ts"

/**
 * The view that a token has of a space.
 *
 * @category getters
 * @since 0.2.0
 */
export const viewerOf = ({ clearance, id, prefixes }: Token.Token): Viewer =>
  ({ name: Token.labelOf(id), atoms: clearance === undefined ? "all" : Label.make(clearance), within: prefixes })

/** The maximum number of open streams of one token. All tokens together leave those of the operator free. */
export const MAX_TOKEN_STREAMS = 256

/**
 * The open event streams of tokens.
 *
 * @category models
 * @since 0.2.0
 */
export class TokenStreams {
  private readonly tokens: TokenSet
  private readonly quota: Pick<StreamQuota, "isReserved">
  private readonly open = new Map<string, number>()

  /** `quota` counts all streams of the host. */
  constructor(tokens: TokenSet, quota: Pick<StreamQuota, "isReserved">) {
    this.tokens = tokens
    this.quota = quota
  }

  /** The refusal of a further stream beyond the limits. */
  refusal({ id }: Token.Token): RequestRefused | undefined {
    if ((this.open.get(id) ?? 0) < MAX_TOKEN_STREAMS && !this.quota.isReserved) return undefined
    return new RequestRefused({
      code: "watch/full",
      reason: `Token ${Token.labelOf(id)} has ${this.open.get(id) ?? 0} open streams of ${MAX_TOKEN_STREAMS}, or those that are left ` +
        "are the operator's. Close one, or try again in a moment"
    })
  }

  /** A response to a request with a token. Its stream ends before its next event once the token is revoked or expired. */
  guarded(response: Response, { id }: Token.Token): Response {
    if (response.body === null || response.headers.get("content-type") !== "text/event-stream") return response
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let counted: 0 | 1 = 0
    const count = (now: 0 | 1): void => {
      const left = (this.open.get(id) ?? 0) + now - counted
      if (left === 0) this.open.delete(id)
      else this.open.set(id, left)
      counted = now
    }
    const end = (): Promise<void> => {
      count(0)
      return reader.cancel()
    }
    // Without a buffer, the stream starts, and counts, when the body is first read.
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        count(1)
        const { done, value } = await reader.read().catch((failure: unknown) => {
          count(0)
          throw failure
        })
        if (!done && await this.tokens.isLive(id)) return controller.enqueue(value)
        controller.close()
        await end()
      },
      cancel: end
    }, { highWaterMark: 0 })
    return new Response(body, response)
  }
}
