/**
 * Durable runs: enzymes with `durable: true`, their commands and their routes. A durable run sends requests.
 *
 * @module
 */
import { face } from "../../durable/Face.ts"
import { runs } from "../../durable/Ledger.ts"
import * as FaceRoutes from "../../ingress/route/FaceRoutes.ts"
import type { Slice } from "../../ingress/route/Slice.ts"
import * as Segments from "../../kernel/runs/Segments.ts"
import * as SpaceRuns from "./SpaceRuns.ts"

/**
 * The slice `durable`.
 */
export const slice: Slice = {
  name: "durable",
  face,
  ledger: () => runs,
  runs: Segments.runs,
  part: SpaceRuns.part,
  routes: (table, context) => FaceRoutes.routes(table, face, context)
}
