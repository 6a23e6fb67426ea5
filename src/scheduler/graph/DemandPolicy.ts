/**
 * Demand policy: which reads carry demand, and which would tell others of their reader.
 *
 * Demand moves gates: it decides when a node runs next, which shows to all
 * readers of that node's output. So demand from above the label of the output is
 * barred. Such a reader sees a settled value as it stands, and any other computed
 * isolated. It hears of changes through passive edges to all sources of the value.
 *
 * @module
 */
import type { Locations } from "./Locations.ts"
import type { Location, Node } from "./Node.ts"

/** A place from which a value derives that was read without demand; `isPassive` where the reader may not demand that place, either. */
export interface Source {
  readonly location: Location
  readonly isPassive: boolean
}

/** Where to read a place instead. */
export interface Elsewhere {
  readonly locations: Locations
  /** The places to register in the reader's read set. */
  readonly sources: ReadonlyArray<Source>
}

/** Asked before each read of one run. */
export interface Guard {
  /** Where to read a place that the run may not demand; `undefined` for any other. */
  readonly look: (location: Location) => Elsewhere | undefined
  /** Whether the run read such a place. */
  readonly isBarred: boolean
}

/**
 * Which demand is not to show.
 */
export interface DemandPolicy {
  /** For a run that begins; `undefined` for a node that may demand each writer. */
  readonly guard: (node: Node) => Guard | undefined
  /** Whether a writer's gate is not to follow from a reader's demand. */
  readonly bars: (reader: Node, writer: Node) => boolean
}
