/**
 * A pacemaker under the clock of the test: time moves when the test moves it,
 * and seeds repeat.
 *
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Pacemaker } from "../../kernel/model/Pacemaker.ts"
import * as HungRuns from "./HungRuns.ts"

/** Taken before the guards of runs. Workers have no `setImmediate`. */
const { setImmediate, setTimeout } = globalThis

/** The next turn of the host. */
const turn = (run: () => void): void => {
  if (typeof setImmediate === "function") setImmediate(run)
  else setTimeout(run, 0)
}

/**
 * Seeds count up from 1. A timer is a sleep on the clock that the test provides.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Pacemaker> = Layer.effect(
  Pacemaker,
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const context = yield* Effect.context<never>()
    const hung = yield* HungRuns.CurrentHung
    let drawn = 0
    const timer = (at: number, run: () => void) => {
      const fiber = Effect.runForkWith(context)(
        Effect.andThen(Effect.sleep(Math.max(0, at - clock.currentTimeMillisUnsafe())), Effect.sync(run))
      )
      return () => fiber.interruptUnsafe()
    }
    return {
      now: () => clock.currentTimeMillisUnsafe(),
      seed: () => (++drawn).toString(16).padStart(32, "0"),
      turn,
      timer,
      wake: timer,
      ...hung === undefined ? {} : { awaits: HungRuns.watch(hung) }
    }
  })
)
