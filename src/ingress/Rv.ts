/**
 * HTTP routes for rendezvous: the list, one entry and its stream, and spawn, report, kill, release and resched.
 *
 * An external worker reports with the token of its rendezvous and needs no other token.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Hono } from "hono"
import type { RendezvousRow } from "../kernel/view/Space.ts"
import { RendezvousAbsent, TokenRefused } from "../rendezvous/RendezvousError.ts"
import { PersistenceError } from "../persistence/PersistenceError.ts"
import type { RendezvousSpec } from "../stage/Launch.ts"
import * as Body from "./Body.ts"
import * as Cells from "./Cells.ts"
import * as Json from "./Json.ts"
import type { RouteContext } from "./Ops.ts"
import * as Wire from "./Wire.ts"

/** The maximum number of rendezvous on one page. */
export const MAX_LISTED = 100

const RENDEZVOUS = "/v1/spaces/:space/rv/:key"

/** The `authorization` header of a worker: the token of a rendezvous. */
const PROOF = /^rendezvous +([0-9a-f]{1,200})$/i

/**
 * Whether a request is the report of a worker. The rendezvous checks its token.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isReport = ({ headers, method }: Request, path: string): boolean =>
  method === "POST" && tokenOf(headers) !== undefined && /^\/v1\/spaces\/[^/]+\/rv\/[^/]+\/report$/.test(path)

const tokenOf = (headers: Headers): string | undefined => PROOF.exec(headers.get("authorization") ?? "")?.[1]

/**
 * Adds the routes to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, { find, stream, wantsStream }: RouteContext): void => {
  app.get("/v1/spaces/:space/rv", async (c) => {
    const limit = c.req.query("limit")
    const space = await find(c.req.param("space"))
    const page = await Effect.runPromise(
      space.rv.list({ after: c.req.query("after"), limit: Math.min(limit === undefined ? 20 : Body.count(limit), MAX_LISTED) })
    )
    return Json.uncached({ rendezvous: page.rendezvous.map(shown), next: page.next ?? null })
  })
  app.post("/v1/spaces/:space/rv", async (c) => {
    const spec = await Body.json(c.req.raw)
    const space = await find(c.req.param("space"))
    const spawned = await Effect.runPromise(space.rv.spawn((spec ?? undefined) as RendezvousSpec))
    const location = `/v1/spaces/${space.name}/rv/${encodeURIComponent(spawned.key)}`
    return Json.answer(spawned, { status: 201, headers: { location, "cache-control": "no-store" } })
  })
  app.get(RENDEZVOUS, async (c) => {
    const { key, space: name } = c.req.param()
    const space = await find(name)
    const row = await Effect.runPromise(space.rv.get(key))
    if (row === undefined) throw new RendezvousAbsent({ key })
    return wantsStream(c.req.raw)
      ? stream(Cells.follow(space, `/data/rv/${key}`, c.req.raw.headers.get("last-event-id")))
      : Json.uncached(shown(row))
  })
  app.post(`${RENDEZVOUS}/token`, async (c) => {
    const { key, space: name } = c.req.param()
    return Json.uncached(await Effect.runPromise((await find(name)).rv.claim(key)))
  })
  app.post(`${RENDEZVOUS}/report`, async (c) => {
    const { telemetry } = await Body.fields(c.req.raw, { telemetry: "any" })
    const { key, space: name } = c.req.param()
    const token = tokenOf(c.req.raw.headers)
    // An unknown space is answered like a wrong token, so that a worker cannot probe for spaces.
    const space =
      await find(name).catch((error: unknown) => Promise.reject(token !== undefined && isAbsent(error) ? new TokenRefused({ key }) : error))
    return Json.uncached({ key, beat: await Effect.runPromise(space.rv.report(key, telemetry, { token })) })
  })
  app.post(`${RENDEZVOUS}/kill`, async (c) => {
    const how = await Body.fields(c.req.raw, { mode: "string", wait: "number" })
    const { key, space: name } = c.req.param()
    return Json.uncached({ key, beat: await Effect.runPromise((await find(name)).rv.kill(key, how)) })
  })
  app.post(`${RENDEZVOUS}/release`, async (c) => {
    const { key, space: name } = c.req.param()
    return Json.uncached({ key, beat: await Effect.runPromise((await find(name)).rv.release(key)) })
  })
  app.post(`${RENDEZVOUS}/resched`, async (c) => {
    const { delta } = await Body.fields(c.req.raw, { delta: "number" }) as { readonly delta: number }
    const { key, space: name } = c.req.param()
    return Json.uncached({ key, beat: await Effect.runPromise((await find(name)).rv.resched(key, delta)) })
  })
}

const isAbsent = (error: unknown): boolean =>
  error instanceof PersistenceError && (error.code === "space/unknown" || error.code === "space/name")

/** A row as JSON, without the token id, so that tokens cannot be guessed offline. */
const shown = ({ telemetry, token_id: _, ...row }: RendezvousRow): object => ({ ...row, telemetry: Wire.inline(telemetry) })
