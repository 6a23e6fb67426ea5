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
 *
 * @category models
 * @since 0.1.0
 */
export interface Appointment {
  readonly key: string
  readonly due: Due
  /** Whether the timer was replaced or cancelled. */
  gone: boolean
}

/** The previous timers of a cell and its new ones. */
export interface Rebooked {
  readonly gone: ReadonlyArray<Appointment>
  readonly next: Iterable<Appointment>
}

const none: ReadonlyArray<Appointment> = []

/**
 * The timers of all cells of a space.
 *
 * @category models
 * @since 0.1.0
 */
export class Calendar {
  private readonly slots = new Map<string, ReadonlyArray<Appointment>>()

  /** Replaces the timers of a cell. */
  see(key: string, dues: ReadonlyArray<Due>): Rebooked {
    const gone = this.slots.get(key) ?? none
    for (const appointment of gone) appointment.gone = true
    if (dues.length === 0) {
      this.slots.delete(key)
      return { gone, next: none }
    }
    const next = dues.map((due) => ({ key, due, gone: false }))
    this.slots.set(key, next)
    return { gone, next }
  }

  /** The timers of all cells. */
  *appointments(): Iterable<Appointment> {
    for (const appointments of this.slots.values()) yield* appointments
  }
}
