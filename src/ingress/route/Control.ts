/**
 * The routes of a space as a whole: its lifecycle, its clock, and the locks of its cells.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import { write } from "../../contract/Cells.ts"
import * as Endpoints from "../../contract/Control.ts"
import * as Query from "../../contract/Query.ts"
import { ControlRefused } from "../../kernel/model/SpaceError.ts"
import type { Drop } from "../../kernel/model/SpaceMode.ts"
import type { SpaceStatus } from "../../kernel/view/Space.ts"
import * as Cells from "./Cells.ts"
import type { SpaceTable } from "./SpaceTable.ts"

/** The names of endpoints, which are those of verbs of a space. */
const namesOf = <Endpoints extends object>(endpoints: Endpoints) => Object.keys(endpoints) as unknown as ReadonlyArray<keyof Endpoints>

/**
 * Adds the routes to a table.
 */
export const routes = (table: SpaceTable): void => {
  table.ofSpace(Endpoints.state, ({ control }, { query }) => Effect.map(control.state, (state) => stateOf(state, query)))
  for (const verb of namesOf(Endpoints.verbs)) table.ofSpace(Endpoints.verbs[verb], ({ control }) => control[verb]())
  for (const verb of namesOf(Endpoints.holds)) {
    table.ofSpace(Endpoints.holds[verb], ({ control }) => Effect.map(control[verb], (state) => stateOf(state)))
  }
  table.ofSpace(Endpoints.detached, ({ control }) => Effect.flatMap(control.detached, (found) =>
    found === undefined ? Effect.fail(new ControlRefused({ verb: "list", reason: "it is not detached" })) : Effect.succeed(found)))
  table.ofSpace(Endpoints.releaseDetached, ({ control }, { query: { drop } }) =>
    Effect.map(control.releaseDetached(dropsIn(drop)), (beat) => ({ beat })))
  table.ofSpace(Endpoints.rollback, ({ control }, { body: { to } }) => control.rollback(to))
  table.ofSpace(Endpoints.clock, ({ control }) => control.clock)
  table.ofSpace(Endpoints.resetClock, ({ control }) => control.resetClock())
  for (const verb of namesOf(Endpoints.locks)) {
    table.serve(Endpoints.locks[verb], ({ params, request: { url } }) => {
      // A lock of a place in a cell is refused by the space, which tells what to lock instead.
      const cell = Cells.address(Cells.place(url, write))
      return Effect.flatMap(table.space(params.space), ({ control }) => Effect.map(control[verb](cell), (beat) => ({ cell, beat })))
    })
  }
}

/** The kinds of work of a list. */
const dropsIn = (drop: string | undefined): ReadonlyArray<Drop> => drop === undefined ? [] : [...new Set(drop.split(","))] as Array<Drop>

/** A state with a page of its locks in the order of their cells, and the last cell of the page in `next` if more follow. */
const stateOf = (
  { locks, ...status }: SpaceStatus,
  { after = "", limit = Query.MOST }: { readonly after?: string; readonly limit?: number } = {}
) => {
  const left = locks.filter(({ cell }) => cell > after).sort((a, b) => a.cell < b.cell ? -1 : 1)
  const shown = left.slice(0, limit)
  return { ...status, locks: shown, next: shown.length > 0 && shown.length < left.length ? shown.at(-1)?.cell : undefined }
}
