/**
 * The host of a run.
 *
 * @module
 */
import type * as Context from "effect/Context"
import type { RunScope } from "../../registry/RunScope.ts"
import type { Fork } from "../model/Fibers.ts"
import type { RunWatch } from "./RunWatch.ts"

/** The host's clock and timers, which limit the time of a run. */
export interface RunHost {
  readonly now: () => number
  readonly timer: (at: number, run: () => void) => () => void
  readonly wake: (at: number, run: () => void) => () => void
  /** Called when a run begins to await a promise of its own, if the host wants to know; returns the callback for its end. */
  readonly awaits?: ((enzyme: string, limitMs: number) => () => void) | undefined
  /** Runs a function at the next macrotask, when the microtask queue is empty. */
  readonly turn: (run: () => void) => void
  /** Starts a fiber of the kernel. */
  readonly fork: Fork
  /** The context of the Effects of runs. */
  readonly runs: Context.Context<never>
  /** The scope of the code of runs. */
  readonly scope: RunScope
  /** The watch of a development host. */
  readonly watch?: RunWatch | undefined
}
