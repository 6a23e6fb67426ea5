/**
 * Rendezvous: `tx.rv`, their commands and their routes.
 *
 * @module
 */
import * as Routes from "../../ingress/Rv.ts"
import * as SpaceFace from "../../kernel/space/SpaceFace.ts"
import { rendezvous } from "../../rendezvous/Ledger.ts"
import { outside } from "../../rendezvous/Outside.ts"
import type { Feature } from "../Feature.ts"

/**
 * The feature `rendezvous`.
 *
 * @category features
 * @since 0.1.0
 */
export const feature: Feature = {
  name: "rendezvous",
  ledger: () => rendezvous,
  parts: ({ ledgers }) => ({ rv: SpaceFace.ofCells(outside, ledgers) }),
  routes: Routes.routes
}
