/**
 * HTTP routes for operations: the list, one dossier and its stream, and start, state, await, close and cancel.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Hono } from "hono"
import type { OperationDossier } from "../kernel/view/Space.ts"
import { OperationAbsent } from "../operation/OperationError.ts"
import type { Continuation, OperationRequest, StateNote } from "../stage/Launch.ts"
import * as Body from "./Body.ts"
import * as Json from "./Json.ts"
import * as RecordRoutes from "./RecordRoutes.ts"
import * as Wire from "./Wire.ts"

const operations: RecordRoutes.Records<OperationDossier> = {
  segment: "ops",
  id: "oid",
  list: (space, page) => space.ops.list(page),
  get: (space, oid) => space.ops.get(oid),
  absent: (oid) => new OperationAbsent({ oid }),
  cell: (oid) => `/rt/ops/${oid}`,
  json: ({ close, payload, ...rest }) => ({
    ...rest,
    payload: Wire.inline(payload),
    close: close === undefined ? null : { ...close, summary: Wire.inline(close.summary) }
  })
}

/**
 * Adds the routes to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, context: RecordRoutes.RouteContext): void => {
  const { find } = context
  const target = { find, records: operations }
  RecordRoutes.reads(app, operations, context)
  app.post(RecordRoutes.listPath(operations), async (c) => {
    const request =
      await Body.fields(c.req.raw, { verb: "string", target: "string", mode: "string", ttl: "number", payload: "any", pipeline: "any" })
    const space = await find(c.req.param("space") ?? "")
    const { beat, oid } = await Effect.runPromise(space.ops.start({ mode: "opm:states", ...request } as unknown as OperationRequest))
    const location = `/v1/spaces/${space.name}/ops/${oid}`
    return Json.answer({ oid, beat }, { status: 201, headers: { location } })
  })
  RecordRoutes.command(app, target, {
    verb: "state",
    fields: { state: "string", code: "number", note: "string" },
    execute: (space, oid, { state, ...note }: StateNote & { readonly state: string }) => space.ops.setState(oid, state, note)
  })
  RecordRoutes.command(app, target, {
    verb: "await",
    fields: { want: "string", signal: "string", ttl: "number", payload: "any" },
    execute: (space, oid, { want, ...then }: Continuation & { readonly want: string }) => space.ops.await(oid, want, then)
  })
  RecordRoutes.command(app, target, {
    verb: "close",
    fields: { status: "string", summary: "any" },
    execute: (space, oid, { status, summary }: { readonly status: string; readonly summary?: unknown }) =>
      space.ops.close(oid, status, summary)
  })
  RecordRoutes.command(app, target, { verb: "cancel", execute: (space, oid) => space.ops.cancel(oid) })
}
