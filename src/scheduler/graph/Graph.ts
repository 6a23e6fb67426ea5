/**
 * The graph: the readers and the writer of each place, and the demand for them.
 *
 * Levels rise along edges, except along an edge that closes a cycle. Such an edge is
 * marked, and a lost demand recounts a region only while there is one. Counts are
 * maintained incrementally, and equal those of a full count. [S2 §5, §6]
 *
 * @module
 */
import type * as Address from "../../cell/Address.ts"
import type { Labels } from "../../stage/Labels.ts"
import { WriterIndex } from "./WriterIndex.ts"
import * as Flag from "./Flag.ts"
import type { BaseState } from "./Locations.ts"
import { Locations } from "./Locations.ts"
import { type Depth, Edge, extraOf, type Location, type Node, type NodeRun, rootOf, type Watcher } from "./Node.ts"
import type { Queue } from "./Queue.ts"
import type { DemandPolicy } from "./DemandPolicy.ts"

const { KEPT, MATERIALIZER, ROOT, UNSETTLED } = Flag

const nobody: ReadonlyArray<Node> = []

/** Records changes of nodes within a beat, so that an abort can revert them. */
export interface ChangeObserver {
  /** A node is about to run. */
  readonly runs: (run: NodeRun) => void
  /** A run started the node. `isKnown` is whether there was one of its name before. */
  readonly starts: (node: Node, isKnown: boolean) => void
  /** The node is about to get another definition. */
  readonly renews: (node: Node) => void
  /** A computation is about to become an effect. */
  readonly promotes: (node: Node) => void
  /** The node is about to be removed. */
  readonly leaves: (node: Node) => void
}

/** The place of an edge in a read set. */
interface Place {
  readonly after: Edge | undefined
  readonly before: Edge | undefined
  readonly isPassive?: boolean
}

/**
 * Locations, nodes, and the edges between them.
 */
export class Graph {
  readonly locations: Locations
  private readonly queue: Queue
  /** Counts changes. A node found up to date stays so until the next change. */
  clock = 0
  /** The clock of the last change of edges, writers or gates. Later, the upstream closure of a node may differ. */
  shape = 0
  /** Called after each run, with the documents that it wrote beside its output. */
  told: ((run: NodeRun, keys: ReadonlyArray<string>) => void) | undefined
  /** Whether runs record their causes. */
  explains = false
  /** Called before each run, if runs are explained. */
  before: ((run: NodeRun) => void) | undefined
  /** Called when runs take and leave the thread. */
  watched: Watcher | undefined
  /** Records changes for an abort of the beat. */
  noted: ChangeObserver | undefined
  /** The labels of the space, if it has any; and the policy of demand by them. */
  labels: Labels | undefined
  demandPolicy: DemandPolicy | undefined
  /** Edges that close a cycle. */
  private readonly backs = new Set<Edge>()
  /** The highest level since the last renumbering. */
  height = 0
  readonly writerIndex: WriterIndex
  /** Counts additions and removals of writers, and changes of labels. */
  writers = 0

  constructor(base: BaseState, queue: Queue) {
    this.locations = new Locations(base)
    this.queue = queue
    this.writerIndex = new WriterIndex(this.locations)
  }

  /** Whether an edge closes a cycle. */
  get isCyclic(): boolean {
    return this.backs.size > 0
  }

  /** Makes a node the writer of a document. Live readers of it give the node their demand. */
  addWriter(node: Node, location: Location): void {
    location.writer = node
    this.shape = ++this.clock
    this.writers++
    for (const edge of this.edgesTo(location)) {
      if (edge.reader === node) continue
      this.raise(node, edge)
      if (!edge.isPassive && edge.reader.isLive) this.grant(node)
    }
  }

  /** Removes a node from all documents that it writes. */
  removeWriter(node: Node): void {
    this.shape = ++this.clock
    this.writers++
    for (const location of this.outputsOf(node)) {
      location.writer = undefined
      this.locations.leave(location)
      for (const edge of this.edgesTo(location)) {
        if (!edge.back || edge.location.extra?.depth === "children") continue
        edge.back = false
        this.backs.delete(edge)
      }
    }
    if (this.isCyclic) this.straighten()
  }

  /** Adds an edge between the edge read before and the next one. */
  link(reader: Node, location: Location, { after, before, isPassive = false }: Place): Edge {
    const edge = new Edge(reader, location, { next: before, isPassive })
    this.shape = this.clock
    reader.flags &= ~KEPT
    if (after === undefined) reader.reads = edge
    else after.nextRead = edge
    const last = location.lastReader
    edge.previousReader = last
    if (last === undefined) location.firstReader = edge
    else last.nextReader = edge
    location.lastReader = edge
    if (location.extra?.depth === "children") {
      for (const writer of this.writersBelow(location)) this.join(writer, edge)
    } else {
      const { writer } = rootOf(location)
      if (writer !== undefined) this.join(writer, edge)
    }
    return edge
  }

  private join(writer: Node, edge: Edge): void {
    if (writer === edge.reader) return
    this.raise(writer, edge)
    if (!edge.isPassive && edge.reader.isLive) this.grant(writer)
  }

  /** Has an edge carry demand from now on, or none. */
  turn(edge: Edge, isPassive: boolean): void {
    const { isPassive: wasPassive, location, reader } = edge
    if (wasPassive === isPassive) return
    this.shape = ++this.clock
    reader.flags &= ~KEPT
    edge.isPassive = isPassive
    if (!reader.isLive) return
    for (const writer of this.writersOf(location)) {
      if (writer === reader) continue
      if (isPassive) this.withdraw(writer, this.isCyclic)
      else this.grant(writer)
    }
  }

  /** Removes an edge from its location's readers. The caller removes it from the reader's list. */
  unlink(edge: Edge): void {
    const { location, nextReader, previousReader, reader } = edge
    this.shape = this.clock
    reader.flags &= ~KEPT
    if (previousReader === undefined) location.firstReader = nextReader
    else previousReader.nextReader = nextReader
    if (nextReader === undefined) location.lastReader = previousReader
    else nextReader.previousReader = previousReader
    const wasCyclic = this.isCyclic
    if (edge.back) this.backs.delete(edge)
    if (!edge.isPassive && reader.isLive) {
      if (location.extra?.depth === "children") {
        for (const writer of this.writersBelow(location)) if (writer !== reader) this.withdraw(writer, wasCyclic)
      } else {
        const { writer } = rootOf(location)
        if (writer !== undefined && writer !== reader) this.withdraw(writer, wasCyclic)
      }
    }
    if (this.isCyclic && !edge.back) this.straighten()
    // A waiting run may be about to read it, so it is swept only after the settle.
    if (location.firstReader === undefined) this.locations.leave(location)
  }

  /** The nodes whose outputs determine the value of a location. */
  writersOf(location: Location): ReadonlyArray<Node> {
    if (location.extra?.depth === "children") return this.writersBelow(location)
    const { writer } = rootOf(location)
    return writer === undefined ? nobody : [writer]
  }

  /** The writers of the documents directly below a cell. Cached until writers change. */
  private writersBelow(location: Location): ReadonlyArray<Node> {
    const extra = extraOf(location)
    if (extra.belowAt === this.writers) return extra.below
    const found: Array<Node> = []
    for (const root of this.locations.below(location.key)) if (root.writer !== undefined) found.push(root.writer)
    extra.below = found
    extra.belowAt = this.writers
    return found
  }

  /** Raises the reader of an edge above the writer, with all nodes downstream. An edge that closes a cycle raises none. */
  private raise(writer: Node, edge: Edge): void {
    const { reader } = edge
    if (reader.level <= writer.level) this.lift(reader, writer.level + 1, edge)
  }

  /** Raises the level of a node, and of all nodes downstream. Reaching `edge` again means that it closes a cycle. */
  lift(start: Node, level: number, edge?: Edge): void {
    const lifted: Array<Node> = [start]
    start.level = level
    for (let node = lifted.pop(); node !== undefined; node = lifted.pop()) {
      for (const next of this.readersOf(node)) {
        if (next.back || next.reader === node || next.reader.level > node.level) continue
        if (next === edge) {
          // The reader's own value determines this read.
          next.back = true
          this.backs.add(next)
          continue
        }
        next.reader.level = node.level + 1
        lifted.push(next.reader)
      }
      if (node.level > this.height) this.height = node.level
    }
  }

  /** Edges that no longer close a cycle raise their readers again. This only adds paths, so one check of each edge suffices. */
  private straighten(): void {
    const closing = [...this.backs]
    for (const edge of closing) {
      const writers = this.writersOf(edge.location)
      if (writers.some((writer) => this.isBelow(edge.reader, writer))) continue
      edge.back = false
      this.backs.delete(edge)
      for (const writer of writers) if (writer !== edge.reader) this.raise(writer, edge)
    }
  }

  /** Whether `upper` is downstream of `lower`, ignoring edges that close a cycle. */
  private isBelow(lower: Node, upper: Node): boolean {
    const seen = new Set<Node>([lower])
    for (const node of seen) {
      for (const { back, reader } of this.readersOf(node)) {
        if (back || reader === node || reader.level > upper.level) continue
        if (reader === upper) return true
        seen.add(reader)
      }
    }
    return false
  }

  /** The edges from a node's outputs to their readers. A removed node has no outputs, even while a run of it is in progress. */
  *readersOf(node: Node): Generator<Edge> {
    for (const location of this.outputsOf(node)) if (location.writer === node) yield* this.edgesTo(location)
  }

  /** The edges without demand to the outputs of a node, or to the places that a materializer may write. */
  *passiveReadersOf(node: Node): Generator<Edge> {
    const isMaterializer = (node.flags & MATERIALIZER) !== 0
    for (const root of isMaterializer ? this.locations.values() : this.outputsOf(node)) {
      for (const edge of this.edgesTo(root)) {
        if (edge.isPassive && (isMaterializer ? this.writerIndex.of(edge.location).includes(node) : root.writer === node)) yield edge
      }
    }
  }

  /** The edges of all readers of a document, of a part of it, or of the list of names that contains it. */
  *edgesTo(root: Location): Generator<Edge> {
    for (let edge = root.firstReader; edge !== undefined; edge = edge.nextReader) yield edge
    for (const part of root.extra?.parts ?? []) {
      if (part.extra.depth === "children") continue
      for (let edge = part.firstReader; edge !== undefined; edge = edge.nextReader) yield edge
    }
    if (this.locations.listings === 0) return
    const listing = this.locations.listing(root)
    for (let edge = listing?.firstReader; edge !== undefined; edge = edge.nextReader) yield edge
  }

  /** The documents of which a node is the writer. */
  outputsOf(node: Node): ReadonlyArray<Location> {
    if (node.output === undefined) return []
    const { writes } = node.definition
    return writes.length === 0 ? [node.output] : [node.output, ...writes.map((key) => this.locations.root(key))]
  }

  /** Adds a live reader. A node that becomes live demands its sources, and is queued if invalid. */
  grant(writer: Node): void {
    if (writer.isLive) writer.liveRefs++
    else {
      writer.liveRefs++
      this.activate(writer)
    }
  }

  /** A node became live: queues it if invalid, and adds a live reader to its writers. */
  activate(start: Node): void {
    const active: Array<Node> = [start]
    const above: Array<Node> = []
    for (let node = active.pop(); node !== undefined; node = active.pop()) {
      if ((node.flags & UNSETTLED) !== 0) this.queue.push(node)
      this.upstream(node, above)
      for (let writer = above.pop(); writer !== undefined; writer = above.pop()) {
        if (!writer.isLive) active.push(writer)
        writer.liveRefs++
      }
    }
  }

  /** Removes a live reader. */
  private withdraw(writer: Node, isCyclic: boolean): void {
    writer.liveRefs--
    if (isCyclic) this.recount(writer)
    else if (!writer.isLive) this.deactivate(writer)
  }

  /** A root gave up its own demand. It stays live only through its readers. */
  release(node: Node): void {
    if (node.isLive && !this.isCyclic) return
    if (this.isCyclic) this.recount(node)
    else this.deactivate(node)
  }

  private deactivate(start: Node): void {
    const passive: Array<Node> = [start]
    const above: Array<Node> = []
    for (let node = passive.pop(); node !== undefined; node = passive.pop()) {
      this.upstream(node, above)
      for (let writer = above.pop(); writer !== undefined; writer = above.pop()) {
        writer.liveRefs--
        if (!writer.isLive) passive.push(writer)
      }
    }
  }

  private upstream(node: Node, into: Array<Node>): void {
    for (let edge = node.reads; edge !== undefined; edge = edge.nextRead) {
      if (edge.isPassive) continue
      for (const writer of this.writersOf(edge.location)) if (writer !== node) into.push(writer)
    }
  }

  /** Recounts the demand of a node and its upstream closure, from live nodes outside. A cycle must not keep itself live. */
  private recount(start: Node): void {
    const region = new Set<Node>([start])
    for (const node of region) {
      const above: Array<Node> = []
      this.upstream(node, above)
      for (const writer of above) region.add(writer)
    }
    const live: Array<Node> = []
    for (const node of region) node.liveRefs = 0
    for (const node of region) {
      for (const edge of this.readersOf(node)) {
        if (!edge.isPassive && edge.reader !== node && !region.has(edge.reader) && edge.reader.isLive) node.liveRefs++
      }
      if (node.isLive) live.push(node)
    }
    // Nodes that are live by themselves demand in turn.
    for (let node = live.pop(); node !== undefined; node = live.pop()) {
      const above: Array<Node> = []
      this.upstream(node, above)
      for (const writer of above) {
        if (writer.liveRefs++ === 0 && (writer.flags & ROOT) === 0) live.push(writer)
      }
    }
  }

  /** Adds a materializer. */
  cover(node: Node): void {
    this.shape = ++this.clock
    this.writers++
    this.writerIndex.add(node)
  }

  uncover(node: Node): void {
    this.shape = ++this.clock
    this.writers++
    this.writerIndex.remove(node)
  }

  /** Whether a node may write at an address. Caches no result. */
  isDerived(address: Address.Address, depth: Depth): boolean {
    if (depth === "children") {
      for (const { writer } of this.locations.below(address.key)) if (writer !== undefined) return true
    } else if (this.locations.known(address.key)?.writer !== undefined) return true
    return this.writerIndex.has(address, depth)
  }
}
