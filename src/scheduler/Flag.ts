/**
 * What nodes and places are and how they stand: bits of `Node.flags` and of
 * `Location.flags`.
 *
 * Hosts look an imported constant up at each use, and take a module's own for the
 * number that it is. In the inner loops that is a sixth of the time, so who works with flags takes
 * them into constants of its own.
 *
 * @module
 */

/** Of a node. One that is neither invalid nor never ran is clean. */
export const EFFECT = 1
export const MATERIALIZER = 2
/** A value that it read changed since its last run. */
export const INVALID = 4
export const NEVER_RAN = 8
/** Stands in the queue. */
export const QUEUED = 16
export const RUNNING = 32
/** Waits for its gate to open. */
export const GATED = 64
export const REMOVED = 128
/** Live because a live node created it, until it has run. */
export const PROVISIONAL = 256
/** On the way of the walk that brings a closure up to date. */
export const WALKED = 512
/** Its observation was kept since it read anything else. */
export const KEPT = 1024
/** Has a gate, or was started by another node: its turn takes a closer look. */
export const BOUND = 2048

export const UNSETTLED = INVALID | NEVER_RAN
/** Demand that needs no reader. */
export const ROOT = EFFECT | MATERIALIZER | PROVISIONAL

/** Of a location: its value can be handed out as it stands, because it is loaded, plain, no link, and no materializer may be behind it. */
export const READY = 1
/** The document holds what readers decode afresh. */
export const RICH = 2
export const LOADED = 4
/** A materializer may write here. */
export const COVERED = 8
/** Nobody read it any more, so it hears of no changes; the place has another location now, or none. */
export const DROPPED = 16
/** Is to be looked at when all is settled, because nobody may read or write it any more. */
export const IDLE = 32
