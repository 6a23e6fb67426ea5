/**
 * Constructors of batches, for tests.
 *
 * @module
 */
import { Effect } from "effect"
import { Address, type Batch, type CellRow, type OpenOptions, Persistence, type PersistenceError, type SpaceStore } from "systole"

/** The row of one document. */
export const cell = (key: string, text: string | undefined): CellRow => ({ address: Address.parse(key), text })

/** A batch of inbox changes between beats. */
export const inbox = (parts: Partial<Batch>): Batch => ({ entry: undefined, cells: [], receipts: [], queued: [], dequeued: [], blobs: [], observations: [], ...parts })

/** The batch of a beat; its clock is one second per number. */
export const beat = (number: number, parts: Partial<Batch> = {}): Batch =>
  inbox({ entry: { beat: number, clock: number * 1000, text: `{"beat":${number}}`, hash: `hash${number}` }, ...parts })

/** Appends all batches and flushes. */
export const write = (store: SpaceStore, ...batches: ReadonlyArray<Batch>): Effect.Effect<void, PersistenceError> =>
  Effect.suspend(() => {
    for (const batch of batches) store.append(batch)
    return store.flush
  })

/** Opens a space, creates it if necessary, and closes it after `body`. */
export const using = <A, E, R>(space: string, body: (store: SpaceStore) => Effect.Effect<A, E, R>, options: OpenOptions = { create: true }) =>
  Effect.scoped(Effect.flatMap(Persistence.use((persistence) => persistence.open(space, options)), body))

/** Returns the tag of an effect's failure reason. */
export const reason = <A, R>(effect: Effect.Effect<A, PersistenceError, R>): Effect.Effect<string, never, R> =>
  Effect.match(effect, { onFailure: (error) => error.reason._tag, onSuccess: () => "succeeded" })

/** Returns the tag of the reason that a call throws. */
export const thrown = (call: () => unknown): string => {
  try {
    call()
    return "returned"
  } catch (cause) {
    return (cause as PersistenceError).reason._tag
  }
}
