/**
 * The routes of the store of a space.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Endpoints from "../../contract/Stores.ts"
import type { SpaceTable } from "./SpaceTable.ts"

/**
 * Adds the routes to a table.
 */
export const routes = (table: SpaceTable): void => {
  table.ofSpace(Endpoints.state, ({ storage }) => storage.status)
  table.ofSpace(Endpoints.finish, ({ storage }) => storage.finish)
  table.ofSpace(Endpoints.prune, ({ storage }, { query: { before } }) => Effect.map(storage.prune(before), (anchor) => ({ anchor })))
  table.ofSpace(Endpoints.carry, ({ storage }, { query }) => storage.carry(query))
}
