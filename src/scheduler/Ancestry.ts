/**
 * Ancestry: what derived places derive from, transitively.
 *
 * The merge of a beat asks it, after all runs and before the pass, so the graph
 * stands still while it is asked and each answer is kept for that long. The
 * edges of a node are what its newest run read; what the creators of a node read
 * is part of what the node is. (Architecture, section 3, "Isolation".)
 *
 * @module
 */
import type * as Address from "../cell/Address.ts"
import type { Depth, Lineage, Origins } from "../stage/ReadLog.ts"
import type { Graph } from "./Graph.ts"
import type { Location, Node } from "./Node.ts"

/**
 * The ancestry of the places of one graph, for one beat.
 *
 * @category models
 * @since 0.1.0
 */
export class Ancestry implements Lineage {
  private readonly graph: Graph
  private known: Map<string, Origins> | undefined

  constructor(graph: Graph) {
    this.graph = graph
  }

  origins(read: Address.Address, depth: Depth): Origins | undefined {
    if (!this.graph.isDerived(read, depth)) return undefined
    this.known ??= new Map()
    const name = depth === "children" ? `${read.text}/*` : read.text
    let origins = this.known.get(name)
    if (origins === undefined) {
      origins = originsOf(this.graph, writersAt(this.graph, read, depth))
      this.known.set(name, origins)
    }
    return origins
  }
}

/** The nodes that may decide what is at an address. */
const writersAt = (graph: Graph, address: Address.Address, depth: Depth): ReadonlyArray<Node> => {
  const roots = depth === "children" ? [...graph.locations.below(address.key)] : [graph.locations.known(address.key)]
  const writers = roots.flatMap((root) => root?.writer ?? [])
  return [...writers, ...graph.writerIndex.at(address, depth)]
}

/** All that these nodes read, and what the nodes read that decide that. */
const originsOf = (graph: Graph, writers: ReadonlyArray<Node>): Origins => {
  const places = new Map<string, Array<Address.Path>>()
  const lists = new Set<string>()
  const nodes = new Set(writers)
  const seen = new Set<Location>()
  for (const node of nodes) {
    if (node.parent !== undefined) nodes.add(node.parent)
    for (let edge = node.reads; edge !== undefined; edge = edge.nextRead) {
      const { location } = edge
      if (seen.has(location)) continue
      seen.add(location)
      const { extra, key } = location
      const known = places.get(key)
      if (extra?.depth === "children") lists.add(key)
      else if (known === undefined) places.set(key, [extra?.path ?? []])
      else known.push(extra?.path ?? [])
      for (const writer of graph.writersOf(location)) nodes.add(writer)
      for (const writer of graph.writerIndex.of(location)) nodes.add(writer)
    }
  }
  return { places, lists }
}
