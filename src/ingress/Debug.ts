/**
 * HTTP routes of the debugger: breakpoints and single beats. They exist in development only.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Hono } from "hono"
import type { Space } from "../kernel/view/Space.ts"
import * as Body from "./Body.ts"
import * as Json from "./Json.ts"
import { RequestRefused } from "./Problem.ts"
import type { SliceContext } from "./Slice.ts"

/** The maximum number of breakpoints. */
const MAX_BREAKPOINTS = 100

/**
 * Adds the routes to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, { find, isDebugged }: Pick<SliceContext, "find" | "isDebugged">): void => {
  if (!isDebugged) return
  const path = "/v1/spaces/:space/debug"
  const shown = async (space: Space): Promise<Response> => Json.answer(await Effect.runPromise(space.debug.view), Json.noStore)
  app.get(path, async (c) => shown(await find(c.req.param("space"))))
  app.put(path, async (c) => {
    const breakpoints = asked(await Body.json(c.req.raw))
    const space = await find(c.req.param("space"))
    await Effect.runPromise(space.debug.breakAt(breakpoints))
    return shown(space)
  })
  app.post(`${path}/step`, async (c) => {
    const space = await find(c.req.param("space"))
    return Json.answer({ beat: await Effect.runPromise(space.step) }, Json.noStore)
  })
}

const asked = (body: unknown): ReadonlyArray<string> => {
  const { breakpoints, ...rest } = (typeof body === "object" && body !== null ? body : {}) as { readonly breakpoints?: unknown }
  const isList =
    Array.isArray(breakpoints) && breakpoints.length <= MAX_BREAKPOINTS && breakpoints.every((name) => typeof name === "string")
  if (isList && Object.keys(rest).length === 0) return breakpoints
  throw new RequestRefused({
    code: "body/malformed",
    reason: `The body does not say where to stop. Send { "breakpoints": [names of at most ${MAX_BREAKPOINTS} nodes] }; beats stop with ` +
      "POST …/control/hold"
  })
}
