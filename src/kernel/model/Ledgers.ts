/**
 * The ledgers of a runtime, in the order in which a beat advances them.
 *
 * @module
 */
import * as Context from "effect/Context"
import { runs } from "../../durable/Ledger.ts"
import { flows } from "../../flow/Ledger.ts"
import { LedgerList } from "../../ledger/LedgerList.ts"
import { operations } from "../../operation/Ledger.ts"
import { requests } from "../../reactor/Ledger.ts"
import type { Reactor } from "../../reactor/Reactor.ts"
import { rendezvous } from "../../rendezvous/Ledger.ts"

/**
 * The ledgers of a kernel over its reactor, with which its journals are also replayed.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentLedgers = Context.Reference<(reactor: Reactor["Service"]) => LedgerList>("systole/kernel/CurrentLedgers", {
  defaultValue: () => (reactor) => new LedgerList([operations, rendezvous, flows, requests(reactor), runs])
})
