/**
 * Flows and the mailroom: `tx.flow`, their commands and their routes.
 *
 * @module
 */
import { flows } from "../../flow/Ledger.ts"
import * as Routes from "../../ingress/Flows.ts"
import { LiveFlows } from "../../kernel/space/SpaceFlows.ts"
import type { Feature } from "../Feature.ts"

/**
 * The feature `flows`. A flow ends its rendezvous, so it needs the feature `rendezvous`.
 *
 * @category features
 * @since 0.1.0
 */
export const feature: Feature = {
  name: "flows",
  ledger: () => flows,
  parts: ({ ledgers }) => ({ flow: new LiveFlows(ledgers) }),
  lists: Routes.lists,
  routes: Routes.routes
}
