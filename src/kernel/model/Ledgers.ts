/**
 * The ledgers of a runtime, in the order in which a beat advances them. No other
 * module names them all.
 *
 * @module
 */
import * as Context from "effect/Context"
import { flows } from "../../flow/Ledger.ts"
import { LedgerList } from "../../ledger/LedgerList.ts"
import { operations } from "../../operation/Ledger.ts"
import { rendezvous } from "../../rendezvous/Ledger.ts"

/**
 * The ledgers of a kernel, with which its journals are also replayed.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentLedgers = Context.Reference<LedgerList>("systole/kernel/CurrentLedgers", {
  defaultValue: () => new LedgerList([operations, rendezvous, flows])
})
