/**
 * The routes of requests to the world: the channels, the drains, and those of their face.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Hono } from "hono"
import { face } from "../reactor/Face.ts"
import * as Body from "./Body.ts"
import * as FaceRoutes from "./FaceRoutes.ts"
import * as Json from "./Json.ts"
import * as PageQuery from "./PageQuery.ts"
import type { RouteContext } from "./RouteContext.ts"

/**
 * Adds the routes to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, context: RouteContext): void => {
  const { find } = context
  const [path] = FaceRoutes.pathsOf(face)
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
  FaceRoutes.routes(app, face, context)
}
