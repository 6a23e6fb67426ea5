/**
 * Whether a runtime has the ledgers of all records in a store.
 *
 * @module
 */
import { PersistenceError, StoreNeedsLedger } from "../persistence/PersistenceError.ts"
import type { SpaceStore } from "../persistence/Persistence.ts"
import type { LedgerList } from "./LedgerList.ts"
import { names, places, remedy, type SliceName } from "./SliceTable.ts"

/**
 * The refusal of a store with records of an absent slice.
 */
export const refusal = ({ space }: Pick<SpaceStore, "space">, slice: SliceName, folder: string): PersistenceError =>
  new PersistenceError({ reason: new StoreNeedsLedger({ space, slice, folder, remedy: remedy(slice) }) })

/**
 * Refuses a store with records of a ledger that is not among the given ones: nothing would handle them.
 *
 * @throws PersistenceError
 */
export const check = (store: Pick<SpaceStore, "below" | "space">, ledgers: Pick<LedgerList, "named">): void => {
  for (const slice of names) {
    const { ledger } = places[slice]
    if (ledger === undefined || ledgers.named(ledger.name) !== undefined) continue
    const folder = ledger.folders.find((folder) => store.below(folder, { limit: 1 }).length > 0)
    if (folder !== undefined) throw refusal(store, slice, folder)
  }
}
