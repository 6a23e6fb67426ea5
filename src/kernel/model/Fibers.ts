/**
 * The fibers that a kernel starts by itself: they have its context, and end with its scope.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import { detached } from "../../diagnostic/Telemetry.ts"

/** Starts a fiber at once. One that is over on return costs no entry in the set. */
export type Fork = <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>

/**
 * The fork of the surrounding context. The end of the scope interrupts the fibers that are left, and waits for them.
 */
export const make: Effect.Effect<Fork, never, Scope.Scope> = Effect.gen(function*() {
  const fibers = yield* FiberSet.make()
  const run = Effect.runForkWith(detached(yield* Effect.context<never>()))
  return (effect) => {
    const fiber = run(effect)
    if (fiber.pollUnsafe() === undefined) FiberSet.addUnsafe(fibers, fiber)
    return fiber
  }
})
