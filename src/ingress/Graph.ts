/**
 * HTTP routes for the reactive graph of a space: the report, drawings and the trace.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Hono } from "hono"
import { MAX_ROWS } from "../kernel/view/PageTurns.ts"
import type { GraphReport } from "../kernel/view/Space.ts"
import * as Drawing from "../scheduler/Drawing.ts"
import * as Trace from "../scheduler/Trace.ts"
import * as Body from "./Body.ts"
import * as Json from "./Json.ts"
import * as PageQuery from "./PageQuery.ts"
import { RequestRefused } from "./Problem.ts"
import type { RouteContext } from "./RouteContext.ts"

/** The sizes of a page: without `?limit=`, and at most. */
const sizes = { listed: MAX_ROWS, max: MAX_ROWS }

const noStore = { "cache-control": "no-store" }

const text = (type: string, draw: (report: GraphReport) => string) => (report: GraphReport): Response =>
  new Response(draw(report), { headers: { ...noStore, "content-type": `${type}; charset=utf-8` } })

/** The response formats of a graph. */
const forms: ReadonlyMap<string, (report: GraphReport) => Response> = new Map([
  ["json", (report) => Json.answer({ ...report, next: report.next ?? null }, { headers: noStore })],
  ["dot", text("text/vnd.graphviz", Drawing.dot)],
  ["mermaid", text("text/vnd.mermaid", Drawing.mermaid)]
])

/**
 * Adds the routes to an application.
 *
 * @category combinators
 * @since 0.1.0
 */
export const routes = (app: Hono, { find }: Pick<RouteContext, "find">): void => {
  app.get("/v1/spaces/:space/graph", async (c) => {
    const format = c.req.query("format") ?? "json"
    const answer = forms.get(format)
    if (answer === undefined) throw new RequestRefused({
      code: "query/invalid",
      reason: `The graph has no format ${JSON.stringify(format.slice(0, 100))}. It has ${[...forms.keys()].join(", ")}`
    })
    const { after, limit } = c.req.query()
    const page = { after: after === undefined ? undefined : Body.count(after), limit: PageQuery.limit(limit, sizes) }
    const space = await find(c.req.param("space"))
    const report = await Effect.runPromise(space.graph.page(page), { signal: c.req.raw.signal })
    const response = answer(report)
    if (report.next !== undefined) response.headers.set("link", `<${c.req.path}?format=${format}&after=${report.next}>; rel="next"`)
    return response
  })
  app.get("/v1/spaces/:space/graph/trace", async (c) => {
    const space = await find(c.req.param("space"))
    return Json.answer(await Effect.runPromise(space.graph.traces, { signal: c.req.raw.signal }), { headers: noStore })
  })
  app.put("/v1/spaces/:space/graph/trace", async (c) => {
    const wanted = kindsOf(await Body.json(c.req.raw))
    const space = await find(c.req.param("space"))
    await Effect.runPromise(space.graph.trace(wanted))
    return Json.answer({ kinds: wanted })
  })
}

const kindsOf = (body: unknown): ReadonlyArray<Trace.Kind> => {
  const { kinds } = (typeof body === "object" && body !== null ? body : {}) as { readonly kinds?: unknown }
  if (Array.isArray(kinds) && kinds.every((kind) => (Trace.kinds as ReadonlyArray<unknown>).includes(kind))) {
    return kinds as ReadonlyArray<Trace.Kind>
  }
  throw new RequestRefused({
    code: "body/malformed",
    reason: `The body does not say what to trace. Send { "kinds": […] } with some of ${Trace.kinds.join(", ")}, or none`
  })
}
