/**
 * Passive edges: edges that lose their demand, because a node was taken in or the labels
 * are others.
 *
 * A run registers its reads as passive or not while it is under way. Changes
 * between runs are looked at here.
 *
 * @module
 */
import { isSilent } from "../../stage/Labels.ts"
import * as Flag from "../graph/Flag.ts"
import type { Graph } from "../graph/Graph.ts"
import type { Invalidation } from "../graph/Invalidation.ts"
import type { Edge, Node } from "../graph/Node.ts"
import type { Resumption } from "./Resumption.ts"

const { NEVER_RAN } = Flag

/** The parts of a scheduler that passive edges concern. */
interface SchedulerParts {
  readonly graph: Graph
  readonly invalidation: Invalidation
}

/**
 * A node was taken in: edges that are there already carry no demand that is barred.
 * Their readers run again, and register the sources instead. So do the readers
 * without demand of a place that a new node writes.
 */
export const admit = (parts: SchedulerParts & { readonly resumption: Resumption }, node: Node): void => {
  const { graph, invalidation, resumption } = parts
  if (graph.demandPolicy === undefined) return
  if ((node.flags & NEVER_RAN) !== 0) invalidation.replacedWriter(node, (reader) => resumption.isUnverified(reader))
  for (const edge of graph.readersOf(node)) check(parts, edge, node)
  for (let edge = node.reads; edge !== undefined; edge = edge.nextRead) {
    for (const writer of graph.writersOf(edge.location)) check(parts, edge, writer)
  }
}

const check = ({ graph, invalidation }: SchedulerParts, edge: Edge, writer: Node): void => {
  const { isPassive, reader } = edge
  if (isPassive || reader === writer) return
  // The demand of an effect depends on the order of its reads, which is known only while it runs. One that comes back stands as it did.
  if (isSilent(reader.definition) && (writer.flags & NEVER_RAN) === 0) return
  if (graph.demandPolicy?.bars(reader, writer) !== true) return
  graph.turn(edge, true)
  invalidation.lost(reader)
}

/** The nodes that write the reads of a node without demand, or may write them. */
export const writersOf = ({ reads }: Node, graph: Graph): ReadonlySet<Node> => {
  const found = new Set<Node>()
  for (let edge = reads; edge !== undefined; edge = edge.nextRead) {
    if (!edge.isPassive) continue
    for (const writer of graph.writersOf(edge.location)) found.add(writer)
    for (const writer of graph.writerIndex.of(edge.location)) found.add(writer)
  }
  return found
}

/** The labels are others: readers with demand that is barred now, or was until now, run again. */
export const renew = ({ graph, invalidation }: SchedulerParts, nodes: Iterable<Node>): void => {
  for (const node of nodes) {
    if (!isConcerned(graph, node)) continue
    for (let edge = node.reads; edge !== undefined; edge = edge.nextRead) graph.turn(edge, false)
    invalidation.lost(node)
  }
}

const isConcerned = (graph: Graph, node: Node): boolean => {
  for (let edge = node.reads; edge !== undefined; edge = edge.nextRead) {
    if (edge.isPassive || graph.writersOf(edge.location).some((writer) => graph.demandPolicy?.bars(node, writer) === true)) return true
  }
  return false
}
