/**
 * Writes the store of a space behind the back of its kernel, as an earlier version or a damage left it.
 *
 * @module
 */
import { Effect } from "effect"
import { Address, Persistence } from "systole"

/** Writes or deletes cells, by their addresses. The next beat of the open space fails, and the space is opened again. */
export const write = (space: string, writes: Readonly<Record<string, string | undefined>>) =>
  Effect.scoped(Effect.gen(function*() {
    const store = yield* (yield* Persistence).open(space, { create: false })
    const cells = Object.entries(writes).map(([key, text]) => ({ address: Address.parse(key), text }))
    store.append({ entry: undefined, cells, receipts: [], queued: [], dequeued: [], blobs: [], observations: [] })
    yield* store.flush
  }))
