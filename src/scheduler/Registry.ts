/**
 * The registry of nodes: their records, by name.
 *
 * To register a node reads nothing and runs nothing; a node that nobody demands
 * costs its record. A name keeps its ordinal when it is registered again, so
 * that a new version of a module takes its predecessor's turn. (Seed 002, sections 4.4 and 12.)
 *
 * @module
 */
import type { Definition } from "./Definition.ts"
import { NodeTaken } from "./Definition.ts"
import * as Flag from "./Flag.ts"
import type { Gates } from "./Gates.ts"
import type { Graph } from "./Graph.ts"
import type { Invalidation } from "./Invalidation.ts"
import { type Edge, Node } from "./Node.ts"
import type { Queue } from "./Queue.ts"

const { BOUND, EFFECT, MATERIALIZER, NEVER_RAN, REMOVED, RUNNING, UNSETTLED } = Flag

/** Most names whose ordinals are kept beyond their nodes. */
const RETIRED = 1000

const kinds = { Computation: 0, Effect: EFFECT, Materializer: MATERIALIZER } as const

/**
 * The nodes of one graph.
 *
 * @category models
 * @since 0.1.0
 */
export class Registry {
  private readonly nodes = new Map<string, Node>()
  /** The ordinals of names whose nodes were removed, the newest ones. */
  private readonly retired = new Map<string, number>()
  private ordinals = 0
  /** Told of each node that goes, and of each that an earlier process knew and that does not come back. */
  removed: ((node: Node) => void) | undefined
  unclaimed: ((name: string) => void) | undefined
  private readonly graph: Graph
  private readonly gates: Gates
  private readonly invalidation: Invalidation
  private readonly queue: Queue

  constructor(deps: { readonly graph: Graph; readonly gates: Gates; readonly invalidation: Invalidation; readonly queue: Queue }) {
    this.graph = deps.graph
    this.gates = deps.gates
    this.invalidation = deps.invalidation
    this.queue = deps.queue
  }

  get size(): number {
    return this.nodes.size
  }

  get(name: string): Node | undefined {
    return this.nodes.get(name)
  }

  values(): IterableIterator<Node> {
    return this.nodes.values()
  }

  /**
   * Takes a node in. One of this name that is there already goes on under the definition that is given: it runs again where that is another,
   * and begins anew where it writes elsewhere. A computation becomes an effect; all else is refused, and so is a name that somebody else has.
   *
   * @throws NodeTaken
   */
  register(definition: Definition, parent?: Node): Node {
    const { name } = definition
    const known = this.nodes.get(name)
    if (known !== undefined) {
      if (known.parent !== parent) throw new NodeTaken({ name, reason: `it is there already, started by ${makerOf(known)}, and ${makerOf({ parent })} starts it, too; give one of them another name` })
      if (known.definition._tag !== definition._tag) return this.promote(known, definition)
      if (surfaceOf(known.definition) === surfaceOf(definition)) return this.renew(known, definition)
      this.remove(known)
    }
    const outputs = this.outputsOf(definition)
    const ordinal = this.retired.get(name) ?? this.ordinals++
    const isKnown = this.retired.delete(name)
    const node = new Node(definition, ordinal, kinds[definition._tag] | NEVER_RAN | (parent === undefined ? 0 : BOUND))
    node.parent = parent
    this.nodes.set(name, node)
    node.output = outputs[0]
    for (const location of outputs) this.graph.addWriter(node, location)
    if (definition._tag === "Materializer") this.graph.cover(node)
    if (definition.debounce > 0 || definition.throttle > 0) {
      this.gates.set(node, definition)
      this.gates.disturb(node)
    }
    if (node.isLive) this.queue.push(node)
    if (parent === undefined) return node
    this.graph.noted?.starts(node, isKnown)
    this.interrupt(node)
    return node
  }

  /** Has runs begin again that are under way and have read what this node is to make. Those of its creators do not: each of them would say anew what it is. */
  private interrupt(node: Node): void {
    for (const edge of this.graph.readersOf(node)) {
      const { reader } = edge
      if ((reader.flags & RUNNING) !== 0 && reader.run!.hasRead(edge) && !isCreator(reader, node)) reader.run!.leave()
    }
  }

  /** Lets a node go, and those that its runs created. Its output stays as it is. */
  remove(node: Node): void {
    if ((node.flags & REMOVED) !== 0) return
    this.graph.noted?.leaves(node)
    node.flags |= REMOVED
    this.nodes.delete(node.definition.name)
    this.retire(node)
    if (node.definition._tag === "Materializer") this.graph.uncover(node)
    this.graph.removeWriter(node)
    if ((node.flags & RUNNING) === 0) this.dissolve(node)
    else node.run!.leave()
    this.removed?.(node)
  }

  /** Lets a node go as if it had never been there: of all that were registered since, the newest first. Its name keeps its turn only where it had one `before`. */
  withdraw(node: Node, before: boolean): void {
    this.remove(node)
    if (before || node.ordinal !== this.ordinals - 1) return
    this.retired.delete(node.definition.name)
    this.ordinals--
  }

  private retire({ definition: { name }, ordinal }: Node): void {
    const { retired } = this
    retired.set(name, ordinal)
    if (retired.size <= RETIRED) return
    for (const oldest of retired.keys()) return void retired.delete(oldest)
  }

  /** Lets go of what a node that is gone read and started; of one that runs, when its run is over. */
  dissolve(node: Node): void {
    for (const name of node.run?.children?.keys() ?? []) this.disown(node, name)
    for (let edge: Edge | undefined = node.reads; edge !== undefined; edge = edge.nextRead) {
      node.reads = edge.nextRead
      this.graph.unlink(edge)
    }
    node.liveRefs = 0
  }

  /** What a node makes follows from its definition as well as from what it reads. */
  private renew(node: Node, definition: Definition): Node {
    const before = node.definition
    this.graph.noted?.renews(node)
    node.define(definition)
    // A piece is what it was started with, though each start makes a function of it.
    const isSame = before.run === definition.run || (before.given !== undefined && before.given === definition.given)
    if (isSame) return node
    this.invalidation.lost(node)
    this.interrupt(node)
    return node
  }

  /** Lets go of a node that a parent started and does not start any more. */
  disown(parent: Node, name: string): void {
    const child = this.nodes.get(name)
    if (child === undefined) this.unclaimed?.(name)
    else if (child.parent === parent) this.remove(child)
  }

  /** Somebody watches what a computation did: from now on it is an effect. */
  private promote(node: Node, definition: Definition): Node {
    const { _tag, name } = node.definition
    if (_tag !== "Computation" || definition._tag !== "Effect") {
      throw new NodeTaken({ name, reason: `there is a ${_tag} of this name, which cannot become a ${definition._tag}; give the new one another name` })
    }
    this.graph.noted?.promotes(node)
    const wasLive = node.isLive
    this.graph.removeWriter(node)
    node.output = undefined
    node.liveRefs = 0
    node.define(definition)
    node.flags |= EFFECT
    if (!wasLive) this.graph.activate(node)
    if ((node.flags & UNSETTLED) !== 0) this.queue.push(node)
    return node
  }

  /** A node is the computation again that it was before somebody watched what it did. */
  demote(node: Node, definition: Definition): void {
    node.define(definition)
    const outputs = this.outputsOf(definition)
    node.output = outputs[0]
    for (const location of outputs) this.graph.addWriter(node, location)
    node.flags &= ~EFFECT
    this.graph.release(node)
  }

  private outputsOf({ name, output, writes, _tag }: Definition) {
    if (_tag !== "Computation") return []
    const keys = [output!, ...writes]
    return keys.map((key) => {
      const location = this.graph.locations.root(key)
      const { writer } = location
      if (writer !== undefined) throw new NodeTaken({ name, reason: `${key} is written by node "${writer.definition.name}" already; a cell has one writer, so derive another` })
      return location
    })
  }
}

/** What a node writes, as one text. */
const surfaceOf = ({ output = "", writes }: Definition): string => [output, ...writes].join(" ")

const isCreator = (node: Node, { parent }: Node): boolean => parent !== undefined && (parent === node || isCreator(node, parent))

const makerOf = ({ parent }: Pick<Node, "parent">): string => parent === undefined ? "a module" : `"${parent.definition.name}"`
