/**
 * Timers that are due, until the beat that takes them is committed.
 *
 * @module
 */
import { Queue } from "../../registry/Queue.ts"
import type { Timer } from "../../stage/CellTimers.ts"
import type { Limits } from "../model/Limits.ts"
import { firstOf, isAwaited } from "./Capture.ts"

/**
 * The due timers of one space: urgent ones, which run while the space is paused, and normal ones.
 */
export class DueTimers {
  private readonly urgent = new Queue<Timer>()
  private readonly normal = new Queue<Timer>()

  add(timer: Timer, isUrgent: boolean): void {
    (isUrgent ? this.urgent : this.normal).push(timer)
  }

  get hasUrgent(): boolean {
    return isAwaited(this.urgent)
  }

  get hasNormal(): boolean {
    return isAwaited(this.normal)
  }

  /** The urgent timers, at most as many as one beat takes. */
  nextUrgent(limits: Limits): ReadonlyArray<Timer> {
    return firstOf(this.urgent, limits)
  }

  /** The normal timers, with the same limit; none while the space is paused or halted. */
  nextNormal(limits: Limits, { gated }: { readonly gated: boolean }): ReadonlyArray<Timer> {
    return gated ? [] : firstOf(this.normal, limits)
  }
}
