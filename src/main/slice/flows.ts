/**
 * Flows and the mailroom: `tx.flow`, their commands and their routes. A flow ends its rendezvous.
 *
 * @module
 */
import { flows } from "../../flow/Ledger.ts"
import { outside } from "../../flow/Outside.ts"
import * as DeclaredFlows from "../../ingress/route/DeclaredFlows.ts"
import { ofLedger } from "../../ingress/route/Slice.ts"

/**
 * The slice `flows`.
 */
export const slice = ofLedger("flows", { ledger: () => flows, outside, lists: DeclaredFlows.lists })
