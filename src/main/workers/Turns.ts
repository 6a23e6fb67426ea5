/**
 * The turns of an object: how soon a group of beats begins.
 *
 * @module
 */
import type { Turn } from "../../kernel/model/Pacemaker.ts"

/** The most microtasks in a row. A timer after them lets other calls of the object in. */
const IN_A_ROW = 16

/**
 * Turns by the number of calls in the object. A lone call begins its group with the next microtask. With several, a timer
 * lets those that have arrived join the group.
 */
export class Turns {
  private calls = 0
  private spent = 0

  /** Counts a call until its result. */
  async during<A>(call: () => Promise<A>): Promise<A> {
    this.calls++
    this.spent = 0
    try {
      return await call()
    } finally {
      this.calls--
    }
  }

  readonly turn: Turn = (run) => {
    if (this.calls <= 1 && this.spent++ < IN_A_ROW) return queueMicrotask(run)
    this.spent = 0
    setTimeout(run, 0)
  }
}
