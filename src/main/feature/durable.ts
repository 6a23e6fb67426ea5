/**
 * Durable runs: enzymes with `durable: true`, their commands and their routes.
 *
 * @module
 */
import { runs } from "../../durable/Ledger.ts"
import * as Segments from "../../kernel/beat/Segments.ts"
import { face } from "../../durable/Face.ts"
import * as FaceRoutes from "../../ingress/FaceRoutes.ts"
import * as SpaceRuns from "../../kernel/space/SpaceRuns.ts"
import type { Feature } from "../Feature.ts"

/**
 * The feature `durable`. A durable run sends requests, so it needs the feature `requests`.
 *
 * @category features
 * @since 0.1.0
 */
export const feature: Feature = {
  name: "durable",
  ledger: () => runs,
  durable: Segments.make,
  parts: ({ ledgers, state }) => ({ runs: SpaceRuns.make(ledgers, () => state) }),
  routes: (app, context) => FaceRoutes.routes(app, face, context)
}
