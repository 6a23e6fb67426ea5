/**
 * The routes of the reactive graph of a space: the report, drawings and the trace.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Codec from "../../contract/Codec.ts"
import * as Endpoints from "../../contract/Inspection.ts"
import type { GraphReport } from "../../kernel/view/Space.ts"
import * as Drawing from "../../scheduler/view/Drawing.ts"
import * as Json from "../wire/Json.ts"
import type { SpaceTable } from "./SpaceTable.ts"

const text = (type: string, draw: (report: GraphReport) => string) => (report: GraphReport): Response =>
  new Response(draw(report), { headers: { ...Json.noStore.headers, "content-type": `${type}; charset=utf-8` } })

/** The response formats of a graph. */
const forms = {
  json: (report: GraphReport) => Json.uncached(Codec.encode(Endpoints.graph.answer, report)),
  dot: text("text/vnd.graphviz", Drawing.dot),
  mermaid: text("text/vnd.mermaid", Drawing.mermaid)
}

/**
 * Adds the routes to a table.
 */
export const routes = (table: SpaceTable): void => {
  table.ofSpace(Endpoints.graph, ({ graph, name }, { query: { format = "json", ...page } }) =>
    Effect.map(graph.page(page), (report) => {
      const response = forms[format](report)
      const path = Endpoints.graph.path.replace(":space", name)
      const next = `${path}?format=${format}&limit=${page.limit}&after=${report.next}`
      if (report.next !== undefined) response.headers.set("link", `<${next}>; rel="next"`)
      return response
    }))
  table.ofSpace(Endpoints.trace, ({ graph }) => graph.traces)
  table.ofSpace(Endpoints.setTrace, ({ graph }, { body }) => Effect.as(graph.trace(body.kinds), body))
}
