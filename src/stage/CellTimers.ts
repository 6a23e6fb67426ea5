/**
 * The timers of cells: the cells that are due in a beat.
 *
 * The timers follow from the cells alone and are rebuilt when a space opens. A waiting cell is one entry of a heap; no
 * beat scans idle cells.
 *
 * @module
 */
import type { Due } from "./Due.ts"

/**
 * A timer of a cell, by the cell's key.
 */
export interface Timer {
  readonly key: string
  readonly due: Due
  /** Whether the timer was replaced or cancelled. */
  gone: boolean
}

/** Timers that are replaced, and the new ones. */
export interface TimerChange {
  readonly gone: ReadonlyArray<Timer>
  readonly next: Iterable<Timer>
}

const none: ReadonlyArray<Timer> = []

/**
 * The timers of the cells of one ledger.
 */
export class CellTimers {
  private readonly slots = new Map<string, ReadonlyArray<Timer>>()

  /** Replaces the timers of a cell. */
  see(key: string, dues: ReadonlyArray<Due>): TimerChange {
    const gone = this.slots.get(key) ?? none
    for (const timer of gone) timer.gone = true
    if (dues.length === 0) {
      this.slots.delete(key)
      return { gone, next: none }
    }
    const next = dues.map((due) => ({ key, due, gone: false }))
    this.slots.set(key, next)
    return { gone, next }
  }

  /** The timers of a cell. */
  of(key: string): ReadonlyArray<Timer> {
    return this.slots.get(key) ?? none
  }

  /** The timers of all cells. */
  *all(): Iterable<Timer> {
    for (const timers of this.slots.values()) yield* timers
  }
}
