/**
 * Renumbering of levels.
 *
 * Levels only rise while nodes run, which is cheap and keeps the queue ordered. Nodes
 * that alternately read each other raise each other without end. Between passes, levels
 * far above the depth of the graph are therefore reset to that depth. All runs that
 * raised them share the cost. [S2 §5]
 *
 * @module
 */
import type { Graph } from "./Graph.ts"
import type { Node } from "./Node.ts"

/** Most that levels may exceed twice the depth of the graph before they are renumbered. */
const SLACK = 1000

/**
 * The levels of one graph.
 */
export class Levels {
  private readonly graph: Graph
  private roof = SLACK

  constructor(graph: Graph) {
    this.graph = graph
  }

  /** The pass is over: renumbers levels that rose too far. */
  settled(): void {
    const { graph } = this
    if (graph.height <= this.roof) return
    graph.height = renumber(graph)
    this.roof = 2 * graph.height + SLACK
  }

  /** Whether a node reads the output of another one, directly or through further nodes and their creators. */
  dependsOn(reader: Node, writer: Node): boolean {
    const seen = new Set<Node>([reader])
    for (const node of seen) {
      if (node === writer) return true
      // If creators wait for each other's children, none of these is moved before its own creator.
      if (node.parent !== undefined) seen.add(node.parent)
      if (node.level < writer.level) continue
      for (let edge = node.reads; edge !== undefined; edge = edge.nextRead) {
        for (const above of this.graph.writersOf(edge.location)) seen.add(above)
      }
    }
    return false
  }
}

/** Sets each node one above its highest writer, ignoring edges that close a cycle. Returns the highest level. */
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
      const left = missing.get(reader)
      if (left === undefined) continue
      missing.set(reader, left - 1)
      if (left === 1) ready.push(reader)
    }
  }
  return height
}

/** Number of edges from writers to a node. */
const writersAbove = (graph: Graph, node: Node): number => {
  let above = 0
  for (let edge = node.reads; edge !== undefined; edge = edge.nextRead) {
    if (!edge.back) for (const writer of graph.writersOf(edge.location)) if (writer !== node) above++
  }
  return above
}

/** All nodes that write or read a place. */
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
