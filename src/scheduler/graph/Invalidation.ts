/**
 * Invalidation: from a change to the affected nodes.
 *
 * There is one channel for all changes: of runs, handlers, other writers and reverts. A
 * node becomes invalid only if a value that it read differs. [S2 §2 P1 P2, §6.1]
 *
 * @module
 */
import type { Document } from "../../cell/Document.ts"
import * as Codec from "../../cell/Document.ts"
import * as Change from "../../cell/Change.ts"
import * as Value from "../../cell/Value.ts"
import * as Flag from "./Flag.ts"
import type { Gates } from "./Gates.ts"
import type { Graph } from "./Graph.ts"
import { adopt, derive, type Locations } from "./Locations.ts"
import type { Edge, Location, Node, Part } from "./Node.ts"
import type { Queue } from "./Queue.ts"

const { BOUND, COVERED, GATED, INVALID, KEPT, LOADED, NEVER_RAN, QUEUED, READY, RICH, RUNNING } = Flag

/** The origin of a change, which does not see the change itself. */
export interface Source {
  readonly node?: Node | undefined
  readonly group?: string | undefined
}

/** The previous value of a document, and the node that replaced it. */
interface Replaced {
  readonly before: Value.Value
  readonly source: Node | undefined
}

/**
 * Turns changes of documents into invalid nodes.
 */
export class Invalidation {
  private readonly graph: Graph
  private readonly locations: Locations
  private readonly gates: Gates
  private readonly queue: Queue
  private group: string | undefined
  /** Collects nodes that became invalid, have a further cause, or wait longer; `undefined` unless a caller stores them. */
  marked: Array<Node> | undefined

  constructor(deps: { readonly graph: Graph; readonly gates: Gates; readonly queue: Queue }) {
    this.graph = deps.graph
    this.locations = deps.graph.locations
    this.gates = deps.gates
    this.queue = deps.queue
  }

  /**
   * Stores a derived output. An equal value changes no state.
   *
   * @throws InvalidValue
   */
  derived(root: Location, value: unknown, source: Node | undefined): boolean {
    if ((root.flags & (LOADED | RICH)) !== LOADED || typeof value === "object") return this.encoded(root, value, source)
    const before = root.value
    if (Object.is(before, value) || (before === 0 && value === 0)) return false
    this.locations.touch(root)
    derive(root, value)
    this.tell(root, before, source)
    return true
  }

  /** Fast path for a number replaced by a number, in a document without readers of its parts. Returns whether it applied. */
  counted(root: Location, value: unknown, source: Node | undefined): boolean {
    const before = root.value
    if (typeof before !== "number" || typeof value !== "number" || !Number.isFinite(value)) return false
    if (root.extra !== undefined || this.marked !== undefined || (root.flags & (LOADED | RICH | COVERED)) !== LOADED) return false
    if (before === value) return true
    this.locations.touch(root)
    root.value = value === 0 ? 0 : value
    root.flags |= READY
    const clock = ++this.graph.clock
    for (let edge = root.firstReader; edge !== undefined; edge = edge.nextReader) {
      const node = edge.reader
      const { flags } = node
      if (node === source) continue
      if ((flags & (BOUND | RUNNING)) !== 0) {
        this.reach(edge)
        continue
      }
      edge.cause = clock
      node.flags = flags | INVALID
      if ((flags & QUEUED) === 0 && node.isLive) this.queue.push(node)
    }
    return true
  }

  private encoded(root: Location, value: unknown, source: Node | undefined): boolean {
    return this.replaced(root, value === undefined ? undefined : Codec.derive(value), { node: source })
  }

  /** Stores another document, from any origin. */
  replaced(root: Location, document: Document | undefined, source: Source): boolean {
    const { locations } = this
    const before = locations.whole(root)
    const after = Codec.read(document, [])
    if (Value.equals(before, after)) return false
    locations.touch(root)
    adopt(root, document)
    this.group = source.group
    this.tell(root, before, source.node)
    this.group = undefined
    return true
  }

  /** Invalidates the readers whose values differ. */
  private tell(root: Location, before: Value.Value, source: Node | undefined): void {
    this.graph.clock++
    for (let edge = root.firstReader; edge !== undefined; edge = edge.nextReader) {
      if (edge.reader !== source) this.reach(edge)
    }
    const { extra } = root
    if (extra?.parts !== undefined) this.tellParts(root, extra.parts, { before, source })
    const { locations } = this
    if (locations.listings === 0) return
    if ((before === undefined) !== (root.value === undefined && (root.flags & RICH) === 0)) this.tellListing(root, source)
  }

  private tellParts(root: Location, parts: ReadonlyArray<Part>, { before, source }: Replaced): void {
    const after = this.locations.whole(root)
    for (const part of parts) {
      const { depth, path } = part.extra
      if (depth === "children") continue
      part.flags &= ~READY
      if (!Change.triggers({ path, shallow: depth === "shallow" }, { path: [], before, after })) continue
      for (let edge = part.firstReader; edge !== undefined; edge = edge.nextReader) {
        if (edge.reader !== source) this.reach(edge)
      }
    }
  }

  /** A document was created or deleted. */
  private tellListing(root: Location, source: Node | undefined): void {
    const listing = this.locations.listing(root)
    if (listing === undefined) return
    listing.flags &= ~READY
    for (let edge = listing.firstReader; edge !== undefined; edge = edge.nextReader) {
      if (edge.reader !== source) this.reach(edge)
    }
  }

  /** Content became available. It never changes, so only nodes that looked for it are invalidated. */
  appeared(root: Location): void {
    this.graph.clock++
    for (let edge = root.firstReader; edge !== undefined; edge = edge.nextReader) this.reach(edge)
  }

  /** A node's result was reverted. The node has to run again, even if its reads are unchanged. */
  lost(node: Node): void {
    if ((node.flags & NEVER_RAN) !== 0) return
    this.graph.clock++
    this.marked?.push(node)
    this.invalidate(node)
    this.replacedWriter(node)
  }

  /**
   * A node comes, leaves, or makes something else. Nodes that read its value without demand run again: they hear of the sources
   * of the value alone. `isExempt` names nodes that know already.
   */
  replacedWriter(node: Node, isExempt?: (reader: Node) => boolean): void {
    if (this.graph.demandPolicy === undefined) return
    this.graph.clock++
    for (const edge of this.graph.passiveReadersOf(node)) {
      if (isExempt?.(edge.reader) === true) continue
      edge.reader.flags &= ~KEPT
      this.reach(edge)
    }
  }

  private reach(edge: Edge): void {
    const node = edge.reader
    if (this.group !== undefined && node.definition.changeGroup === this.group) return
    if ((node.flags & RUNNING) !== 0 && node.run?.hasRead(edge) === false) return
    if (this.marked !== undefined && isMore(edge)) this.marked.push(node)
    edge.cause = this.graph.clock
    this.invalidate(node)
  }

  private invalidate(node: Node): void {
    const { flags } = node
    node.flags = flags | INVALID
    if (node.gate !== undefined) this.gates.disturb(node)
    if ((flags & GATED) !== 0) this.graph.shape = this.graph.clock
    else if (node.isLive) this.queue.push(node)
  }
}

/** Whether a change adds to the reader's stored observation. A repeated change of the same place does not. */
const isMore = ({ cause, reader: { flags, gate, run } }: Edge): boolean =>
  (flags & INVALID) === 0 || run === undefined || cause <= run.since || (gate !== undefined && gate.debounce > 0)
