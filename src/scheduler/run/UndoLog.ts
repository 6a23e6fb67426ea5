/**
 * The undo log: the changes of one beat to the graph, for its abort.
 *
 * After an abort, documents have their committed values again. Nodes that ran return to
 * their state before the first of these runs, and are invalid. Started nodes are
 * removed, and removed nodes return.
 *
 * @module
 */
import type { Document } from "../../cell/Document.ts"
import type { Definition } from "../definition/Definition.ts"
import * as Flag from "../graph/Flag.ts"
import type { Gates } from "../graph/Gates.ts"
import type { Graph, ChangeObserver } from "../graph/Graph.ts"
import type { Invalidation } from "../graph/Invalidation.ts"
import type { Gate, Node, NodeRun } from "../graph/Node.ts"
import * as Persistence from "./Persistence.ts"
import type { Queue } from "../graph/Queue.ts"
import type { Registry } from "../graph/Registry.ts"
import type { Resumption } from "./Resumption.ts"

const { GATED, INVALID, NEVER_RAN, REMOVED, UNSETTLED } = Flag

/** The state of a node before its first run in the beat. */
interface Before extends Pick<NodeRun, "children" | "error" | "since" | "standpoint"> {
  readonly flags: number
  readonly gate: Gate | undefined
}

/** A node that was removed with other children of its creator. */
interface Left {
  readonly node: Node
  readonly definition: Definition
  readonly parent: Node
  readonly observation: Persistence.Observation | undefined
}

/** The parts of the scheduler that it needs. */
interface Dependencies {
  readonly graph: Graph
  readonly gates: Gates
  readonly invalidation: Invalidation
  readonly queue: Queue
  readonly registry: Registry
  readonly resumption: Resumption
}

/** The flags of a node that its runs change. */
const STANDING = UNSETTLED | GATED

/**
 * Records the changes of a beat to nodes.
 */
export class UndoLog implements ChangeObserver {
  private readonly deps: Dependencies
  private befores = new Map<Node, Before>()
  private definitions = new Map<Node, Definition>()
  /** Computations that became effects, with their previous definitions. */
  private promoted = new Map<Node, Definition>()
  /** Started nodes, and whether there was one of their name before. */
  private created = new Map<Node, boolean>()
  private readonly left: Array<Left> = []

  constructor(deps: Dependencies) {
    this.deps = deps
  }

  /** The nodes that ran since the newest committed beat. */
  get ran(): Iterable<Node> {
    return this.befores.keys()
  }

  runs({ children, error, node, since, standpoint }: NodeRun): void {
    if (this.befores.has(node)) return
    this.befores.set(node, {
      flags: node.flags,
      gate: node.gate === undefined ? undefined : { ...node.gate },
      since,
      children,
      error,
      standpoint
    })
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
    if (node.parent !== undefined) {
      this.left.push({ node, definition: this.before(node), parent: node.parent, observation: Persistence.observe(node, undefined) })
    }
  }

  /** The definition of a node at the begin of the beat. */
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

  /** The beat is aborted. `committed` reads the restored documents. */
  revert(committed: (key: string) => Document | undefined): void {
    const { graph, invalidation, registry } = this.deps
    const { locations } = graph
    graph.noted = undefined
    for (const root of locations.changed.slice(0, locations.changes)) invalidation.replaced(root, committed(root.key), {})
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

  /** Restores the state of a node, apart from later changes; its runs are void. */
  private restore(node: Node, before: Before): void {
    if ((node.flags & REMOVED) !== 0) return
    const { flags, gate } = before
    node.run?.restore(before)
    this.deps.gates.rewind(node, gate)
    node.flags = (node.flags & ~STANDING) | (flags & STANDING) | ((flags & NEVER_RAN) === 0 ? INVALID : 0)
    if ((node.flags & GATED) === 0 && node.isLive) this.deps.queue.push(node)
  }

  /** Adds removed nodes again, creators before their children. */
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
