/**
 * Listeners of a group: the space that it belongs to, and what waits at its gate.
 *
 * @module
 */
import type { Beat } from "./Commit.ts"
import type { SpaceStopped } from "../model/SpaceError.ts"

/** What waits at the gate: to be told that what it saw is durable, or that it never will be. */
export interface FlushWaiter {
  readonly open: () => void
  readonly fail: (error: SpaceStopped) => void
}

/** The events of a group, as the space hears them. */
export interface GroupObserver {
  /** A beat is in the store, and not durable yet. */
  readonly appended: (beat: Beat) => void
  /** A beat is durable. */
  readonly published: (beat: Beat) => void
  /** The space has nothing to do for now. */
  readonly rested: () => void
  /** The space stopped for good; its store is of no more use. */
  readonly stopped: (error: SpaceStopped) => void
}
