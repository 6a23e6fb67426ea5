/**
 * Views and traces of the reactive graph.
 *
 * @module
 */
import * as Routes from "../../ingress/Graph.ts"
import { LiveGraph } from "../../kernel/space/SpaceGraph.ts"
import type { Feature } from "../Feature.ts"

/**
 * The feature `graph`.
 *
 * @category features
 * @since 0.1.0
 */
export const feature: Feature = {
  name: "graph",
  parts: ({ ledgers: { durably, page }, state: { derivation } }) => ({ graph: new LiveGraph({ derivation, durably, page }) }),
  routes: Routes.routes
}
