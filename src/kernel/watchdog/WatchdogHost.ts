/**
 * The host of the watchdog: it runs beside the event loop, on hosts with threads.
 *
 * A run that never returns cannot be stopped within its process. The watchdog records
 * the run and ends the process. The mark tells the space at its next opening which run
 * was in progress.
 *
 * @module
 */
import type { RunBoard, Mark } from "./RunBoard.ts"

/** The record that the previous process left of a space. */
export interface WatchdogRecord {
  readonly marks: ReadonlyArray<Mark>
  /** The head at the first beat of the previous process, unless it closed the space; -1 before the first beat. */
  readonly began: number | undefined
}

/**
 * The watchdog of a host. All calls are synchronous, since a process may end in the next statement.
 */
export interface WatchdogHost {
  readonly board: RunBoard
  /** Calls back once the thread has returned to the event loop. */
  readonly afterTurn: (tell: () => void) => void
  /** The record of a space at its opening. A process may open a space several times. */
  readonly recordOf: (space: string) => WatchdogRecord
  /** Records that the space runs its first beat in this process, on this head. */
  readonly begin: (space: string, head: number) => void
  /** The space is closed and will reopen on demand. Forgets how the previous process ended, and keeps the marks. */
  readonly close: (space: string) => void
  /** Replaces the marks of the space; durably, unless there are none. */
  readonly note: (space: string, marks: ReadonlyArray<Mark>) => void
}
