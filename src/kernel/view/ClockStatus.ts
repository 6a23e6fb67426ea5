/**
 * The clock of a space, as the outside sees it.
 *
 * @module
 */
import type { Shift } from "../../stage/SpaceClock.ts"

/** The clock of a space. Dates are in milliseconds since 1970. */
export interface ClockStatus {
  /** The date that runs see. */
  readonly date: number
  /** The date of the host. */
  readonly host: number
  /** Milliseconds by which the date is ahead of the host: it was set back by more than a limit. 0 otherwise. */
  readonly offset: number
  /** The resets: each beat, and the offset that it took off later dates. */
  readonly shifts: ReadonlyArray<Shift>
  /** When the newest jump or sleep of over a day is confirmed. Until then it makes nothing older; `null` if all are confirmed. */
  readonly keeps: number | null
}
