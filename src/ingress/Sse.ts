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

/** Answers with a stream, in the name of a reader or of the operator. */
export type Answer = <E>(frames: Stream.Stream<Frame, E>, reader?: string) => Response

/** Most streams that one server holds open. */
export const MAX_STREAMS = 1024

/** How many of them are kept for the operator. */
export const OPERATORS = 128

/** How often an idle stream shows that it lives, so that nothing between gives it up. */
const ALIVE = "15 seconds"

const utf8 = new TextEncoder()
const alive = utf8.encode(": alive\n\n")

/**
 * The frames of what is observed, made once for all streams that tell it.
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

/** The bytes of a frame, made once: a thousand streams of one cell send the same. */
const encode = (frame: Frame): Uint8Array => {
  let bytes = encoded.get(frame)
  if (bytes === undefined) {
    const { data, event, id } = frame
    bytes = utf8.encode(`${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`)
    encoded.set(frame, bytes)
  }
  return bytes
}

/** The streams that are open: all, and those of each reader. */
class Open {
  private all = 0
  private readonly byReader = new Map<string, number>()
  private readonly share: number

  /** Each reader has the same share of what is not kept for the operator. */
  constructor(readers: number) {
    this.share = Math.max(1, Math.floor((MAX_STREAMS - OPERATORS) / Math.max(1, readers)))
  }

  /** Why no more can be opened; `undefined` where one can. */
  refusal(reader: string | undefined): string | undefined {
    if (reader !== undefined && (this.byReader.get(reader) ?? 0) >= this.share) return `${this.share} streams of reader "${reader}" are open, which is its share`
    return this.all >= (reader === undefined ? MAX_STREAMS : MAX_STREAMS - OPERATORS) ? `${this.all} streams are open, which is the limit` : undefined
  }

  count(reader: string | undefined, by: 1 | -1): void {
    this.all += by
    if (reader === undefined) return
    const left = (this.byReader.get(reader) ?? 0) + by
    if (left === 0) this.byReader.delete(reader)
    else this.byReader.set(reader, left)
  }
}

/**
 * Answers with streams, tells of those that fail, counts those that are open, and ends them all when the server closes.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (closing: AbortSignal, { readers = 0, tell = () => {} }: { readonly readers?: number; readonly tell?: (failure: unknown) => void } = {}): Answer => {
  const open = new Open(readers)
  const ends = new Set<() => void>()
  closing.addEventListener("abort", () => ends.forEach((end) => end()), { once: true })
  const closed = Effect.callback<void>((resume) => {
    if (closing.aborted) return resume(Effect.void)
    const end = () => resume(Effect.void)
    ends.add(end)
    return Effect.sync(() => ends.delete(end))
  })
  return (frames, reader) => {
    const refusal = open.refusal(reader)
    if (refusal !== undefined) throw new Problem.RequestRefused({ code: "watch/full", reason: `${refusal}. Close one, or try again in a moment` })
    const counted = Effect.acquireRelease(Effect.sync(() => open.count(reader, 1)), () => Effect.sync(() => open.count(reader, -1)))
    const bytes = frames.pipe(
      Stream.map(encode),
      Stream.catch((failure) => {
        tell(failure)
        return Stream.succeed(utf8.encode(`event: problem\ndata: ${JSON.stringify(Problem.of(failure))}\n\n`))
      }),
      Stream.merge(Stream.map(Stream.tick(ALIVE), () => alive), { haltStrategy: "left" }),
      Stream.interruptWhen(closed),
      (bytes) => Stream.scoped(Stream.flatMap(Stream.fromEffect(counted), () => bytes))
    )
    // Nothing runs, and nothing is counted, before the body is read.
    const body = Stream.toReadableStream(bytes, { strategy: { highWaterMark: 0 } })
    return new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } })
  }
}
