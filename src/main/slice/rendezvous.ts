/**
 * Rendezvous: `tx.rv`, their commands and their routes.
 *
 * @module
 */
import * as Routes from "../../ingress/route/Rv.ts"
import { ofLedger } from "../../ingress/route/Slice.ts"
import { rendezvous } from "../../rendezvous/Ledger.ts"
import { outside } from "../../rendezvous/Outside.ts"

/**
 * The slice `rendezvous`.
 */
export const slice = ofLedger("rendezvous", { ledger: () => rendezvous, outside, routes: Routes.routes })
