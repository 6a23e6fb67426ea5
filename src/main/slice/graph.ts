/**
 * Views and traces of the reactive graph.
 *
 * @module
 */
import * as Routes from "../../ingress/route/Graph.ts"
import type { Slice } from "../../ingress/route/Slice.ts"
import * as SpaceGraph from "../../kernel/api/SpaceGraph.ts"

/**
 * The slice `graph`.
 */
export const slice: Slice = { name: "graph", part: SpaceGraph.part, routes: Routes.routes }
