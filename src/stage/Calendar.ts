/**
 * The calendar: which cells a beat has to look at because their time has come,
 * and no others.
 *
 * It follows from the cells alone and is made anew when a space is opened. What
 * waits costs a place in a heap; no beat scans what is idle. (Architecture,
 * section 1.2.)
 *
 * @module
 */
import type { Due } from "./Due.ts"

/**
 * A time at which a cell has to be looked at, by the cell's key.
 *
 * @category models
 * @since 0.1.0
 */
export interface Appointment {
  readonly key: string
  readonly due: Due
  /** Whether another one took its place, or none is needed any more. */
  gone: boolean
}

/** The appointments that a cell had and those that it has now. */
export interface Rebooked {
  readonly gone: ReadonlyArray<Appointment>
  readonly next: Iterable<Appointment>
}

const none: ReadonlyArray<Appointment> = []

/**
 * What the cells of a space wait for.
 *
 * @category models
 * @since 0.1.0
 */
export class Calendar {
  private readonly slots = new Map<string, ReadonlyArray<Appointment>>()

  /** Takes in the times that a cell waits for from now on, in place of those before. */
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

  /** The appointments of all. */
  *appointments(): Iterable<Appointment> {
    for (const appointments of this.slots.values()) yield* appointments
  }
}
