/**
 * The graph: who reads what, who writes it, and whom demand reaches.
 *
 * Levels rise along edges, except where an edge closes a cycle; such an edge is
 * marked, and only while there is one does a withdrawal recount a region. Counts are kept
 * as edges come and go, and equal what counting all of them anew would give.
 * (Seed 002, sections 5 and 6; semantics, section 7.5.)
 *
 * @module
 */
import type * as Address from "../cell/Address.ts"
import type { Labels } from "../stage/Labels.ts"
import { WriterIndex } from "./WriterIndex.ts"
import * as Flag from "./Flag.ts"
import type { BaseState } from "./Locations.ts"
import { Locations } from "./Locations.ts"
import { type Depth, Edge, type Location, type Node, type NodeRun, rootOf, type Watcher } from "./Node.ts"
import type { Queue } from "./Queue.ts"

const { KEPT, ROOT, UNSETTLED } = Flag

const nobody: ReadonlyArray<Node> = []

/** Told of what a beat does to nodes, where it may have to be taken back. */
export interface Noted {
  /** A node is about to run. */
  readonly runs: (run: NodeRun) => void
  /** A run started it; whether there was one of its name before. */
  readonly starts: (node: Node, isKnown: boolean) => void
  /** It is about to go on under another definition. */
  readonly renews: (node: Node) => void
  /** A computation is about to become an effect. */
  readonly promotes: (node: Node) => void
  /** It is about to go. */
  readonly leaves: (node: Node) => void
}

/**
 * Locations, nodes, and the edges between them.
 *
 * @category models
 * @since 0.1.0
 */
export class Graph {
  readonly locations: Locations
  private readonly queue: Queue
  /** Counts changes, so that what was found up to date stays so until the next. */
  clock = 0
  /** The change up to which edges or writers last differed, or a node was put down: what lies above a node may be another lot since. */
  shape = 0
  /** Told of each run that ends, with the documents that it wrote beside its output, where somebody listens. */
  told: ((run: NodeRun, keys: ReadonlyArray<string>) => void) | undefined
  /** Whether each run is to know what changed before it. */
  explains = false
  /** Told before each run, where runs are explained. */
  before: ((run: NodeRun) => void) | undefined
  /** Told while runs have the thread. */
  watched: Watcher | undefined
  /** Takes down what is to be taken back where a beat is aborted. */
  noted: Noted | undefined
  /** The labels of the space, where it has any. */
  labels: Labels | undefined
  /** Edges that close a cycle. */
  private readonly backs = new Set<Edge>()
  /** The highest level since they were counted anew. */
  height = 0
  readonly writerIndex: WriterIndex
  /** Counts how often writers came or went. */
  private writers = 0

  constructor(base: BaseState, queue: Queue) {
    this.locations = new Locations(base)
    this.queue = queue
    this.writerIndex = new WriterIndex(this.locations)
  }

  /** Whether an edge closes a cycle. */
  get isCyclic(): boolean {
    return this.backs.size > 0
  }

  /** Makes a node the writer of a document; readers that are there already give it their demand. */
  addWriter(node: Node, location: Location): void {
    location.writer = node
    this.shape = ++this.clock
    this.writers++
    for (const edge of this.edgesTo(location)) {
      if (edge.reader === node) continue
      this.raise(node, edge)
      if (edge.reader.isLive) this.grant(node)
    }
  }

  /** Takes from a node all that it writes. */
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
  link(reader: Node, location: Location, { after, before }: { readonly after: Edge | undefined; readonly before: Edge | undefined }): Edge {
    const edge = new Edge(reader, location, before)
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
    if (edge.reader.isLive) this.grant(writer)
  }

  /** Takes an edge out of its location's readers; the reader's own list is the caller's business. */
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
    if (reader.isLive) {
      if (location.extra?.depth === "children") {
        for (const writer of this.writersBelow(location)) if (writer !== reader) this.withdraw(writer, wasCyclic)
      } else {
        const { writer } = rootOf(location)
        if (writer !== undefined && writer !== reader) this.withdraw(writer, wasCyclic)
      }
    }
    if (this.isCyclic && !edge.back) this.straighten()
    // A run that waits may be about to read it, so it is let go of when all is settled.
    if (location.firstReader === undefined) this.locations.leave(location)
  }

  /** The nodes whose outputs decide what a location holds. */
  writersOf(location: Location): ReadonlyArray<Node> {
    if (location.extra?.depth === "children") return this.writersBelow(location)
    const { writer } = rootOf(location)
    return writer === undefined ? nobody : [writer]
  }

  /** The writers of the documents directly below a cell; looked for again when writers came or went. */
  private writersBelow(location: Location): ReadonlyArray<Node> {
    const extra = location.extra!
    if (extra.belowAt === this.writers) return extra.below
    const found: Array<Node> = []
    for (const root of this.locations.below(location.key)) if (root.writer !== undefined) found.push(root.writer)
    extra.below = found
    extra.belowAt = this.writers
    return found
  }

  /** Lifts the reader of an edge above the writer, and all that stand on it; an edge that closes a cycle lifts nobody. */
  private raise(writer: Node, edge: Edge): void {
    const { reader } = edge
    if (reader.level <= writer.level) this.lift(reader, writer.level + 1, edge)
  }

  /** Puts a node higher, and above it all that stand on it. Where that comes back to the edge for which it is done, that closes a cycle. */
  lift(start: Node, level: number, edge?: Edge): void {
    const lifted: Array<Node> = [start]
    start.level = level
    for (let node = lifted.pop(); node !== undefined; node = lifted.pop()) {
      for (const next of this.readersOf(node)) {
        if (next.back || next.reader === node || next.reader.level > node.level) continue
        if (next === edge) {
          // Whatever it reads there, its own value is behind it.
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

  /** Edges that close no cycle any more lift their readers again. Paths are only added by that, so one look at each edge is enough. */
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

  /** Whether one node stands on another, edges that close cycles aside. */
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

  /** The edges from a node's outputs to their readers. A node that was removed writes nothing, though a run of it may still be under way. */
  *readersOf(node: Node): Generator<Edge> {
    for (const location of this.outputsOf(node)) if (location.writer === node) yield* this.edgesTo(location)
  }

  /** The edges of all who read a document, a part of it, or the list of names in which it stands. */
  *edgesTo(root: Location): Generator<Edge> {
    for (let edge = root.firstReader; edge !== undefined; edge = edge.nextReader) yield edge
    for (const part of root.extra?.parts ?? []) {
      if (part.extra!.depth === "children") continue
      for (let edge = part.firstReader; edge !== undefined; edge = edge.nextReader) yield edge
    }
    if (this.locations.listings === 0) return
    const listing = this.locations.listing(root)
    for (let edge = listing?.firstReader; edge !== undefined; edge = edge.nextReader) yield edge
  }

  /** The documents that a node alone writes. */
  outputsOf(node: Node): ReadonlyArray<Location> {
    if (node.output === undefined) return []
    const { writes } = node.definition
    return writes.length === 0 ? [node.output] : [node.output, ...writes.map((key) => this.locations.root(key))]
  }

  /** One more live reader. A node that becomes live demands what it read, and runs if it has to. */
  grant(writer: Node): void {
    if (writer.isLive) writer.liveRefs++
    else {
      writer.liveRefs++
      this.activate(writer)
    }
  }

  /** A node became live: it runs if it has to, and its writers gain a reader each. */
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

  /** One live reader less. */
  private withdraw(writer: Node, isCyclic: boolean): void {
    writer.liveRefs--
    if (isCyclic) this.recount(writer)
    else if (!writer.isLive) this.deactivate(writer)
  }

  /** A root gave up its own demand: it lives on only by what reads it. */
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
      for (const writer of this.writersOf(edge.location)) if (writer !== node) into.push(writer)
    }
  }

  /** Counts a node and all above it anew, from what is live without them: a cycle must not keep itself alive. */
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
        if (edge.reader !== node && !region.has(edge.reader) && edge.reader.isLive) node.liveRefs++
      }
      if (node.isLive) live.push(node)
    }
    // Whoever is live by itself demands in turn.
    for (let node = live.pop(); node !== undefined; node = live.pop()) {
      const above: Array<Node> = []
      this.upstream(node, above)
      for (const writer of above) {
        if (writer.liveRefs++ === 0 && (writer.flags & ROOT) === 0) live.push(writer)
      }
    }
  }

  /** Takes a materializer in. */
  cover(node: Node): void {
    this.shape = ++this.clock
    this.writerIndex.add(node)
  }

  uncover(node: Node): void {
    this.shape = ++this.clock
    this.writerIndex.remove(node)
  }

  /** Whether a node may decide what is at an address. Nothing is kept of it. */
  isDerived(address: Address.Address, depth: Depth): boolean {
    if (depth === "children") {
      for (const { writer } of this.locations.below(address.key)) if (writer !== undefined) return true
    } else if (this.locations.known(address.key)?.writer !== undefined) return true
    return this.writerIndex.has(address, depth)
  }
}
