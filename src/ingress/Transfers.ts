/**
 * Transfers: content on its way to clients, a part at a time.
 *
 * A part is read when its client has taken the one before, so a slow client
 * holds one part and no more. All parts in memory are counted: beyond the limit
 * a transfer waits. Where others wait, a client that takes too long over a part
 * loses its transfer, and can go on from there by a range.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** Most parts in memory, of 1 MiB at most. */
export const MAX_PARTS = 64

/** How long a client may take over one part while others wait. */
export const PATIENCE = 10_000

/** How often a transfer that waits looks for one that is too slow. */
const LOOK = 1000

/** The bytes of content from one place to another, both included. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Reads the part of content that begins at a place. */
export type Source = (at: number) => Effect.Effect<Uint8Array, unknown>

/** A transfer while it has a part in memory. */
interface Holder {
  since: number
  /** Ends the transfer, which gives its part back. */
  readonly breakOff: () => void
}

/**
 * The transfers of one server.
 *
 * @category models
 * @since 0.1.0
 */
export class Transfers {
  /** In the order in which they took their parts. */
  private readonly holders = new Set<Holder>()
  private readonly waiting = new Set<() => void>()
  private readonly clock: Clock.Clock

  constructor(clock: Clock.Clock = Clock.Clock.defaultValue()) {
    this.clock = clock
  }

  /** How many parts are in memory. */
  get inFlight(): number {
    return this.holders.size
  }

  /** The bytes of a span as a body. Nothing is read before the client takes it. */
  body(source: Source, { from, to }: Span): ReadableStream<Uint8Array> {
    const ended = new AbortController()
    let at = from
    let fail: (error: Error) => void = () => {}
    const holder: Holder = {
      since: 0,
      breakOff: () => {
        end()
        fail(brokenOff())
      }
    }
    const end = (): void => {
      ended.abort()
      this.give(holder)
    }
    // A turn of the host lies between two parts: a server that reads ahead for as long as it need not wait reads one part only.
    const next = Effect.andThen(this.take(holder), Effect.andThen(Effect.yieldNow, Effect.suspend(() => source(at))))
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        this.give(holder)
        if (at > to) return controller.close()
        fail = (error) => controller.error(error)
        try {
          const bytes = (await Effect.runPromise(next, { signal: ended.signal })).subarray(0, to - at + 1)
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

  private take(holder: Holder): Effect.Effect<void> {
    const enter = (): void => {
      holder.since = this.clock.currentTimeMillisUnsafe()
      this.holders.add(holder)
    }
    return Effect.suspend(() =>
      this.waiting.size === 0 && this.holders.size < MAX_PARTS ? Effect.sync(enter) : Effect.raceFirst(this.turn(enter), this.hurry))
  }

  /** Waits for a part that another transfer gives back. */
  private turn(enter: () => void): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const go = (): void => {
        enter()
        resume(Effect.void)
      }
      this.waiting.add(go)
      return Effect.sync(() => void this.waiting.delete(go))
    })
  }

  /** Breaks off the slowest transfers for as long as one waits. */
  private readonly hurry: Effect.Effect<never> = Effect.forever(Effect.suspend(() =>
    Effect.andThen(this.clock.sleep(Duration.millis(LOOK)), Effect.sync(() => {
      const [slowest] = this.holders
      if (slowest !== undefined && this.clock.currentTimeMillisUnsafe() - slowest.since >= PATIENCE) slowest.breakOff()
    }))))

  private give(holder: Holder): void {
    if (!this.holders.delete(holder)) return
    const [next] = this.waiting
    if (next === undefined) return
    this.waiting.delete(next)
    next()
  }
}

/** Some servers print the stack of such an error; this one says all in its message. */
const brokenOff = (): Error => {
  const error = new Error(`A download was broken off: its client took more than ${PATIENCE / 1000} s over one part while others waited`)
  error.stack = `${error.name}: ${error.message}`
  return error
}
