/**
 * Introspection: read-only views of the graph.
 *
 * Views read the records and change no state, so they never affect runs. [S2 §2 P10,
 * §12]
 *
 * @module
 */
import type * as Inspection from "../../contract/Inspection.ts"
import { codeOf } from "../../registry/Outcome.ts"
import * as Flag from "../graph/Flag.ts"
import { eligibleAt, heldBy } from "../graph/Gates.ts"
import type { Graph } from "../graph/Graph.ts"
import { textOf } from "../graph/Locations.ts"
import type { Node } from "../graph/Node.ts"
import * as Reads from "../graph/Reads.ts"
import type { Registry } from "../graph/Registry.ts"

const { NEVER_RAN, UNSETTLED } = Flag

/** The state of one node. */
export type NodeView = ReturnType<typeof Inspection.node>["Type"]

/** An edge from a writer to a reader. */
export type EdgeView = ReturnType<typeof Inspection.edge>["Type"]

/** The state of the whole graph. */
export interface GraphView {
  readonly nodes: ReadonlyArray<NodeView>
  readonly edges: ReadonlyArray<EdgeView>
}

/** A request for a page: the ordinal of the last node before it, and the most nodes and rows. */
export interface GraphRequest {
  readonly after?: number | undefined
  readonly limit: number
  /** The most nodes, outputs, reads and edges that it looks at. */
  readonly rows: number
}

/** Some nodes with the edges to them, and the ordinal to continue after; `undefined` at the end. */
export interface GraphPage extends GraphView {
  readonly next: number | undefined
}

/** The most outputs, reads and edges of one node on a page. */
export const MAX_PARTS = 100

/** Counts of nodes by state. */
export type Stats = ReturnType<typeof Inspection.stats>["Type"]

/** A notable property of a node. */
export type Finding = ReturnType<typeof Inspection.finding>["Type"]

const kinds = { Computation: "computation", Effect: "effect", Materializer: "materializer" } as const

/** All nodes, by ordinal. */
export const snapshot = (registry: Registry, graph: Graph): ReadonlyArray<NodeView> =>
  [...registry.values()].sort((a, b) => a.ordinal - b.ordinal).map((node) => view(node, graph))

/** One node, with at most so many of its outputs, reads and causes. */
export const view = (node: Node, graph: Graph, most = Number.POSITIVE_INFINITY): NodeView => {
  const { error } = node.run ?? {}
  return {
    name: node.definition.name,
    kind: kinds[node.definition._tag],
    status: statusOf(node),
    live: node.isLive,
    liveRefs: node.liveRefs,
    level: node.level,
    ordinal: node.ordinal,
    parent: node.parent?.definition.name,
    outputs: graph.outputsOf(node).slice(0, most).map(({ key }) => key),
    reads: Reads.of(node, most).map(Reads.textOf),
    causes: Reads.causesOf(node, most),
    runs: node.run?.runs ?? 0,
    eligibleAt: eligibleAt(node),
    heldBy: heldBy(node),
    streak: node.gate?.streak ?? 0,
    episodes: node.gate?.episodes ?? 0,
    error: error instanceof Error ? error.message : error === undefined ? undefined : String(error),
    code: error === undefined ? undefined : codeOf(error)
  }
}

const statusOf = ({ flags, run }: Node): NodeView["status"] => {
  if ((flags & UNSETTLED) !== 0) return (flags & NEVER_RAN) === 0 ? "invalid" : "never-ran"
  return run?.error === undefined ? "clean" : "failed"
}

/** All nodes and edges. */
export const graphOf = (registry: Registry, graph: Graph): GraphView => {
  const edges = Array.from(registry.values()).flatMap((reader) => edgesTo(reader, graph))
  return { nodes: snapshot(registry, graph), edges }
}

/** Some nodes by ordinal, with the edges to them. It looks at a bounded number of rows, and at one node at least. */
export const page = (registry: Registry, graph: Graph, { after = -1, limit, rows }: GraphRequest): GraphPage => {
  const nodes: Array<NodeView> = []
  const edges: Array<EdgeView> = []
  let looked = 0
  for (const node of Array.from(registry.values()).filter(({ ordinal }) => ordinal > after).sort((a, b) => a.ordinal - b.ordinal)) {
    const cost = costOf(node, graph)
    if (nodes.length >= limit || nodes.length > 0 && looked + cost > rows) return { nodes, edges, next: nodes.at(-1)?.ordinal }
    looked += cost
    nodes.push(view(node, graph, MAX_PARTS))
    edges.push(...edgesTo(node, graph, MAX_PARTS))
  }
  return { nodes, edges, next: undefined }
}

/** The rows of a node on a page: itself, its outputs, its reads, and an edge for most reads. */
const costOf = (node: Node, graph: Graph): number => {
  let reads = 0
  for (let edge = node.reads; edge !== undefined && reads < MAX_PARTS; edge = edge.nextRead) reads++
  return 1 + Math.min(graph.outputsOf(node).length, MAX_PARTS) + 2 * reads
}

/** At most so many edges to a node. */
const edgesTo = (reader: Node, graph: Graph, most = Number.POSITIVE_INFINITY): ReadonlyArray<EdgeView> => {
  const edges: Array<EdgeView> = []
  for (let edge = reader.reads; edge !== undefined; edge = edge.nextRead) {
    const address = textOf(edge.location)
    for (const writer of [...graph.writersOf(edge.location), ...graph.writerIndex.of(edge.location)]) {
      if (edges.length >= most) return edges
      if (writer !== reader) edges.push({ from: writer.definition.name, to: reader.definition.name, address, back: edge.back })
    }
  }
  return edges
}

/** The statistics of a graph. */
export const stats = ({ edges, nodes }: GraphView): Stats => {
  const count = (holds: (node: NodeView) => boolean): number => nodes.reduce((sum, node) => sum + (holds(node) ? 1 : 0), 0)
  return {
    nodes: nodes.length,
    edges: edges.length,
    live: count(({ live }) => live),
    clean: count(({ status }) => status === "clean"),
    invalid: count(({ status }) => status === "invalid"),
    neverRan: count(({ status }) => status === "never-ran"),
    failed: count(({ error }) => error !== undefined),
    restless: count(({ streak }) => streak > 0),
    runs: nodes.reduce((sum, { runs }) => sum + runs, 0)
  }
}

/** The findings of a graph, in the order of its nodes. */
export const diagnose = ({ edges, nodes }: GraphView): ReadonlyArray<Finding> => {
  const cyclic = new Map(edges.flatMap((edge) => edge.back ? [[edge.to, edge] as const] : []))
  return nodes.flatMap((node) => symptoms.flatMap(({ code, reason }): ReadonlyArray<Finding> => {
    const said = reason(node, cyclic.get(node.name))
    return said === undefined ? [] : [{ node: node.name, code, reason: said }]
  }))
}

/** A possible finding, with its text for a node. */
interface Symptom {
  readonly code: Finding["code"]
  readonly reason: (node: NodeView, cycle: EdgeView | undefined) => string | undefined
}

/** The possible findings, with their texts. */
const symptoms: ReadonlyArray<Symptom> = [
  { code: "node/failed", reason: ({ error }) => error && `its newest run failed, and it derives nothing new: ${error}` },
  {
    code: "node/restless",
    reason: ({ causes, streak }) => {
      const passes = `${streak} passes in a row`
      return streak === 0
        ? undefined
        : `it did not come to rest in ${passes} and is put off; what changes again and again is ${causes.join(", ")}`
    }
  },
  {
    code: "node/cycle",
    reason: (_, cycle) => cycle && `it reads ${cycle.address}, which "${cycle.from}" derives from what it derives itself`
  },
  {
    code: "node/held",
    reason: ({ eligibleAt, heldBy, live, status }) => {
      const isAtRest = status === "clean" || status === "failed"
      return isAtRest || !live || heldBy === undefined ? undefined : `it has to run, and its ${heldBy} holds it back until ${eligibleAt}`
    }
  },
  { code: "node/dormant", reason: ({ live }) => live ? undefined : "nobody reads what it derives, so it does not run" }
]
