/**
 * A pacemaker under the clock of the test, whose host has a clock that the test sets forward and back.
 *
 * @module
 */
import { Clock, Effect, Layer } from "effect"
import { Pacemaker } from "systole"
import { TestPacemaker } from "systole/testing"

/** The pacemaker, and the control of its host's clock. */
export interface SetClock {
  readonly layer: Layer.Layer<Pacemaker>
  /** Sets the host's clock by so many milliseconds. The wakes of resting spaces run early then, as on a real host. */
  readonly set: (by: number) => Effect.Effect<void>
  /** Forgets the wakes that are armed: their process ended. */
  readonly forget: () => void
  /** The clock of the host. */
  readonly now: Effect.Effect<number>
}

/** A host. `isMonotonic` gives it a clock that is never set. */
export const make = ({ isMonotonic = false } = {}): SetClock => {
  const armed = new Set<() => void>()
  let skew = 0
  const layer = Layer.effect(Pacemaker, Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const { seed, timer, turn } = yield* Pacemaker
    const elapsed = (): number => clock.currentTimeMillisUnsafe()
    return {
      now: () => elapsed() + skew,
      ...isMonotonic ? { elapsed } : {},
      seed,
      turn,
      timer: (at, run) => timer(at - skew, run),
      wake: (at, run) => {
        const once = (): void => {
          if (armed.delete(once)) run()
        }
        armed.add(once)
        const cancel = timer(at - skew, once)
        return () => {
          armed.delete(once)
          cancel()
        }
      }
    }
  })).pipe(Layer.provide(TestPacemaker.layer))
  return {
    layer,
    set: (by) => Effect.sync(() => {
      skew += by
      for (const run of Array.from(armed)) run()
    }),
    forget: () => armed.clear(),
    now: Effect.map(Clock.currentTimeMillis, (now) => now + skew)
  }
}
