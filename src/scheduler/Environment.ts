/**
 * What a run asks of the rest of the scheduler.
 *
 * @module
 */
import type { Moment } from "../stage/Moment.ts"
import type { Definition } from "./Definition.ts"
import type { Graph } from "./Graph.ts"
import type { Invalidation } from "./Invalidation.ts"
import type { Node, NodeRun, Started } from "./Node.ts"
import type { Queue } from "./Queue.ts"

/**
 * One for all the runs of a graph.
 *
 * @category models
 * @since 0.1.0
 */
export interface Environment {
  readonly graph: Graph
  readonly queue: Queue
  readonly invalidation: Invalidation
  moment: Moment
  /** Brings a node and all above it up to date; answers whether the reader has to begin again. */
  readonly ensure: (writer: Node) => boolean
  /** Has a node's run start another one: a definition, or a piece of a module. */
  readonly start: (parent: Node, definition: Definition | string, inputs: unknown) => Definition
  /** An effect saw something, or a materializer ran. */
  readonly saw: (run: NodeRun) => void
  /** A run is over that failed, wrote no output, or follows one that created `children`. Answers whether it is tried again for the same reasons. */
  readonly finished: (run: NodeRun, children: Started | undefined) => boolean
  /** A run is over whose node went while it was under way. */
  readonly left: (node: Node) => void
}
