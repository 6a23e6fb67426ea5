/**
 * All documents below a cell, a page at a time.
 *
 * @module
 */
import type { SpaceStore } from "./Persistence.ts"

/** Keys that are asked for at a time by whoever wants all of them. */
const PAGE = 1000

/** The keys of all documents below an id, in order, of which so many are asked for at a time. */
export function* below(store: Pick<SpaceStore, "below">, id: string, limit = PAGE): Iterable<string> {
  for (let after: string | undefined; ;) {
    const keys = store.below(id, { limit, ...(after === undefined ? {} : { after }) })
    yield* keys
    if (keys.length < limit) return
    after = keys.at(-1)
  }
}
