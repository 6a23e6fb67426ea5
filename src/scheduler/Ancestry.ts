/**
 * Ancestry: the transitive sources of derived places.
 *
 * The merge of a beat asks for it, after all runs and before the pass. The graph does
 * not change meanwhile, so each answer is cached. The edges of a node are the reads of
 * its newest run. The reads of a node's creators count as its sources.
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

/** The nodes that may write at an address. */
const writersAt = (graph: Graph, address: Address.Address, depth: Depth): ReadonlyArray<Node> => {
  const roots = depth === "children" ? [...graph.locations.below(address.key)] : [graph.locations.known(address.key)]
  const writers = roots.flatMap((root) => root?.writer ?? [])
  return [...writers, ...graph.writerIndex.at(address, depth)]
}

/** All reads of these nodes, and of the nodes upstream of those reads. */
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
