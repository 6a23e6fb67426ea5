/**
 * Server-sent events.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Problem from "./Problem.ts"
import { StreamQuota } from "./StreamQuota.ts"

/** One event of a stream. */
export interface Frame {
  /** The cursor from which a client resumes after this event. Without one, the cursor of the previous event applies. */
  readonly id: number | string | undefined
  readonly event: string
  /** One line. */
  readonly data: string
}

/** Creates a response from a stream of frames, on the quota of a reader or of the operator. */
export type Answer = <E>(frames: Stream.Stream<Frame, E>, reader?: string) => Response

/** The interval of keep-alive comments, so that proxies do not close an idle stream. */
const ALIVE = "15 seconds"

const utf8 = new TextEncoder()
const alive = utf8.encode(": alive\n\n")

/**
 * Caches the frames of an observation, so that all streams of it share them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const frames = <A extends object>(make: (observed: A) => ReadonlyArray<Frame>): (observed: A) => ReadonlyArray<Frame> => {
  const made = new WeakMap<A, ReadonlyArray<Frame>>()
  return (observed) => {
    let frames = made.get(observed)
    if (frames === undefined) {
      frames = make(observed)
      made.set(observed, frames)
    }
    return frames
  }
}

const encoded = new WeakMap<Frame, Uint8Array>()

/** The bytes of a frame, encoded once for all streams that send it. */
const encode = (frame: Frame): Uint8Array => {
  let bytes = encoded.get(frame)
  if (bytes === undefined) {
    const { data, event, id } = frame
    bytes = utf8.encode(`${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`)
    encoded.set(frame, bytes)
  }
  return bytes
}

/**
 * Creates the function that answers with streams. It enforces the quota, reports failed streams, and ends every stream
 * when the server closes.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  closing: AbortSignal,
  { quota = new StreamQuota(0), report = () => {} }: { readonly quota?: StreamQuota; readonly report?: (failure: unknown) => void } = {}
): Answer => {
  const ends = new Set<() => void>()
  closing.addEventListener("abort", () => ends.forEach((end) => end()), { once: true })
  const closed = Effect.callback<void>((resume) => {
    if (closing.aborted) return resume(Effect.void)
    const end = () => resume(Effect.void)
    ends.add(end)
    return Effect.sync(() => ends.delete(end))
  })
  return (frames, reader) => {
    quota.check(reader)
    const counted = Effect.acquireRelease(Effect.sync(() => quota.count(reader, 1)), () => Effect.sync(() => quota.count(reader, -1)))
    const bytes = frames.pipe(
      Stream.map(encode),
      Stream.catch((failure) => {
        report(failure)
        return Stream.succeed(utf8.encode(`event: problem\ndata: ${JSON.stringify(Problem.of(failure))}\n\n`))
      }),
      Stream.merge(Stream.map(Stream.tick(ALIVE), () => alive), { haltStrategy: "left" }),
      Stream.interruptWhen(closed),
      (bytes) => Stream.scoped(Stream.flatMap(Stream.fromEffect(counted), () => bytes))
    )
    // The stream starts, and counts against the quota, when the body is first read.
    const body = Stream.toReadableStream(bytes, { strategy: { highWaterMark: 0 } })
    return new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } })
  }
}
