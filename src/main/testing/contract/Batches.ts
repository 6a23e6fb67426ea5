/**
 * Short ways to fill a store, and to see the outcome.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Address from "../../../cell/Address.ts"
import type { Batch, CellRow, OpenOptions, PlacedStore, SpaceStore } from "../../../persistence/Persistence.ts"
import { Persistence } from "../../../persistence/Persistence.ts"
import type { PersistenceError } from "../../../persistence/PersistenceError.ts"

/** The row of one document. */
export const cell = (key: string, text: string | undefined): CellRow => ({ address: Address.parse(key), text })

/** A batch without a beat: the part that the inbox keeps between beats. */
export const inbox = (parts: Partial<Batch>): Batch =>
  ({ entry: undefined, cells: [], receipts: [], queued: [], dequeued: [], blobs: [], observations: [], ...parts })

/** The batch of a beat. Its clock is a second for each number. */
export const beat = (number: number, parts: Partial<Batch> = {}): Batch =>
  inbox({ entry: { beat: number, clock: number * 1000, text: `{"beat":${number}}`, hash: `hash${number}` }, ...parts })

/** Appends all batches and flushes. */
export const write = (store: SpaceStore, ...batches: ReadonlyArray<Batch>): Effect.Effect<void, PersistenceError> =>
  Effect.suspend(() => {
    for (const batch of batches) store.append(batch)
    return store.flush
  })

/** Opens a space, makes it if need be, and closes it after `body`. */
export const using = <A, E, R>(
  space: string,
  body: (store: PlacedStore) => Effect.Effect<A, E, R>,
  options: OpenOptions = { create: true }
) =>
  Effect.scoped(Effect.flatMap(Persistence.use((persistence) => persistence.open(space, options)), body))

/** The tag of the reason for which an effect fails. */
export const reason = <A, R>(effect: Effect.Effect<A, PersistenceError, R>): Effect.Effect<string, never, R> =>
  Effect.match(effect, { onFailure: (error) => error.reason._tag, onSuccess: () => "succeeded" })

/** The tag of the reason for which a call throws. */
export const thrown = (call: () => unknown): string => {
  try {
    call()
    return "returned"
  } catch (cause) {
    return (cause as PersistenceError).reason._tag
  }
}
