/**
 * The pacemaker: the host's clock, randomness and scheduling of beats.
 *
 * All nondeterminism at the start of a beat comes from here, once per beat, and is
 * journaled before use.
 *
 * @module
 */
import * as Context from "effect/Context"

/**
 * Runs a function at the host's next macrotask, after its pending work. `again` is another turn for the same cause. By
 * then the host has polled its sockets once more, so requests that arrived meanwhile are included.
 */
export type Turn = (run: () => void, again?: boolean) => void

/**
 * Provides time, randomness and turns.
 *
 * @category services
 * @since 0.1.0
 */
export class Pacemaker extends Context.Service<Pacemaker, {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /**
   * Milliseconds of a clock that nobody sets. The difference to `now` shows that the clock of the host was set, or that the
   * host was asleep. A host without it has a clock that is never set.
   */
  readonly elapsed?: () => number
  /** 32 random hexadecimal digits. */
  readonly seed: () => string
  /** Begins a group of beats. A host may run it before the next macrotask. */
  readonly turn: Turn
  /**
   * Runs a function at the next macrotask, when the microtask queue is empty; by default that is `turn`. A segment of a durable
   * run ends then.
   */
  readonly task?: (run: () => void) => void
  /**
   * Runs a function at a time, in milliseconds since 1970, for work in progress: a limit, or a repetition. Returns its
   * cancellation.
   */
  readonly timer: (at: number, run: () => void) => () => void
  /**
   * Runs a function at the time of a resting space's next work, in milliseconds since 1970; returns its cancellation. It may
   * run early, as it does after the clock of the host was set: the space then looks for work, and arms the next wake. A host
   * that sleeps may open the space at that time instead: `SpaceStore.setDue` stores it with the commit.
   */
  readonly wake: (at: number, run: () => void) => () => void
  /**
   * Called when a run begins to await a promise of its own, with its enzyme and its limit; returns the callback for the end of
   * that. A host whose clock stands still reports a run that would otherwise hold its beat for ever.
   */
  readonly awaits?: (enzyme: string, limitMs: number) => () => void
}>()("systole/kernel/Pacemaker") {}
