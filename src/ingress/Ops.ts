/**
 * HTTP routes for operations: the list, one dossier and its stream, and start, state, await, close and cancel.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Hono } from "hono"
import type { Space } from "../kernel/view/Space.ts"
import { OperationAbsent } from "../operation/OperationError.ts"
import type { Continuation, OperationRequest } from "../stage/Launch.ts"
import * as Body from "./Body.ts"
import * as Cells from "./Cells.ts"
import * as Json from "./Json.ts"
import type { Frame } from "./Sse.ts"
import * as Wire from "./Wire.ts"

/** The maximum number of operations on one page. */
export const MAX_LISTED = 100

/** The functions that the routes of the ledgers share. */
export interface RouteContext {
  /** Finds a space by name. */
  readonly find: (space: string) => Promise<Space>
  /** Creates a response from a stream of events. */
  readonly stream: (frames: Stream.Stream<Frame, unknown>) => Response
  /** Whether a request asks for a stream. */
  readonly wantsStream: (request: Request) => boolean
}

const OPERATION = "/v1/spaces/:space/ops/:oid"

/**
 * Adds the routes to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, { find, stream, wantsStream }: RouteContext): void => {
  app.get("/v1/spaces/:space/ops", async (c) => {
    const limit = c.req.query("limit")
    const space = await find(c.req.param("space"))
    const page = await Effect.runPromise(
      space.ops.list({ after: c.req.query("after"), limit: Math.min(limit === undefined ? 20 : Body.count(limit), MAX_LISTED) })
    )
    return Json.uncached({ operations: page.operations, next: page.next ?? null })
  })
  app.post("/v1/spaces/:space/ops", async (c) => {
    const request =
      await Body.fields(c.req.raw, { verb: "string", target: "string", mode: "string", ttl: "number", payload: "any", pipeline: "any" })
    const space = await find(c.req.param("space"))
    const { beat, oid } = await Effect.runPromise(space.ops.start({ mode: "opm:states", ...request } as unknown as OperationRequest))
    const location = `/v1/spaces/${space.name}/ops/${oid}`
    return Json.answer({ oid, beat }, { status: 201, headers: { location } })
  })
  app.get(OPERATION, async (c) => {
    const { oid, space: name } = c.req.param()
    const space = await find(name)
    const dossier = await Effect.runPromise(space.ops.get(oid))
    if (dossier === undefined) throw new OperationAbsent({ oid })
    if (wantsStream(c.req.raw)) return stream(Cells.follow(space, `/rt/ops/${oid}`, c.req.raw.headers.get("last-event-id")))
    const { close, payload, ...rest } = dossier
    const closed = close === undefined ? null : { ...close, summary: Wire.inline(close.summary) }
    return Json.uncached({ ...rest, payload: Wire.inline(payload), close: closed })
  })
  app.post(`${OPERATION}/state`, async (c) => {
    const { code, note, state } = await Body.fields(
      c.req.raw,
      { state: "string", code: "number", note: "string" }
    ) as { readonly state: string; readonly code?: number; readonly note?: string }
    const { oid, space: name } = c.req.param()
    const space = await find(name)
    const how = { ...(code === undefined ? {} : { code }), ...(note === undefined ? {} : { note }) }
    return Json.answer({ oid, beat: await Effect.runPromise(space.ops.setState(oid, state, how)) })
  })
  app.post(`${OPERATION}/await`, async (c) => {
    const { want, ...then } = await Body.fields(
      c.req.raw,
      { want: "string", signal: "string", ttl: "number", payload: "any" }
    ) as unknown as Continuation & { readonly want: string }
    const { oid, space: name } = c.req.param()
    const space = await find(name)
    return Json.answer({ oid, beat: await Effect.runPromise(space.ops.await(oid, want, then)) })
  })
  app.post(`${OPERATION}/close`, async (c) => {
    const { status, summary } =
      await Body.fields(c.req.raw, { status: "string", summary: "any" }) as { readonly status: string; readonly summary?: unknown }
    const { oid, space: name } = c.req.param()
    const space = await find(name)
    return Json.answer({ oid, beat: await Effect.runPromise(space.ops.close(oid, status, summary)) })
  })
  app.post(`${OPERATION}/cancel`, async (c) => {
    const { oid, space: name } = c.req.param()
    const space = await find(name)
    return Json.answer({ oid, beat: await Effect.runPromise(space.ops.cancel(oid)) })
  })
}
