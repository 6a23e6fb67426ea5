/**
 * Flags: bits of `Node.flags` and of `Location.flags`.
 *
 * Engines look up an imported constant at each use, and inline a constant of the same
 * module. In the inner loops this is a sixth of the time, so modules that use flags copy
 * them into constants of their own.
 *
 * @module
 */

/** Flags of a node. A node without `INVALID` and `NEVER_RAN` is clean. */
export const EFFECT = 1
export const MATERIALIZER = 2
/** A value that it read has changed since its last run. */
export const INVALID = 4
export const NEVER_RAN = 8
/** It is in the queue. */
export const QUEUED = 16
export const RUNNING = 32
/** It waits for its gate to open. */
export const GATED = 64
export const REMOVED = 128
/** Live because a live node created it, until it has run. */
export const PROVISIONAL = 256
/** On the path of the walk that brings a closure up to date. */
export const WALKED = 512
/** Its stored observation matches its reads. */
export const KEPT = 1024
/** Has a gate or a creator: its turn needs further checks. */
export const BOUND = 2048

export const UNSETTLED = INVALID | NEVER_RAN
/** Demand without a reader. */
export const ROOT = EFFECT | MATERIALIZER | PROVISIONAL

/** Flag of a location: its value can be returned as it is. The value is loaded, plain and no link, and no materializer covers it. */
export const READY = 1
/** The document holds values that each reader decodes anew. */
export const RICH = 2
export const LOADED = 4
/** A materializer may write here. */
export const COVERED = 8
/** Unused and detached from changes. The place has another location by now, or none. */
export const DROPPED = 16
/** Queued for the sweep after the settle, because it may be unused. */
export const IDLE = 32
