/**
 * The states of the operations of durable runs that several ledgers know.
 *
 * @module
 */

/** The state of a run that was given up. Its letter can be sent again. */
export const DEAD = "ist:dead"
