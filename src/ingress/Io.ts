/**
 * HTTP routes for requests to the world: the list, one request and its stream, cancel, the channels, and the drains.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Hono } from "hono"
import type { RequestDetails } from "../kernel/view/Space.ts"
import { RequestAbsent } from "../reactor/ReactorError.ts"
import * as Body from "./Body.ts"
import * as Json from "./Json.ts"
import * as PageQuery from "./PageQuery.ts"
import * as RecordRoutes from "./RecordRoutes.ts"
import * as Wire from "./Wire.ts"

const requests: RecordRoutes.Records<RequestDetails> = {
  segment: "io",
  id: "rid",
  list: (space, page, { open }) => space.io.list({ ...page, open: open !== undefined && open !== "false" }),
  get: (space, rid) => space.io.get(rid),
  absent: (rid) => new RequestAbsent({ rid }),
  cell: (rid, { oid }) => `/rt/ops/${oid}/io_req/${rid}`,
  json: ({ payload, value, ...row }) => ({ ...row, payload: Wire.inline(payload), value: Wire.inline(value) })
}

/**
 * Adds the routes to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, context: RecordRoutes.RouteContext): void => {
  const { find } = context
  const path = RecordRoutes.listPath(requests)
  // No id of a request is one of these words, since each begins with its channel and a colon.
  app.get(`${path}/channels`, async (c) => {
    const space = await find(c.req.param("space") ?? "")
    return Json.uncached({ channels: await Effect.runPromise(space.io.channels) })
  })
  app.get(`${path}/drains`, async (c) => {
    const { before, limit } = c.req.query()
    const space = await find(c.req.param("space") ?? "")
    const page = { before: before === undefined ? undefined : Body.count(before), limit: PageQuery.limit(limit) }
    const { drains, next } = await Effect.runPromise(space.io.drains(page), { signal: c.req.raw.signal })
    return Json.uncached({ drains, next: next ?? null })
  })
  RecordRoutes.reads(app, requests, context)
  RecordRoutes.command(app, { find, records: requests }, { verb: "cancel", execute: (space, rid) => space.io.cancel(rid) })
}
