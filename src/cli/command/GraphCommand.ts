/**
 * `systole graph`: prints the nodes of a space, their edges and the findings of the analysis.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Printable from "../../diagnostic/Printable.ts"
import type { GraphReport } from "../../kernel/view/Space.ts"
import * as Drawing from "../../scheduler/view/Drawing.ts"
import * as Introspection from "../../scheduler/view/Introspection.ts"
import { Client } from "../Client.ts"
import * as Output from "../Output.ts"
import * as PageList from "../PageList.ts"
import * as SpaceArgument from "../SpaceArgument.ts"

const formats = ["table", "dot", "mermaid"] as const

/**
 * The command `graph`.
 */
export const command = Command.make("graph", {
  space: SpaceArgument.name,
  format: Flag.Literals("format", formats).pipe(
    Flag.withDescription("As a table, or for Graphviz or Mermaid to draw"),
    Flag.withDefault("table")
  ),
  json: Output.json
}, ({ format, json, space }) =>
  Effect.gen(function*() {
    const client = yield* Client
    const { isCut, rows } = yield* PageList.readPages((after) =>
      client.ask<GraphReport>(`${SpaceArgument.path(space)}/graph?${PageList.cursorParameter(after)}`).pipe(
        Effect.map((report) => ({ rows: [report], next: report.next }))
      ))
    const graph = { nodes: rows.flatMap(({ nodes }) => nodes), edges: rows.flatMap(({ edges }) => edges) }
    const report = { ...graph, stats: Introspection.stats(graph), findings: Introspection.diagnose(graph) }
    if (isCut) yield* Output.note(`there are more: these are the first ${graph.nodes.length} nodes, and a command reads no more`)
    yield* Output.data(json, report, draw[format](report))
  })).pipe(Command.withDescription("Show the nodes of a space, their reads, and findings"), Command.provide(Client.layer))

const table = ({ edges, findings, nodes, stats }: Omit<GraphReport, "next">): ReadonlyArray<string> => [
  ...Output.table(nodes.map(({ kind, live, name, outputs, runs, status }) =>
    [name, kind, status, live ? "live" : "dormant", Printable.count(runs, "run"), outputs.join(" ")])),
  ...edges.map(({ address, back, from, to }) => `${from} → ${to}  ${address}${back ? "  closes a cycle" : ""}`),
  ...findings.map(({ code, node, reason }) => `${node}: ${reason} (${code})`),
  [
    Printable.count(stats.nodes, "node"), Printable.count(stats.edges, "edge"), `${stats.live} live`,
    `${stats.invalid + stats.neverRan} to run`, Printable.count(stats.runs, "run")
  ].join(", ")
]

const draw = { table, dot: Drawing.dot, mermaid: Drawing.mermaid }
