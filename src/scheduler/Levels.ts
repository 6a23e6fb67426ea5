/**
 * Levels, counted anew.
 *
 * While nodes run, levels only rise: that is cheap, and keeps the queue in order.
 * Nodes that take turns in reading each other lift each other without end, so between
 * passes levels that rose far above what stands on what are set to that again. The
 * work is shared by all the runs that lifted them. (Seed 002, section 5.)
 *
 * @module
 */
import type { Graph } from "./Graph.ts"
import type { Node } from "./Node.ts"

/** How far levels may rise, beyond twice what stands on what, before they are counted anew. */
const SLACK = 1000

/**
 * The levels of one graph.
 *
 * @category models
 * @since 0.1.0
 */
export class Levels {
  private readonly graph: Graph
  private roof = SLACK

  constructor(graph: Graph) {
    this.graph = graph
  }

  /** The pass is over: sets levels anew where they rose too far. */
  settled(): void {
    const { graph } = this
    if (graph.height <= this.roof) return
    graph.height = renumber(graph)
    this.roof = 2 * graph.height + SLACK
  }
}

/** Sets each node one above the highest writer that it reads, edges that close a cycle aside; answers the highest level. */
const renumber = (graph: Graph): number => {
  const missing = new Map<Node, number>()
  const ready: Array<Node> = []
  for (const node of nodesOf(graph)) {
    const above = writersAbove(graph, node)
    node.level = 0
    missing.set(node, above)
    if (above === 0) ready.push(node)
  }
  let height = 0
  for (const node of ready) {
    if (node.level > height) height = node.level
    for (const { back, reader } of graph.readersOf(node)) {
      if (back || reader === node) continue
      if (reader.level <= node.level) reader.level = node.level + 1
      const left = missing.get(reader)! - 1
      missing.set(reader, left)
      if (left === 0) ready.push(reader)
    }
  }
  return height
}

/** How many times others stand below a node. */
const writersAbove = (graph: Graph, node: Node): number => {
  let above = 0
  for (let edge = node.reads; edge !== undefined; edge = edge.nextRead) {
    if (!edge.back) for (const writer of graph.writersOf(edge.location)) if (writer !== node) above++
  }
  return above
}

/** All nodes that write or read something. */
const nodesOf = ({ locations }: Graph): ReadonlySet<Node> => {
  const found = new Set<Node>()
  for (const root of locations.values()) {
    if (root.writer !== undefined) found.add(root.writer)
    for (const location of [root, ...root.extra?.parts ?? []]) {
      for (let edge = location.firstReader; edge !== undefined; edge = edge.nextReader) found.add(edge.reader)
    }
  }
  return found
}
