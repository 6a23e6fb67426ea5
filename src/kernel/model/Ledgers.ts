/**
 * The ledgers of a runtime, in the order in which a beat comes to them: the one
 * place that names them.
 *
 * @module
 */
import * as Context from "effect/Context"
import { flows } from "../../flow/Ledger.ts"
import { LedgerList } from "../../ledger/LedgerList.ts"
import { operations } from "../../operation/Ledger.ts"
import { rendezvous } from "../../rendezvous/Ledger.ts"

/**
 * The ledgers that a kernel runs with, and that its journals are replayed with.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentLedgers = Context.Reference<LedgerList>("systole/kernel/CurrentLedgers", {
  defaultValue: () => new LedgerList([operations, rendezvous, flows])
})
