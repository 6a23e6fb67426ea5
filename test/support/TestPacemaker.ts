/**
 * A pacemaker under the test clock: time advances only when the test advances it,
 * and seeds repeat.
 *
 * @module
 */
import { Clock, Effect, Fiber, Layer } from "effect"
import { Pacemaker } from "systole"

/** Seeds count up. A wake is a sleep on the provided clock. */
export const layer: Layer.Layer<Pacemaker> = Layer.effect(
  Pacemaker,
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const context = yield* Effect.context<never>()
    let drawn = 0
    return {
      now: () => clock.currentTimeMillisUnsafe(),
      seed: () => (++drawn).toString(16).padStart(32, "0"),
      turn: (run) => void setImmediate(run),
      wake: (at, run) => {
        const fiber = Effect.runForkWith(context)(
          Effect.andThen(Effect.sleep(Math.max(0, at - clock.currentTimeMillisUnsafe())), Effect.sync(run))
        )
        return () => void Effect.runFork(Fiber.interrupt(fiber))
      }
    }
  })
)
