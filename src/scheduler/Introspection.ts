/**
 * Introspection: what the graph looks like from outside.
 *
 * It reads the records and changes nothing, so that looking never changes what
 * runs. (Seed 002, P10 and section 12.)
 *
 * @module
 */
import { eligibleAt } from "./Gates.ts"
import type { Graph } from "./Graph.ts"
import { textOf } from "./Locations.ts"
import { isLive, NEVER_RAN, type Node, UNSETTLED } from "./Node.ts"
import type { Registry } from "./Registry.ts"

/** One node, as it stands. */
export interface NodeView {
  readonly name: string
  readonly kind: "computation" | "effect" | "materializer"
  readonly status: "never-ran" | "clean" | "invalid"
  readonly live: boolean
  readonly liveRefs: number
  readonly level: number
  readonly ordinal: number
  readonly parent: string | undefined
  readonly outputs: ReadonlyArray<string>
  /** What it read in its newest run, in the order of its reads. */
  readonly reads: ReadonlyArray<string>
  /** What made it invalid. */
  readonly causes: ReadonlyArray<string>
  readonly runs: number
  /** When its gate opens, in milliseconds since 1970; 0 for one that holds nothing back. */
  readonly eligibleAt: number
  /** Passes in a row in which it did not come to rest. */
  readonly streak: number
  /** Why its newest run failed. */
  readonly error: string | undefined
}

const kinds = { Computation: "computation", Effect: "effect", Materializer: "materializer" } as const

/** All nodes, by ordinal. */
export const snapshot = (registry: Registry, graph: Graph): ReadonlyArray<NodeView> =>
  [...registry.values()].sort((a, b) => a.ordinal - b.ordinal).map((node) => view(node, graph))

/** One node. */
export const view = (node: Node, graph: Graph): NodeView => {
  const reads: Array<string> = []
  for (let edge = node.reads; edge !== undefined; edge = edge.nextRead) reads.push(textOf(edge.location))
  const { error } = node.run ?? {}
  return {
    name: node.definition.name,
    kind: kinds[node.definition._tag],
    status: (node.flags & UNSETTLED) === 0 ? "clean" : (node.flags & NEVER_RAN) === 0 ? "invalid" : "never-ran",
    live: isLive(node),
    liveRefs: node.liveRefs,
    level: node.level,
    ordinal: node.ordinal,
    parent: node.parent?.definition.name,
    outputs: graph.outputsOf(node).map(({ key }) => key),
    reads,
    causes: causesOf(node),
    runs: node.run?.runs ?? 0,
    eligibleAt: eligibleAt(node),
    streak: node.gate?.streak ?? 0,
    error: error instanceof Error ? error.message : error === undefined ? undefined : String(error)
  }
}

/** The addresses whose changes are the reasons for a node's next run, or for the one that is under way. */
export const causesOf = (node: Node): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (let edge = node.reads; edge !== undefined; edge = edge.nextRead) {
    if (edge.cause > (node.run?.since ?? Number.POSITIVE_INFINITY)) found.add(textOf(edge.location))
  }
  return [...found]
}
