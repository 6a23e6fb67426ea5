/**
 * Revival: how nodes come back from an earlier process.
 *
 * Most of them are given what is kept of them, and run no sooner than if they had
 * stayed. What runs started is nowhere but in those runs, so the nodes that start
 * others run once more, and nobody is told of what they see by that. (Seed 002,
 * section 9; architecture, section 6.)
 *
 * @module
 */
import type { Environment } from "./Environment.ts"
import * as Flag from "./Flag.ts"
import type { Gates } from "./Gates.ts"
import type { Graph } from "./Graph.ts"
import type { Invalidation } from "./Invalidation.ts"
import type { Node } from "./Node.ts"
import * as Persistence from "./Persistence.ts"
import type { Observation } from "./Persistence.ts"
import type { Queue } from "./Queue.ts"
import type { Settle } from "./Settle.ts"

const { NEVER_RAN, REMOVED } = Flag

/** The parts of the scheduler that it stands on. */
interface Dependencies {
  readonly graph: Graph
  readonly gates: Gates
  readonly queue: Queue
  readonly environment: Environment
  readonly invalidation: Invalidation
  readonly settling: Settle
}

/**
 * Brings nodes of one graph back.
 *
 * @category models
 * @since 0.1.0
 */
export class Resumption {
  /** Whether what effects see is told to nobody. */
  isSilent = false
  /** The nodes that failed while some come back; `undefined` while none do. */
  private failed: Array<Node> | undefined
  /** The node that comes back now. */
  private node: Node | undefined
  private readonly deps: Dependencies
  /** Nodes that run from where they stand today, because from where they stood is too much to be kept. */
  private afresh: Array<Node> = []
  /** Nodes whose runs start others, with what is kept of them. */
  private readonly creators = new Map<Node, Observation>()

  constructor(deps: Dependencies) {
    this.deps = deps
  }

  /** Gives a node that was just registered what is kept of it, where that still fits. Nothing runs. */
  resume(node: Node, kept: Observation, hash: string | undefined): void {
    if (Persistence.resume(node, kept, { ...this.deps, hash }) && kept.children.length > 0) this.creators.set(node, kept)
  }

  /** Runs the nodes that start others, demanded or not and whatever their gates say. */
  revive(): void {
    if (this.creators.size === 0) return
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

  /** Whether a failure is not told, because nodes come back: where it is news, that is told by a run that is still to come. */
  takes(node: Node): boolean {
    if (this.failed !== undefined && this.node !== node) this.failed.push(node)
    return this.failed !== undefined
  }

  /** Whether what a node starts follows from another standpoint than before, so that it begins anew. */
  isAfresh(node: Node): boolean {
    return this.creators.get(node)?.standpoint === null
  }

  /** The nodes that ran from where they stand today since this was asked last. */
  takeAfresh(): ReadonlyArray<Node> {
    return this.afresh.splice(0)
  }

  /** What one sees that had to run anyway, and may, is told like any other; of one that fails, and of one that has to wait, that run is still to come. */
  private run(node: Node, kept: Observation): void {
    const { gates, invalidation, settling } = this.deps
    const isDue = kept.status === "invalid" && gates.isOpen(node)
    const gate = node.gate === undefined ? undefined : { ...node.gate }
    this.isSilent = !isDue
    this.node = node
    if (!isDue) node.run!.recalled = kept.standpoint ?? undefined
    if (!isDue && kept.standpoint === null) this.afresh.push(node)
    settling.force(node)
    this.node = undefined
    this.isSilent = false
    if (isDue && node.run!.error === undefined) return
    if (gate !== undefined) Object.assign(node.gate!, gate)
    if (kept.status === "invalid") invalidation.lost(node)
  }
}
