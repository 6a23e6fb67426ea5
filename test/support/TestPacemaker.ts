/**
 * A pacemaker under the test clock: time moves when the test moves it, and
 * chance repeats.
 *
 * @module
 */
import { Clock, Effect, Fiber, Layer } from "effect"
import { Pacemaker } from "systole"

/** Seeds count up, and a wake is a sleep on the clock that the test provides. */
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
