/**
 * Resumption: nodes return from an earlier process.
 *
 * Most nodes get their observation, and run no sooner than if they had stayed alive.
 * Started nodes exist only through runs of their creators. So each creator runs once
 * more, and deliveries of that run are suppressed. [S2 §9]
 *
 * @module
 */
import type { Environment } from "./Environment.ts"
import * as Flag from "../graph/Flag.ts"
import type { Gates } from "../graph/Gates.ts"
import type { Graph } from "../graph/Graph.ts"
import type { Invalidation } from "../graph/Invalidation.ts"
import type { Node } from "../graph/Node.ts"
import * as Persistence from "./Persistence.ts"
import type { Observation } from "./Persistence.ts"
import type { Queue } from "../graph/Queue.ts"
import type { Settle } from "./Settle.ts"

const { NEVER_RAN, REMOVED } = Flag

/** The parts of the scheduler that it needs. */
interface Dependencies {
  readonly graph: Graph
  readonly gates: Gates
  readonly queue: Queue
  readonly environment: Environment
  readonly invalidation: Invalidation
  readonly settling: Settle
}

/**
 * The returning nodes of one graph.
 */
export class Resumption {
  /** Whether deliveries of effects are suppressed. */
  isSilent = false
  /** Nodes that failed during the resumption; `undefined` outside of it. */
  private failed: Array<Node> | undefined
  /** The node that resumes now. */
  private node: Node | undefined
  private readonly deps: Dependencies
  /** Nodes that ran from a new standpoint, because their former one was too large to store. */
  private afresh: Array<Node> = []
  /** Creators with their observations. */
  private readonly creators = new Map<Node, Observation>()
  /** Called for a node that its observation does not fit. */
  refused: ((name: string) => void) | undefined
  /** Nodes that returned with reads without demand, and the stored digests of those who write them. */
  private readonly unverified = new Map<Node, string | undefined>()
  /** The digest of the nodes that write the reads of a node without demand. */
  digest: ((node: Node) => string | undefined) | undefined

  constructor(deps: Dependencies) {
    this.deps = deps
  }

  /** Gives a new node its observation, if there is one and it fits. Runs no code. Returns whether the node has its former gate. */
  resume(node: Node, kept: Observation | undefined, hash: string | undefined): boolean {
    if (kept === undefined || !Persistence.resume(node, kept, { ...this.deps, hash })) {
      if (kept !== undefined) this.refused?.(node.definition.name)
      if (Persistence.isDelayed(node)) this.deps.invalidation.marked?.push(node)
      return false
    }
    if (kept.children.length > 0) this.creators.set(node, kept)
    if (kept.passive !== undefined) this.unverified.set(node, kept.writers)
    return true
  }

  /** Whether a node is still to be compared with those who write its reads without demand. */
  isUnverified(node: Node): boolean {
    return this.unverified.has(node)
  }

  /** All nodes are there: runs all creators, regardless of demand and gates, and compares the writers of reads without demand. */
  revive(): void {
    if (this.creators.size > 0) this.runCreators()
    if (this.unverified.size > 0) this.verify()
  }

  /** A node does not hear of changes to those who write its reads without demand, while the process is down. */
  private verify(): void {
    for (const [node, writers] of this.unverified) {
      if ((node.flags & (NEVER_RAN | REMOVED)) === 0 && this.digest?.(node) !== writers) this.deps.invalidation.lost(node)
    }
    this.unverified.clear()
  }

  private runCreators(): void {
    this.deps.settling.begin()
    this.failed = []
    for (const [node, kept] of this.creators) {
      if ((node.flags & (NEVER_RAN | REMOVED)) !== NEVER_RAN) this.creators.delete(node)
      else this.run(node, kept)
    }
    const { failed } = this
    this.failed = undefined
    for (const node of failed) this.deps.invalidation.lost(node)
  }

  /** Whether a failure is suppressed during the resumption. A later run reports it if it is new. */
  takes(node: Node): boolean {
    if (this.failed !== undefined && this.node !== node) this.failed.push(node)
    return this.failed !== undefined
  }

  /** Whether a creator runs from a new standpoint, so that its children start without state. */
  isAfresh(node: Node): boolean {
    return this.creators.get(node)?.standpoint === null
  }

  /** The nodes that ran from a new standpoint since the last call. */
  takeAfresh(): ReadonlyArray<Node> {
    return this.afresh.splice(0)
  }

  /**
   * Runs one creator. If it had to run anyway and its gate is open, the run counts. Otherwise, or if it fails, the regular run is
   * still to come.
   */
  private run(node: Node, kept: Observation): void {
    const { gates, invalidation, settling } = this.deps
    const isDue = kept.status === "invalid" && gates.isOpen(node)
    const gate = node.gate === undefined ? undefined : { ...node.gate }
    this.isSilent = !isDue
    this.node = node
    if (!isDue && node.run !== undefined) node.run.recalled = kept.standpoint ?? undefined
    if (!isDue && kept.standpoint === null) this.afresh.push(node)
    settling.force(node)
    this.node = undefined
    this.isSilent = false
    if (isDue && node.run?.error === undefined) return
    if (gate !== undefined && node.gate !== undefined) Object.assign(node.gate, gate)
    if (kept.status === "invalid") invalidation.lost(node)
  }
}
