/**
 * The registry of nodes, by name.
 *
 * Registering a node reads no place and runs no code. A node without demand costs only
 * its record. A name keeps its ordinal when it is registered again, so a new version of
 * a module takes its predecessor's turn. [S2 §4.4, §12]
 *
 * @module
 */
import type { Definition } from "../definition/Definition.ts"
import { NodeTaken } from "../definition/Definition.ts"
import * as Flag from "./Flag.ts"
import type { Gates } from "./Gates.ts"
import type { Graph } from "./Graph.ts"
import type { Invalidation } from "./Invalidation.ts"
import { type Edge, Node } from "./Node.ts"
import type { Queue } from "./Queue.ts"

const { BOUND, EFFECT, MATERIALIZER, NEVER_RAN, REMOVED, RUNNING, UNSETTLED } = Flag

/** Most names whose ordinals outlive their nodes. */
const RETIRED = 1000

const kinds = { Computation: 0, Effect: EFFECT, Materializer: MATERIALIZER } as const

/**
 * The nodes of one graph.
 */
export class Registry {
  private readonly nodes = new Map<string, Node>()
  /** The ordinals of the names of removed nodes, newest last. */
  private readonly retired = new Map<string, number>()
  private ordinals = 0
  /** Called for each removed node, and for each node of an earlier process that does not return. */
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
   * Adds a node. An existing node of this name adopts the definition: it runs again if that differs, and starts over if its
   * outputs differ. A computation may become an effect. Any other change of kind is refused, and so is a name or an output of
   * another node.
   *
   * @throws NodeTaken
   */
  register(definition: Definition, parent?: Node): Node {
    const { name } = definition
    const known = this.nodes.get(name)
    if (known !== undefined) {
      if (known.parent !== parent) {
        const makers = `started by ${makerOf(known)}, and ${makerOf({ parent })} starts it, too`
        throw new NodeTaken({ name, reason: `it is there already, ${makers}; give one of them another name` })
      }
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

  /**
   * Restarts the runs that have read a place which this node will write. Runs of its creators continue, since each restart would
   * define the node again.
   */
  private interrupt(node: Node): void {
    for (const edge of this.graph.readersOf(node)) {
      const { flags, run } = edge.reader
      if ((flags & RUNNING) !== 0 && run?.hasRead(edge) === true && !isCreator(edge.reader, node)) run.leave()
    }
  }

  /** Removes a node, and the nodes that its runs started. Its output remains. */
  remove(node: Node): void {
    if ((node.flags & REMOVED) !== 0) return
    this.graph.noted?.leaves(node)
    node.flags |= REMOVED
    this.nodes.delete(node.definition.name)
    this.retire(node)
    this.invalidation.replacedWriter(node)
    if (node.definition._tag === "Materializer") this.graph.uncover(node)
    this.graph.removeWriter(node)
    if ((node.flags & RUNNING) === 0) this.dissolve(node)
    else node.run?.leave()
    this.removed?.(node)
  }

  /** Reverts a registration. Calls go from the newest one back. The name keeps its ordinal only if it had one `before`. */
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

  /** Removes the reads and children of a removed node; after its run, if one is in progress. */
  dissolve(node: Node): void {
    for (const name of node.run?.children?.keys() ?? []) this.disown(node, name)
    for (let edge: Edge | undefined = node.reads; edge !== undefined; edge = edge.nextRead) {
      node.reads = edge.nextRead
      this.graph.unlink(edge)
    }
    node.liveRefs = 0
  }

  /** Adopts a definition. A different function makes the node invalid. */
  private renew(node: Node, definition: Definition): Node {
    const before = node.definition
    this.graph.noted?.renews(node)
    node.define(definition)
    // A piece is defined by its inputs, though each start makes a new function.
    const isSame = before.run === definition.run || (before.given !== undefined && before.given === definition.given)
    if (isSame) return node
    this.invalidation.lost(node)
    this.interrupt(node)
    return node
  }

  /** Removes a node that its parent no longer starts. */
  disown(parent: Node, name: string): void {
    const child = this.nodes.get(name)
    if (child === undefined) this.unclaimed?.(name)
    else if (child.parent === parent) this.remove(child)
  }

  /** Turns a computation into an effect. */
  private promote(node: Node, definition: Definition): Node {
    const { _tag, name } = node.definition
    if (_tag !== "Computation" || definition._tag !== "Effect") {
      throw new NodeTaken({
        name,
        reason: `there is a ${_tag} of this name, which cannot become a ${definition._tag}; give the new one another name`
      })
    }
    this.graph.noted?.promotes(node)
    const wasLive = node.isLive
    this.invalidation.replacedWriter(node)
    this.graph.removeWriter(node)
    node.output = undefined
    node.liveRefs = 0
    node.define(definition)
    node.flags |= EFFECT
    if (!wasLive) this.graph.activate(node)
    if ((node.flags & UNSETTLED) !== 0) this.queue.push(node)
    return node
  }

  /** Turns an effect back into the computation that it was. */
  demote(node: Node, definition: Definition): void {
    node.define(definition)
    const outputs = this.outputsOf(definition)
    node.output = outputs[0]
    for (const location of outputs) this.graph.addWriter(node, location)
    node.flags &= ~EFFECT
    this.graph.release(node)
  }

  private outputsOf({ name, output, writes, _tag }: Definition) {
    if (_tag !== "Computation" || output === undefined) return []
    return [output, ...writes].map((key) => {
      const location = this.graph.locations.root(key)
      const { writer } = location
      if (writer !== undefined) {
        throw new NodeTaken({
          name,
          reason: `${key} is written by node "${writer.definition.name}" already; a cell has one writer, so derive another`
        })
      }
      return location
    })
  }
}

/** The outputs of a node, as one text. */
const surfaceOf = ({ output = "", writes }: Definition): string => [output, ...writes].join(" ")

const isCreator = (node: Node, { parent }: Node): boolean => parent !== undefined && (parent === node || isCreator(node, parent))

const makerOf = ({ parent }: Pick<Node, "parent">): string => parent === undefined ? "a module" : `"${parent.definition.name}"`
