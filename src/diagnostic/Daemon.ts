/**
 * Work that a host repeats for as long as it runs.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"

/**
 * Repeats a pass after each wait of so many milliseconds, until it is interrupted. A failure of a pass is handed to `failed`, also an
 * unexpected one, and the next pass comes after the same wait.
 */
export const every = <E, R, R2>(
  millis: number,
  pass: Effect.Effect<unknown, E, R>,
  failed: (failure: unknown) => Effect.Effect<void, never, R2>
): Effect.Effect<never, never, R | R2> => {
  // A log that fails, too, ends no work.
  const told = (cause: Cause.Cause<E>) => Effect.ignoreCause(Effect.suspend(() => failed(Cause.squash(cause))))
  const sure = Effect.catchCause(Effect.suspend(() => pass), (cause) =>
    Cause.hasInterruptsOnly(cause) ? Effect.interrupt : told(cause))
  return Effect.forever(Effect.andThen(Effect.sleep(millis), sure))
}
