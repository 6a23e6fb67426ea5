/**
 * HTTP routes for flows: the declared flows, the instances, and start, pause, resume, cancel and budget.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Hono } from "hono"
import { InstanceAbsent } from "../flow/FlowError.ts"
import * as Flow from "../flow/Flow.ts"
import type { InstanceRow } from "../kernel/view/Space.ts"
import type { FlowBudget, FlowRequest } from "../stage/Launch.ts"
import * as Body from "./Body.ts"
import * as Json from "./Json.ts"
import type { Lists } from "./Lists.ts"
import * as RecordRoutes from "./RecordRoutes.ts"
import * as Wire from "./Wire.ts"

const instances: RecordRoutes.Records<InstanceRow> = {
  segment: "flows",
  id: "inst",
  list: (space, page) => Effect.map(space.flow.list(page), ({ instances, next }) => ({ instances: instances.map(brief), next })),
  get: (space, inst) => space.flow.get(inst),
  absent: (inst) => new InstanceAbsent({ inst }),
  cell: (inst) => `/data/flow/inst/${inst}`,
  json: (row) => Wire.inline(row as never)
}

/** The list of the declared flows, step by step. */
export const lists: Lists = {
  "/v1/flows": { field: "flows", rows: (enzymes) => enzymes.flatMap(({ enzyme }) => Flow.describe(enzyme) ?? []) }
}

/**
 * Adds the routes to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, context: RecordRoutes.RouteContext): void => {
  const { find } = context
  const target = { find, records: instances }
  RecordRoutes.reads(app, instances, context)
  app.post(RecordRoutes.listPath(instances), async (c) => {
    const request = await Body.fields(c.req.raw, { flow: "string", inst: "string", input: "any", steps: "number", beats: "number" })
    const space = await find(c.req.param("space") ?? "")
    const started = await Effect.runPromise(space.flow.start(request as unknown as FlowRequest))
    const location = `/v1/spaces/${space.name}/flows/${encodeURIComponent(started.inst)}`
    return Json.answer(started, { status: 201, headers: { location } })
  })
  RecordRoutes.command(app, target, {
    verb: "budget",
    fields: { steps: "number", beats: "number" },
    execute: (space, inst, budget: FlowBudget) => space.flow.budget(inst, budget)
  })
  for (const verb of ["pause", "resume", "cancel"] as const) {
    RecordRoutes.command(app, target, { verb, execute: (space, inst) => space.flow[verb](inst) })
  }
}

/** An instance as a list shows it. */
const brief = ({ flow, inst, note, pc, started, state, steps_used }: InstanceRow): object =>
  ({ inst, flow, state, pc, started, steps_used, note })
