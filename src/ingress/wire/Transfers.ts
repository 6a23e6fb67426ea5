/**
 * Downloads of content with bounded memory.
 *
 * A part is read after the client took the previous one, so each download has at most one part in memory.
 * All parts count against one limit: beyond it, a download waits. While others wait, the download of a client that takes
 * too long over a part is aborted. The client can resume it with a range request.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Runner } from "./Runner.ts"

/** The maximum number of parts in memory, of up to 1 MiB each. */
export const MAX_PARTS = 64

/** The maximum time that a client may take over one part while others wait, in milliseconds. */
export const MAX_PART_MILLIS = 10_000

/** The interval at which a waiting transfer checks for slow clients, in milliseconds. */
const CHECK_MILLIS = 1000

/** A range of bytes, both ends included. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Reads the part of a content that begins at an offset. */
export type Source = (at: number) => Effect.Effect<Uint8Array, unknown>

/** A transfer with a part in memory. */
interface Holder {
  since: number
  /** Aborts the transfer, which releases its part. */
  readonly abort: () => void
}

/**
 * The transfers of one server.
 */
export class Transfers {
  /** In the order in which they acquired their parts. */
  private readonly holders = new Set<Holder>()
  private readonly waiting = new Set<() => void>()
  private readonly clock: Clock.Clock
  private readonly runner: Runner

  constructor({ clock = Clock.Clock.defaultValue(), runner }: { readonly clock?: Clock.Clock; readonly runner: Runner }) {
    this.clock = clock
    this.runner = runner
  }

  /** The number of parts in memory. */
  get inFlight(): number {
    return this.holders.size
  }

  /** A body with the bytes of a span. The first part is read when the client reads the body. */
  body(source: Source, { from, to }: Span): ReadableStream<Uint8Array> {
    const ended = new AbortController()
    let at = from
    let fail: (error: Error) => void = () => {}
    const holder: Holder = {
      since: 0,
      abort: () => {
        end()
        fail(slowClient())
      }
    }
    const end = (): void => {
      ended.abort()
      this.release(holder)
    }
    // Yield between two parts: a server that reads ahead until it has to wait then reads one part only.
    const next = Effect.andThen(this.acquire(holder), Effect.andThen(Effect.yieldNow, Effect.suspend(() => source(at))))
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        this.release(holder)
        if (at > to) return controller.close()
        fail = (error) => controller.error(error)
        try {
          const bytes = (await this.runner.promise(next, { signal: ended.signal })).subarray(0, to - at + 1)
          if (ended.signal.aborted) return
          at += bytes.byteLength
          if (bytes.byteLength === 0) throw new Error("The content ended before its size")
          controller.enqueue(bytes)
        } catch (error) {
          if (ended.signal.aborted) return
          end()
          controller.error(error)
        }
      },
      cancel: end
    }, { highWaterMark: 0 })
  }

  private acquire(holder: Holder): Effect.Effect<void> {
    const enter = (): void => {
      holder.since = this.clock.currentTimeMillisUnsafe()
      this.holders.add(holder)
    }
    return Effect.suspend(() =>
      this.waiting.size === 0 && this.holders.size < MAX_PARTS ? Effect.sync(enter) : Effect.raceFirst(
        this.nextRelease(enter),
        this.abortSlowest
      ))
  }

  /** Waits until another transfer releases its part. */
  private nextRelease(enter: () => void): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const go = (): void => {
        enter()
        resume(Effect.void)
      }
      this.waiting.add(go)
      return Effect.sync(() => void this.waiting.delete(go))
    })
  }

  /** Aborts the slowest transfers while one waits. */
  private readonly abortSlowest: Effect.Effect<never> = Effect.forever(Effect.suspend(() =>
    Effect.andThen(this.clock.sleep(Duration.millis(CHECK_MILLIS)), Effect.sync(() => {
      const [slowest] = this.holders
      if (slowest !== undefined && this.clock.currentTimeMillisUnsafe() - slowest.since >= MAX_PART_MILLIS) slowest.abort()
    }))))

  private release(holder: Holder): void {
    if (!this.holders.delete(holder)) return
    const [next] = this.waiting
    if (next === undefined) return
    this.waiting.delete(next)
    next()
  }
}

/** The error of an aborted transfer, without a stack: some servers print it, and the message says it all. */
const slowClient = (): Error => {
  const error =
    new Error(`A download was broken off: its client took more than ${MAX_PART_MILLIS / 1000} s over one part while others waited`)
  error.stack = `${error.name}: ${error.message}`
  return error
}
