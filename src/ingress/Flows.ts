/**
 * HTTP routes for flows: the declared flows, the instances, and start, pause, resume, cancel and budget.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Hono } from "hono"
import { InstanceAbsent } from "../flow/FlowError.ts"
import * as Flow from "../flow/Flow.ts"
import type { Kernel } from "../kernel/space/Kernel.ts"
import type { InstanceRow } from "../kernel/view/Space.ts"
import type { FlowBudget, FlowRequest } from "../stage/Launch.ts"
import * as Body from "./Body.ts"
import * as Cells from "./Cells.ts"
import * as Json from "./Json.ts"
import type { RouteContext } from "./Ops.ts"
import * as Wire from "./Wire.ts"

/** The maximum number of instances on one page. */
export const MAX_LISTED = 100

const INSTANCE = "/v1/spaces/:space/flows/:inst"

/**
 * Adds the routes to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, { find, kernel, stream, wantsStream }: RouteContext & { readonly kernel: Kernel["Service"] }): void => {
  app.get("/v1/flows", async () => {
    const enzymes = await Effect.runPromise(kernel.enzymes)
    return Json.answer({ flows: enzymes.flatMap(({ enzyme }) => Flow.describe(enzyme) ?? []) })
  })
  app.get("/v1/spaces/:space/flows", async (c) => {
    const limit = c.req.query("limit")
    const space = await find(c.req.param("space"))
    const page = await Effect.runPromise(
      space.flow.list({ after: c.req.query("after"), limit: Math.min(limit === undefined ? 20 : Body.count(limit), MAX_LISTED) })
    )
    return Json.uncached({ instances: page.instances.map(brief), next: page.next ?? null })
  })
  app.post("/v1/spaces/:space/flows", async (c) => {
    const request = await Body.fields(c.req.raw, { flow: "string", inst: "string", input: "any", steps: "number", beats: "number" })
    const space = await find(c.req.param("space"))
    const started = await Effect.runPromise(space.flow.start(request as unknown as FlowRequest))
    const location = `/v1/spaces/${space.name}/flows/${encodeURIComponent(started.inst)}`
    return Json.answer(started, { status: 201, headers: { location } })
  })
  app.get(INSTANCE, async (c) => {
    const { inst, space: name } = c.req.param()
    const space = await find(name)
    const row = await Effect.runPromise(space.flow.get(inst))
    if (row === undefined) throw new InstanceAbsent({ inst })
    return wantsStream(c.req.raw)
      ? stream(Cells.follow(space, `/data/flow/inst/${inst}`, c.req.raw.headers.get("last-event-id")))
      : Json.uncached(Wire.inline(row as never))
  })
  app.post(`${INSTANCE}/budget`, async (c) => {
    const budget = await Body.fields(c.req.raw, { steps: "number", beats: "number" })
    const { inst, space: name } = c.req.param()
    return Json.uncached({ inst, beat: await Effect.runPromise((await find(name)).flow.budget(inst, budget as FlowBudget)) })
  })
  for (const action of ["pause", "resume", "cancel"] as const) {
    app.post(`${INSTANCE}/${action}`, async (c) => {
      const { inst, space: name } = c.req.param()
      return Json.uncached({ inst, beat: await Effect.runPromise((await find(name)).flow[action](inst)) })
    })
  }
}

/** An instance as a list shows it. */
const brief = ({ flow, inst, note, pc, started, state, steps_used }: InstanceRow): object =>
  ({ inst, flow, state, pc, started, steps_used, note })
