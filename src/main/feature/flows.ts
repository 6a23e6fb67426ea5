/**
 * Flows and the mailroom: `tx.flow`, their commands and their routes.
 *
 * @module
 */
import { flows } from "../../flow/Ledger.ts"
import { outside } from "../../flow/Outside.ts"
import * as DeclaredFlows from "../../ingress/DeclaredFlows.ts"
import * as FaceRoutes from "../../ingress/FaceRoutes.ts"
import * as SpaceFace from "../../kernel/space/SpaceFace.ts"
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
  parts: ({ ledgers }) => ({ flows: SpaceFace.ofCells(outside, ledgers) }),
  lists: DeclaredFlows.lists,
  routes: (app, context) => FaceRoutes.routes(app, outside.face, context)
}
