/**
 * The routes of requests to the world: the channels, the drains, and those of their face.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Endpoints from "../../contract/Inspection.ts"
import { face } from "../../reactor/Face.ts"
import * as FaceRoutes from "./FaceRoutes.ts"
import type { RouteContext } from "../wire/RouteContext.ts"
import type { SpaceTable } from "./SpaceTable.ts"

/**
 * Adds the routes to a table.
 */
export const routes = (table: SpaceTable, context: Pick<RouteContext, "stream">): void => {
  table.ofSpace(Endpoints.channels, ({ io }) => Effect.map(io.channels, (channels) => ({ channels })))
  table.ofSpace(Endpoints.drains, ({ io }, { query }) => io.drains(query))
  FaceRoutes.routes(table, face, context)
}
