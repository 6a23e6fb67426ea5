/**
 * Layers of modules, which are foreign code: each is built within a time.
 *
 * @module
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/** The time for a layer in milliseconds, and the failure of one that takes longer. */
export interface Limit<E> {
  readonly millis: number
  readonly late: () => Effect.Effect<never, E>
}

/** Builds a layer until the scope closes. One that is late, and ignores its interruption, delays nothing. */
export const build = <A, E, R, E2>(
  layer: Layer.Layer<A, E, R>,
  { late, millis }: Limit<E2>
): Effect.Effect<Context.Context<A>, E | E2, R | Scope.Scope> =>
  Effect.flatMap(Effect.forkDetach(Layer.build(layer)), (fiber) =>
    Effect.timeoutOrElse(Fiber.join(fiber), { duration: millis, orElse: late }).pipe(
      Effect.onError(() => Effect.forkDetach(Fiber.interrupt(fiber)))
    ))
