/**
 * The fibers that a kernel starts by itself, and those of the requests to it: they have its context, and end with its scope.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import type { Reporter } from "../../diagnostic/Reporter.ts"
import { detached } from "../../diagnostic/Telemetry.ts"
import * as UnexpectedFailure from "../../diagnostic/UnexpectedFailure.ts"

/** Holds a fiber until it is over. One that is over already costs no entry. */
export type Hold = (fiber: Fiber.Fiber<unknown, unknown>) => void

/** Starts a fiber at once. One that is over on return costs no entry in the set. */
export type Fork = <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>

/** Runs an Effect for code that awaits promises. Rejects with its failure. */
export const promise = <A, E>(fork: Fork, effect: Effect.Effect<A, E>): Promise<A> =>
  new Promise((resolve, reject) => fork(effect).addObserver((exit) =>
    Exit.isSuccess(exit) ? resolve(exit.value) : reject(Cause.squash(exit.cause) as Error)))

/** Runs an Effect whose end has no waiter. Its failure is reported, unless it was interrupted. */
export const background = (fork: Fork, reporter: Pick<Reporter, "report">) => <E>(effect: Effect.Effect<unknown, E>): void => {
  fork(effect).addObserver((exit) => {
    if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) reporter.report(UnexpectedFailure.of(Cause.squash(exit.cause)))
  })
}

/**
 * Holds fibers. The end of the scope interrupts those that are left, waits for them, and interrupts each that comes later.
 */
export const holder: Effect.Effect<Hold, never, Scope.Scope> = Effect.map(FiberSet.make(), (fibers) => (fiber) => {
  if (fiber.pollUnsafe() === undefined) FiberSet.addUnsafe(fibers, fiber)
})

/**
 * The fork of the surrounding context, whose fibers are held until the scope ends.
 */
export const make: Effect.Effect<Fork, never, Scope.Scope> = Effect.gen(function*() {
  const hold = yield* holder
  const run = Effect.runForkWith(detached(yield* Effect.context<never>()))
  return (effect) => {
    const fiber = run(effect)
    hold(fiber)
    return fiber
  }
})
