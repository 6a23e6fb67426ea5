/**
 * Streams that end with the right to them: a decision is made again before each part.
 *
 * @module
 */
import type { TokenDecision } from "../../access/TokenSet.ts"

/** The observer of a stream. */
export interface Observer {
  /** Whether the right to the stream is over. It is asked before each part. */
  readonly isOver: () => Promise<boolean>
  /** Called when the body is first read, and with each further read. */
  readonly begin?: () => void
  /** Called when the stream ends, however it does. */
  readonly end?: () => void
}

/** Whether an answer is a stream of events. */
export const is = ({ body, headers }: Response): boolean => body !== null && headers.get("content-type") === "text/event-stream"

const nothing = (): void => undefined

/**
 * An answer with a stream that ends before its next part once the right to it is over.
 */
export const make = (answer: Response, { begin = nothing, end = nothing, isOver }: Observer): Response => {
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  const cancel = (): Promise<void> => {
    end()
    return reader.cancel()
  }
  // Without a buffer, the stream starts, and counts against the quota, when the body is first read.
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      begin()
      const { done, value } = await reader.read().catch((failure: unknown) => {
        end()
        throw failure
      })
      if (!done && !await isOver()) return controller.enqueue(value)
      controller.close()
      await cancel()
    },
    cancel
  }, { highWaterMark: 0 })
  return new Response(body, answer)
}

/** An answer to a caller with a JSON Web Token: a stream ends once that is refused, and any other answer stays as it is. */
export const whileAccepted = (
  answer: Response,
  again: (() => TokenDecision | Promise<TokenDecision> | undefined) | undefined
): Response => {
  if (again === undefined || !is(answer)) return answer
  return make(answer, { isOver: async () => "refused" in (await again() ?? {}) })
}
