/**
 * Server-sent events.
 *
 * @module
 */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Problem from "./Problem.ts"
import { detached, type Runner } from "./Runner.ts"
import { type Holder, StreamQuota } from "./StreamQuota.ts"

/** One event of a stream. */
export interface Frame {
  /** The cursor from which a client resumes after this event. Without one, the cursor of the previous event applies. */
  readonly id: number | string | undefined
  readonly event: string
  /** One line. */
  readonly data: string
}

/**
 * The id of the last event that a client received before it lost its stream: the header `Last-Event-ID`, or `?last=` of a client that
 * sends no headers, as a WebSocket in a browser. The header is newer, because an `EventSource` keeps its URL.
 */
export const lastOf = ({ headers, url }: Request): string | null => headers.get("last-event-id") ?? new URL(url).searchParams.get("last")

/**
 * Whether a request asks for a stream. HEAD never does: Hono drops its body, so the stream would never end.
 */
export const isWanted = ({ headers, method }: Request): boolean =>
  method === "GET" && headers.get("accept")?.includes("text/event-stream") === true

/** Creates a response from a stream of frames, on the quota of a reader or of the operator. */
export type Answer = <E>(frames: Stream.Stream<Frame, E>, viewer?: Holder) => Response

/** The interval of keep-alive comments, in milliseconds, so that proxies do not close an idle stream. */
const ALIVE = 15_000

const utf8 = new TextEncoder()
const alive = utf8.encode(": alive\n\n")

/**
 * The frames of the observations of a stream. Those of an observation are cached, so that all streams of it share them.
 */
export const frames = <A extends object>(
  make: (observed: A) => Arr.NonEmptyReadonlyArray<Frame>
): <E>(observations: Stream.Stream<A, E>) => Stream.Stream<Frame, E> => {
  const made = new WeakMap<A, Arr.NonEmptyReadonlyArray<Frame>>()
  const framesOf = (observed: A): Arr.NonEmptyReadonlyArray<Frame> => {
    let frames = made.get(observed)
    if (frames === undefined) {
      frames = make(observed)
      made.set(observed, frames)
    }
    return frames
  }
  return Stream.mapArray((observed) => Arr.flatMap(observed, framesOf))
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

/** The options of the function that answers with streams. */
export interface Options {
  readonly quota?: StreamQuota
  readonly report?: (failure: unknown) => void
  /** Runs the Effects of streams. */
  readonly runner?: Runner
  /** Called when a stream opens, or ends. */
  readonly counts?: (by: 1 | -1) => void
}

/**
 * Creates the function that answers with streams. It enforces the quota, reports failed streams, and ends every stream
 * when the server closes.
 */
export const make = (closing: AbortSignal, options: Options = {}): Answer => {
  const { counts = () => {}, quota = new StreamQuota(0), report = () => {}, runner = detached } = options
  const open = new Set<() => void>()
  closing.addEventListener("abort", () => open.forEach((end) => end()), { once: true })
  return (frames, viewer) => {
    quota.check(viewer)
    const source = new Source(frames, {
      report,
      runner,
      began: (end) => {
        counts(1)
        quota.count(viewer?.name, 1)
        open.add(end)
        if (closing.aborted) end()
      },
      ended: (end) => {
        counts(-1)
        quota.count(viewer?.name, -1)
        open.delete(end)
      }
    })
    // Without a buffer, the stream starts, and counts against the quota, when the body is first read.
    const body = new ReadableStream(source, { highWaterMark: 0 })
    return new Response(body, { headers })
  }
}

/** A proxy neither stores nor compresses the stream, and holds no part of it back. */
const headers = { "content-type": "text/event-stream", "cache-control": "no-store, no-transform", "x-accel-buffering": "no" }

/** The calls of a source. Both get the function that ends it. */
interface Observer {
  readonly began: (end: () => void) => void
  readonly ended: (end: () => void) => void
  readonly report: (failure: unknown) => void
  readonly runner: Runner
}

type Frames = Exit.Exit<Arr.NonEmptyReadonlyArray<Frame>, unknown>

/** The source of a body: a comment at its start, then the frames of a stream, and comments while no frame comes. */
class Source implements UnderlyingDefaultSource<Uint8Array> {
  private readonly observer: Observer
  private readonly scope = Scope.makeUnsafe()
  private readonly ending = new AbortController()
  private next: Pull.Pull<Arr.NonEmptyReadonlyArray<Frame>, unknown>
  private controller: ReadableStreamDefaultController<Uint8Array> | undefined
  /** The next frames, from the first read on. */
  private taken: Promise<Frames> | undefined
  private isAwaited = false

  constructor(frames: Stream.Stream<Frame, unknown>, observer: Observer) {
    this.observer = observer
    this.next = Effect.flatMap(Channel.toPullScoped(frames.channel, this.scope), (next) => this.next = next)
  }

  pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> | void {
    if (this.controller !== undefined) return this.send(controller)
    this.controller = controller
    controller.enqueue(alive)
    this.taken = this.take()
    this.observer.runner.background(this.keepAlive(controller), { signal: this.ending.signal, failed: this.failed })
    this.observer.began(this.end)
  }

  cancel(): void {
    this.stop()
  }

  private take(): Promise<Frames> {
    return this.observer.runner.exit(this.next, { signal: this.ending.signal })
  }

  private async send(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.isAwaited = true
    const taken = await (this.taken ?? this.take())
    this.taken = undefined
    this.isAwaited = false
    if (this.ending.signal.aborted) return
    try {
      if (Exit.isSuccess(taken)) return taken.value.forEach((frame) => controller.enqueue(encode(frame)))
      if (!Pull.isDoneCause(taken.cause)) controller.enqueue(this.problem(Cause.squash(taken.cause)))
      this.end()
    } catch (failure) {
      this.failed(failure)
    }
  }

  /** Breaks the body off, and gives its place in the quota back: a body that fails by itself is not cancelled. */
  private readonly failed = (failure: unknown): void => {
    this.observer.report(failure)
    this.stop()
    this.controller?.error(failure)
  }

  private problem(failure: unknown): Uint8Array {
    this.observer.report(failure)
    return utf8.encode(`event: problem\ndata: ${JSON.stringify(Problem.of(failure))}\n\n`)
  }

  private keepAlive = Effect.fnUntraced(function*(this: Source, controller: ReadableStreamDefaultController<Uint8Array>) {
    for (;;) {
      yield* Effect.sleep(ALIVE)
      // A client that takes nothing gets nothing more: one comment at most is queued.
      if (this.isAwaited && controller.desiredSize === 0) controller.enqueue(alive)
    }
  })

  private readonly end = (): void => {
    this.stop()
    this.controller?.close()
  }

  private stop(): void {
    if (this.ending.signal.aborted) return
    this.ending.abort()
    this.observer.runner.background(Scope.close(this.scope, Exit.void), { failed: this.observer.report })
    if (this.controller !== undefined) this.observer.ended(this.end)
  }
}
