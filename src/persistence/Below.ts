/**
 * Iteration over all documents below a cell, page by page.
 *
 * @module
 */
import type { SpaceStore } from "./Persistence.ts"

/** The default size of a page, in keys. */
const PAGE = 1000

/** Iterates over the keys of all documents below an id, in order, `limit` keys per page. */
export function* below(store: Pick<SpaceStore, "below">, id: string, limit = PAGE): Iterable<string> {
  for (let after: string | undefined; ;) {
    const keys = store.below(id, { limit, ...(after === undefined ? {} : { after }) })
    yield* keys
    if (keys.length < limit) return
    after = keys.at(-1)
  }
}
