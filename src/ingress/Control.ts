/**
 * HTTP routes for lifecycle control: the state of a space, pause, resume, rollback, shutdown, restart,
 * hold and release, its clock, and locks of cells.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Hono } from "hono"
import type { ControlError } from "../kernel/view/Expected.ts"
import { MAX_ROWS } from "../kernel/view/PageTurns.ts"
import type { Begun, Space, SpaceControl, SpaceStatus } from "../kernel/view/Space.ts"
import * as Body from "./Body.ts"
import * as Cells from "./Cells.ts"
import * as Json from "./Json.ts"
import * as PageQuery from "./PageQuery.ts"
import { RequestRefused } from "./Problem.ts"

type Find = (space: string) => Promise<Space>

const CONTROL = "/v1/spaces/:space/control"
const CLOCK = "/v1/spaces/:space/clock"
const LOCKS = "/v1/spaces/:space/locks/*"

/** The verbs without a request body. */
const verbs = ["pause", "resume", "shutdown", "restart"] as const satisfies ReadonlyArray<keyof SpaceControl>

/**
 * Adds the routes to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, find: Find): void => {
  app.get(CONTROL, async (c) => {
    const space = await find(c.req.param("space"))
    return Json.answer(stateOf(await Effect.runPromise(space.control.state), c.req.query()), Json.noStore)
  })
  for (const verb of verbs) {
    app.post(`${CONTROL}/${verb}`, async (c) => begun(await find(c.req.param("space")), (control) => control[verb]()))
  }
  for (const verb of ["hold", "release"] as const) {
    app.post(`${CONTROL}/${verb}`, async (c) =>
      Json.answer(stateOf(await Effect.runPromise((await find(c.req.param("space"))).control[verb]), {})))
  }
  app.post(`${CONTROL}/rollback`, async (c) => {
    const to = beatOf(await Body.json(c.req.raw))
    return begun(await find(c.req.param("space")), (control) => control.rollback(to))
  })
  app.get(CLOCK, async (c) => {
    const space = await find(c.req.param("space"))
    return Json.answer({ ...await Effect.runPromise(space.control.clock) }, Json.noStore)
  })
  app.post(`${CLOCK}/reset`, async (c) => {
    const { control } = await find(c.req.param("space"))
    return Json.answer({ ...await Effect.runPromise(control.resetClock()) })
  })
  app.put(LOCKS, async (c) => locked(await find(c.req.param("space")), cellOf(c.req.url), "lock"))
  app.delete(LOCKS, async (c) => locked(await find(c.req.param("space")), cellOf(c.req.url), "unlock"))
}

/** A state with a page of its locks in the order of their cells, and the last cell of the page in `next` if more follow. */
const stateOf = ({ locks, ...status }: SpaceStatus, { after = "", limit }: { readonly after?: string; readonly limit?: string }) => {
  const most = PageQuery.limit(limit, { listed: MAX_ROWS, max: MAX_ROWS })
  const left = locks.filter(({ cell }) => cell > after).sort((a, b) => a.cell < b.cell ? -1 : 1)
  const shown = left.slice(0, most)
  return { ...status, locks: shown, next: shown.length > 0 && shown.length < left.length ? shown.at(-1)?.cell : null }
}

const begun = async (space: Space, ask: (control: SpaceControl) => Effect.Effect<Begun, ControlError>): Promise<Response> => {
  const { beat, oid } = await Effect.runPromise(ask(space.control))
  const location = `/v1/spaces/${space.name}/ops/${oid}`
  return Json.answer({ oid, beat }, { status: 202, headers: { location } })
}

const locked = async (space: Space, cell: string, verb: "lock" | "unlock"): Promise<Response> =>
  Json.answer({ cell, beat: await Effect.runPromise(space.control[verb](cell)) })

/** The address of a cell in the path after `/locks`. */
const cellOf = (url: string): string => Cells.address(Cells.place(url))

/** @throws RequestRefused */
const beatOf = (body: unknown): number => {
  const { to, ...rest } = typeof body === "object" && body !== null ? body as { readonly to?: unknown } : {}
  if (typeof to === "number" && Number.isSafeInteger(to) && to >= 0 && Object.keys(rest).length === 0) return to
  throw new RequestRefused({
    code: "body/malformed",
    reason: "The body does not say which beat to go back to. Send { to } with the number of a beat, a whole one from 0"
  })
}
