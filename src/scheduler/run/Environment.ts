/**
 * The environment of runs: the part of the scheduler that a run calls.
 *
 * @module
 */
import type { BeatClock } from "../../stage/BeatClock.ts"
import type { Definition } from "../definition/Definition.ts"
import type { Graph } from "../graph/Graph.ts"
import type { Invalidation } from "../graph/Invalidation.ts"
import type { Edge, Node, NodeRun, StartedNodes } from "../graph/Node.ts"
import type { Queue } from "../graph/Queue.ts"

/** The progress of a run. */
export interface Progress {
  phase: number
  cursor: Edge | undefined
  behind: Edge | undefined
  number: number
}

/**
 * The run in progress: one at a time, over all graphs that share this object. A run that causes another one is suspended.
 */
export class ActiveRun {
  run: Progress | undefined = undefined
  /** Number of suspended runs. */
  depth = 0
}

/**
 * The environment of all runs of a graph.
 */
export interface Environment {
  readonly graph: Graph
  readonly queue: Queue
  readonly active: ActiveRun
  readonly invalidation: Invalidation
  moment: BeatClock
  /** Brings a node and all its sources up to date. Returns whether the reader has to start over. */
  readonly ensure: (writer: Node) => boolean
  /** A run takes a writer for up to date, without a look at what is above it. */
  readonly assume: (writer: Node) => void
  /** Starts a node for a run of another: a definition, or a piece of a module. */
  readonly start: (parent: Node, definition: Definition | string, inputs: unknown) => Definition
  /** An effect has a value, or a materializer ran. */
  readonly saw: (run: NodeRun) => void
  /**
   * Called after a run that failed, has no output, or follows one that started `children`. Returns whether there is another
   * attempt for the same causes.
   */
  readonly finished: (run: NodeRun, children: StartedNodes | undefined) => boolean
  /** Called after a run whose node was removed meanwhile. */
  readonly left: (node: Node) => void
}
