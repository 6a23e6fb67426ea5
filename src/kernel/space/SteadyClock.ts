/**
 * The steady clock: since when the clock of the host has run without a step.
 *
 * A process cannot know how much time passed before it started, nor while its computer was asleep. Before its start nothing
 * contradicts the clock. A step of over a day while it runs is contradicted by the monotonic clock.
 *
 * @module
 */
import { DAY } from "../../stage/SpaceClock.ts"
import type { Pacemaker } from "../model/Pacemaker.ts"

/** A larger difference between the two clocks of the host is a step, in milliseconds. */
const STEP = 1000

/**
 * Compares the clock of the host with its monotonic one.
 */
export class SteadyClock {
  private readonly now: () => number
  private readonly elapsed: (() => number) | undefined
  private seen: { readonly now: number; readonly elapsed: number }
  private begin: number
  private leap = -Infinity

  constructor({ elapsed, now }: Pick<Pacemaker["Service"], "elapsed" | "now">) {
    this.now = now
    this.elapsed = elapsed
    this.seen = { now: now(), elapsed: elapsed?.() ?? 0 }
    // A host without a monotonic clock has one that is never set.
    this.begin = elapsed === undefined ? -Infinity : this.seen.now
  }

  /** The time since which the clock has run evenly, in milliseconds since 1970. */
  get since(): number {
    if (this.elapsed === undefined) return this.begin
    const seen = { now: this.now(), elapsed: this.elapsed() }
    const step = seen.now - this.seen.now - (seen.elapsed - this.seen.elapsed)
    if (Math.abs(step) > STEP) this.begin = seen.now
    if (step > DAY) this.leap = seen.now
    this.seen = seen
    return this.begin
  }

  /** The time after the newest step of over a day ahead, as of the last look, in milliseconds since 1970. */
  get leapt(): number {
    return this.leap
  }
}
