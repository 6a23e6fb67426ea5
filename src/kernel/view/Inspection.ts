/**
 * Inspection of a space: its reactive graph, traces and breakpoints.
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import type * as Control from "../../contract/Control.ts"
import type { AnswerOf } from "../../contract/Endpoint.ts"
import type * as Contract from "../../contract/Inspection.ts"
import type { Kind } from "../../scheduler/view/Trace.ts"
import type { ReadError } from "./Expected.ts"
import type { Page } from "./Pages.ts"

/** Nodes and edges with their statistics and findings, and the ordinal to continue after; `undefined` at the end. */
export type GraphReport = AnswerOf<typeof Contract.graph>

/** A node whose newest run failed. */
export interface FailedNode {
  readonly name: string
  readonly code: string
  readonly message: string
}

/** The newest trace lines of each active kind, oldest first. */
export type TraceReport = AnswerOf<typeof Contract.trace>

/**
 * The reactive graph of a space. Views and traces change no run and no order.
 *
 * @category models
 * @since 0.1.0
 */
export interface SpaceGraph {
  /** All nodes and their reads. It reads them a page at a time, each in a turn of its own. */
  readonly view: Effect.Effect<GraphReport, ReadError>
  /**
   * The nodes after an ordinal, as of the newest beat, a page at a time. It looks at 400 nodes, outputs, reads and edges, and at
   * 100 of each of one node.
   */
  readonly page: (page: Page<number>) => Effect.Effect<GraphReport, ReadError>
  /** The node that derives a place, if its newest run failed. The place keeps the value that it had before. */
  readonly failed: (address: string) => Effect.Effect<FailedNode | undefined, ReadError>
  /** Traces these kinds from now on, and no others. Memory holds the newest 150 lines of each. */
  readonly trace: (kinds: ReadonlyArray<Kind>) => Effect.Effect<void, ReadError>
  readonly traces: Effect.Effect<TraceReport, ReadError>
}

/** The debugging state of a space. */
export type DebugReport = AnswerOf<typeof Control.debug>

/**
 * Debugging of a space in development. The journal does not record it, and it ends with the process.
 *
 * @category models
 * @since 0.1.0
 */
export interface SpaceDebug {
  readonly view: Effect.Effect<DebugReport, ReadError>
  /** Sets the breakpoints of nodes, in place of the previous ones. Under `systole dev` the attached debugger stops before their runs. */
  readonly breakAt: (nodes: ReadonlyArray<string>) => Effect.Effect<void, ReadError>
}
