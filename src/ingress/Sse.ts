/**
 * Streams as server-sent events.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Problem from "./Problem.ts"

/** One event of a stream. */
export interface Frame {
  /** Where a reader goes on that lost the stream after this event; the one before it where it has none. */
  readonly id: number | string | undefined
  readonly event: string
  /** One line. */
  readonly data: string
}

/** Most streams that one server holds open. */
export const MAX_STREAMS = 1024

/** How often an idle stream shows that it lives, so that nothing between gives it up. */
const ALIVE = "15 seconds"

/**
 * Answers with streams, tells of those that fail, counts those that are open, and ends them all when the server closes.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (closing: AbortSignal, tell: (failure: unknown) => void = () => {}) => {
  let open = 0
  const ends = new Set<() => void>()
  closing.addEventListener("abort", () => ends.forEach((end) => end()), { once: true })
  const closed = Effect.callback<void>((resume) => {
    if (closing.aborted) return resume(Effect.void)
    const end = () => resume(Effect.void)
    ends.add(end)
    return Effect.sync(() => ends.delete(end))
  })
  return <E>(frames: Stream.Stream<Frame, E>): Response => {
    if (open >= MAX_STREAMS) {
      throw new Problem.RequestRefused({ code: "watch/full", reason: `${MAX_STREAMS} streams are open, which is the limit. Close one, or try again in a moment` })
    }
    const counted = Effect.acquireRelease(Effect.sync(() => open++), () => Effect.sync(() => open--))
    const texts = frames.pipe(
      Stream.map(({ data, event, id }) => `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`),
      Stream.catch((failure) => {
        tell(failure)
        return Stream.succeed(`event: problem\ndata: ${JSON.stringify(Problem.of(failure))}\n\n`)
      }),
      Stream.merge(Stream.map(Stream.tick(ALIVE), () => ": alive\n\n"), { haltStrategy: "left" }),
      Stream.interruptWhen(closed),
      Stream.encodeText,
      (texts) => Stream.scoped(Stream.flatMap(Stream.fromEffect(counted), () => texts))
    )
    // Nothing runs, and nothing is counted, before somebody reads.
    const body = Stream.toReadableStream(texts, { strategy: { highWaterMark: 0 } })
    return new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } })
  }
}
