/**
 * The routes of the debugger: breakpoints and single beats. They exist in development only.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Endpoints from "../../contract/Control.ts"
import type { RouteContext } from "../wire/RouteContext.ts"
import type { SpaceTable } from "./SpaceTable.ts"

/**
 * Adds the routes to a table.
 */
export const routes = (table: SpaceTable, { isDebugged }: Pick<RouteContext, "isDebugged">): void => {
  if (!isDebugged) return
  table.ofSpace(Endpoints.debug, ({ debug }) => debug.view)
  table.ofSpace(Endpoints.breakAt, ({ debug }, { body: { breakpoints } }) => Effect.andThen(debug.breakAt(breakpoints), debug.view))
  table.ofSpace(Endpoints.step, ({ step }) => Effect.map(step, (beat) => ({ beat })))
}
