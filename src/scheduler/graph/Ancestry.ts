/**
 * Ancestry: the transitive sources of derived places.
 *
 * The merge of a beat asks for origins, after all runs and before the pass. The graph does
 * not change meanwhile, so each answer is cached. The other questions come during the runs. The edges of a node are the reads of
 * its newest run. The reads of a node's creators count as its sources.
 *
 * @module
 */
import type * as Address from "../../cell/Address.ts"
import { type EarlierChange, type Depth, derives, type Lineage, type Origins, type Place } from "../../stage/write/ReadLog.ts"
import * as Flag from "./Flag.ts"
import type { Graph } from "./Graph.ts"
import type { Location, Node } from "./Node.ts"

const { NEVER_RAN } = Flag

/**
 * The ancestry of the places of one graph, for one beat.
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
      origins = originsOf(upstreamOf(this.graph, writersAt(this.graph, read, depth)))
      this.known.set(name, origins)
    }
    return origins
  }

  get writers(): number {
    return this.graph.writers
  }

  isDerived({ address, depth }: Place): boolean {
    return this.graph.isDerived(address, depth)
  }

  noticed(changes: ReadonlyArray<EarlierChange>): ReadonlyArray<EarlierChange> {
    const { locations } = this.graph
    return changes.filter(({ address: { key }, isListed }) => {
      const root = locations.known(key)
      if (root !== undefined && this.graph.edgesTo(root).next().done === false) return true
      return isListed && locations.listings > 0 && locations.listing({ key })?.firstReader !== undefined
    })
  }

  covers({ address, depth }: Place, changes: ReadonlyArray<EarlierChange>): boolean {
    const { graph } = this
    const writers = writersAt(graph, address, depth)
    // Without a change, the writers alone are looked at, which costs nothing upstream.
    const nodes = changes.length === 0 ? new Set(writers) : upstreamOf(graph, writers)
    if ([...nodes].some(hasNeverRun)) return true
    const origins = originsOf(nodes)
    return changes.some((changed) => derives(origins, changed))
  }
}

/** The nodes that may write at an address. */
const writersAt = (graph: Graph, address: Address.Address, depth: Depth): ReadonlyArray<Node> => {
  const roots = depth === "children" ? [...graph.locations.below(address.key)] : [graph.locations.known(address.key)]
  const writers = roots.flatMap((root) => root?.writer ?? [])
  return [...writers, ...graph.writerIndex.at(address, depth)]
}

/** These nodes, their creators, and the nodes upstream of their reads. */
const upstreamOf = (graph: Graph, writers: ReadonlyArray<Node>): ReadonlySet<Node> => {
  const nodes = new Set(writers)
  const seen = new Set<Location>()
  for (const node of nodes) {
    if (node.parent !== undefined) nodes.add(node.parent)
    for (let edge = node.reads; edge !== undefined; edge = edge.nextRead) {
      const { location } = edge
      if (seen.has(location)) continue
      seen.add(location)
      for (const writer of graph.writersOf(location)) nodes.add(writer)
      for (const writer of graph.writerIndex.of(location)) nodes.add(writer)
    }
  }
  return nodes
}

/** All reads of these nodes. */
const originsOf = (nodes: Iterable<Node>): Origins => {
  const places = new Map<string, Array<Address.Path>>()
  const lists = new Set<string>()
  const seen = new Set<Location>()
  for (const node of nodes) {
    for (let edge = node.reads; edge !== undefined; edge = edge.nextRead) {
      const { location } = edge
      if (seen.has(location)) continue
      seen.add(location)
      const { extra, key } = location
      const known = places.get(key)
      if (extra?.depth === "children") lists.add(key)
      else if (known === undefined) places.set(key, [extra?.path ?? []])
      else known.push(extra?.path ?? [])
    }
  }
  return { places, lists }
}

const hasNeverRun = ({ flags }: Node): boolean => (flags & NEVER_RAN) !== 0
