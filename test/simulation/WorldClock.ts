/**
 * The time of a simulated world: it passes when the simulation says so.
 *
 * All hosts share the time that has elapsed. Each host adds its own error to it.
 *
 * @module
 */
import { Clock, Context, Duration, Effect, Layer } from "effect"

/** The moment at which a world begins, in milliseconds since 1970. */
export const EPOCH = Date.UTC(2026, 0, 1)

interface Timer {
  at: number
  readonly order: number
  readonly run: () => void
}

/** Time that has elapsed, and what happens at moments of it. */
export class WorldClock {
  /** Milliseconds since the world began. */
  elapsed = 0
  private readonly timers = new Set<Timer>()
  private made = 0

  /** Calls `run` once so much time has elapsed; returns the call that cancels this. */
  at(elapsed: number, run: () => void): () => void {
    const timer = { at: Math.max(this.elapsed, elapsed), order: this.made++, run }
    this.timers.add(timer)
    return () => void this.timers.delete(timer)
  }

  /** The time of the next timer; `undefined` if there is none. */
  get next(): number | undefined {
    return this.first?.at
  }

  /** Moves the time forward, up to the next timer or to `elapsed`. Returns whether a timer ran. */
  step(elapsed: number): boolean {
    const { first } = this
    if (first === undefined || first.at > elapsed) {
      this.elapsed = Math.max(this.elapsed, elapsed)
      return false
    }
    this.elapsed = Math.max(this.elapsed, first.at)
    this.timers.delete(first)
    first.run()
    return true
  }

  private get first(): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.timers) {
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.order < first.order)) first = timer
    }
    return first
  }

  /** The clock of Effect, for waits. */
  readonly context: Context.Context<never> = Context.make(Clock.Clock, this.clock())

  get layer(): Layer.Layer<never> {
    return Layer.succeedContext(this.context)
  }

  private clock(): Clock.Clock {
    const millis = (): number => EPOCH + this.elapsed
    const nanos = (): bigint => BigInt(millis()) * 1_000_000n
    return {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: nanos,
      monotonicTimeNanos: Effect.sync(nanos),
      sleep: (duration) => Effect.callback<void>((resume) => {
        const cancel = this.at(this.elapsed + Duration.toMillis(duration), () => resume(Effect.void))
        return Effect.sync(cancel)
      })
    }
  }
}
