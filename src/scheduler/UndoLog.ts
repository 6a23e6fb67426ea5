/**
 * Reversal: what one beat did to the graph, so that a beat that is aborted leaves
 * no trace in it.
 *
 * Documents are what is committed again. Who ran stands as before the first of its
 * runs, and has to run again; what runs started is gone, and what they let go of is
 * back. (Architecture, section 1.1.)
 *
 * @module
 */
import type { Document } from "../cell/Document.ts"
import type { Definition } from "./Definition.ts"
import * as Flag from "./Flag.ts"
import type { Gates } from "./Gates.ts"
import type { Graph, Noted } from "./Graph.ts"
import type { Invalidation } from "./Invalidation.ts"
import type { Gate, Node, NodeRun } from "./Node.ts"
import * as Persistence from "./Persistence.ts"
import type { Queue } from "./Queue.ts"
import type { Registry } from "./Registry.ts"
import type { Resumption } from "./Resumption.ts"

const { GATED, INVALID, NEVER_RAN, REMOVED, UNSETTLED } = Flag

/** How a node stood before the first of its runs. */
interface Before extends Pick<NodeRun, "children" | "error" | "since" | "standpoint"> {
  readonly flags: number
  readonly gate: Gate | undefined
}

/** A node that went with what its creator started. */
interface Left {
  readonly node: Node
  readonly definition: Definition
  readonly parent: Node
  readonly observation: Persistence.Observation | undefined
}

/** The parts of the scheduler that it stands on. */
interface Dependencies {
  readonly graph: Graph
  readonly gates: Gates
  readonly invalidation: Invalidation
  readonly queue: Queue
  readonly registry: Registry
  readonly resumption: Resumption
}

/** The bits of a node that its runs change. */
const STANDING = UNSETTLED | GATED

/**
 * Notes what a beat does to nodes.
 *
 * @category models
 * @since 0.1.0
 */
export class UndoLog implements Noted {
  private readonly deps: Dependencies
  private befores = new Map<Node, Before>()
  private definitions = new Map<Node, Definition>()
  /** Nodes that were computations until a run had them be effects, with what they were. */
  private promoted = new Map<Node, Definition>()
  /** What runs started, and whether there was one of its name before. */
  private created = new Map<Node, boolean>()
  private readonly left: Array<Left> = []

  constructor(deps: Dependencies) {
    this.deps = deps
  }

  /** Who ran since the newest beat that was committed. */
  get ran(): Iterable<Node> {
    return this.befores.keys()
  }

  runs({ children, error, node, since, standpoint }: NodeRun): void {
    if (this.befores.has(node)) return
    this.befores.set(node, { flags: node.flags, gate: node.gate === undefined ? undefined : { ...node.gate }, since, children, error, standpoint })
  }

  starts(node: Node, isKnown: boolean): void {
    this.created.set(node, isKnown)
  }

  renews(node: Node): void {
    if (!this.definitions.has(node)) this.definitions.set(node, node.definition)
  }

  promotes(node: Node): void {
    this.promoted.set(node, this.definitions.get(node) ?? node.definition)
  }

  leaves(node: Node): void {
    if (node.parent !== undefined) this.left.push({ node, definition: this.before(node), parent: node.parent, observation: Persistence.observe(node, undefined) })
  }

  /** The state of a node when the beat began. */
  private before(node: Node): Definition {
    return this.promoted.get(node) ?? this.definitions.get(node) ?? node.definition
  }

  /** The beat is in the store. */
  committed(): void {
    if (this.befores.size > 0) this.befores = new Map()
    if (this.definitions.size > 0) this.definitions = new Map()
    if (this.promoted.size > 0) this.promoted = new Map()
    if (this.created.size > 0) this.created = new Map()
    this.left.length = 0
  }

  /** The beat is aborted: documents are what `committed` says. */
  revert(committed: (key: string) => Document | undefined): void {
    const { graph, invalidation, registry } = this.deps
    const { locations } = graph
    graph.noted = undefined
    for (let i = 0, { changes } = locations; i < changes; i++) {
      const root = locations.changed[i]!
      invalidation.replaced(root, committed(root.key), {})
    }
    for (const [node, isKnown] of [...this.created].reverse()) registry.withdraw(node, isKnown)
    for (const [node, definition] of this.definitions) node.define(definition)
    for (const [node, definition] of this.promoted) if ((node.flags & REMOVED) === 0) registry.demote(node, definition)
    for (const [node, before] of this.befores) this.restore(node, before)
    this.bringBack()
    graph.clock++
    locations.settled()
    graph.noted = this
    this.committed()
  }

  /** Has a node stand as it did, but for what changed since; its runs were for nothing. */
  private restore(node: Node, before: Before): void {
    if ((node.flags & REMOVED) !== 0) return
    const { flags, gate } = before
    node.run!.restore(before)
    this.deps.gates.rewind(node, gate)
    node.flags = (node.flags & ~STANDING) | (flags & STANDING) | ((flags & NEVER_RAN) === 0 ? INVALID : 0)
    if ((node.flags & GATED) === 0 && node.isLive) this.deps.queue.push(node)
  }

  /** Takes in again what was let go of: creators before what they had started. */
  private bringBack(): void {
    const { registry, resumption } = this.deps
    const again = new Map<Node, Node>()
    for (const { definition, node, observation, parent } of this.left) {
      const above = again.get(parent) ?? parent
      if (this.created.has(node) || (above.flags & REMOVED) !== 0) continue
      const back = registry.register(definition, above)
      again.set(node, back)
      if (observation !== undefined) resumption.resume(back, observation, undefined)
    }
  }
}
