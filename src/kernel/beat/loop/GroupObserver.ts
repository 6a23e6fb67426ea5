/**
 * Observers of a group: its space, and the waiters of its output barrier.
 *
 * @module
 */
import type { Beat } from "../step/Commit.ts"
import type { SpaceStopped } from "../../model/SpaceError.ts"

/** A waiter of the output barrier. It opens after the flush, or fails if the space stops first. */
export interface FlushWaiter {
  readonly open: () => void
  readonly fail: (error: SpaceStopped) => void
}

/** The events of a group, as its space receives them. */
export interface GroupObserver {
  /** A group begins, and all beats before it are durable. */
  readonly begins: () => void
  /** A beat is appended to the store, and not durable yet. */
  readonly appended: (beat: Beat) => void
  /** A beat is durable. */
  readonly published: (beat: Beat) => void
  /** A flush is done, and its waiters are open. */
  readonly flushed: () => void
  /** The space is idle. */
  readonly rested: () => void
  /** The space stopped for good, and its store is unusable. */
  readonly stopped: (error: SpaceStopped) => void
}
