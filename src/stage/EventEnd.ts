/**
 * Ends of events, for durable runs that wait for them.
 *
 * @module
 */

/**
 * The end of an event: all its handlings are over (`handled`), or one was given up (`dead`).
 *
 * `no-match`: no enzyme takes it. `cycle`: none may, because of a circle in their order. `discarded`: a rollback dropped it.
 *
 * @category models
 * @since 0.1.0
 */
export interface EventEnd {
  readonly id: string
  readonly status: "handled" | "dead" | "no-match" | "cycle" | "discarded"
  /** The beat in which it ended. */
  readonly beat: number
  /** The enzyme that gave it up, and the failure. */
  readonly enzyme?: string
  readonly tag?: string
  readonly code?: string
}

/** The stable codes of the ends without a dead letter, and without success. */
export const codes = { "no-match": "signal/no-match", cycle: "registry/cycle", discarded: "signal/discarded" } as const
