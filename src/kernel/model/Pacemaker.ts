/**
 * The pacemaker: the host's time and chance, and when a space may beat.
 *
 * All that is not deterministic about a beat's start comes from here, once per
 * beat, and is journaled before it is used. (Architecture, sections 1.1 and 11.)
 *
 * @module
 */
import * as Context from "effect/Context"

/**
 * Runs something at the host's next macrotask, after what the host already has in hand. `again` is another turn for the
 * same cause: by then the host has looked at its sockets once more, so that who waits for others sees who has come.
 *
 * @category models
 * @since 0.1.0
 */
export type Turn = (run: () => void, again?: boolean) => void

/**
 * Gives time, chance and turns.
 *
 * @category services
 * @since 0.1.0
 */
export class Pacemaker extends Context.Service<Pacemaker, {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** 32 fresh hexadecimal digits. */
  readonly seed: () => string
  readonly turn: Turn
  /** Runs at a moment, in milliseconds since 1970; answers how to call it off. */
  readonly wake: (at: number, run: () => void) => () => void
}>()("systole/kernel/Pacemaker") {}
