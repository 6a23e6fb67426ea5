/**
 * The watchdog: beside the event loop, where the host has threads.
 *
 * A run that never returns cannot be stopped in its process. The watchdog names
 * it and ends the process; what was under way then is known when the space
 * opens again. (Architecture, section 4.)
 *
 * @module
 */
import * as Context from "effect/Context"
import type { RunBoard, Mark } from "./RunBoard.ts"

/** The marks of a space that the process before left. */
export interface Left {
  readonly marks: ReadonlyArray<Mark>
  /** The beat at which it began, where it did not end by being closed; -1 before the first. */
  readonly began: number | undefined
}

/**
 * What a host gives to it. All of it is synchronous, since a process may end in the next statement.
 *
 * @category services
 * @since 0.1.0
 */
export interface Watchdog {
  readonly board: RunBoard
  /** The note of a space at its opening, of which a process may have several. */
  readonly left: (space: string) => Left
  /** Notes that the space runs its first beat in this process, on this head. */
  readonly begins: (space: string, head: number) => void
  /** The space is closed, and opens again on demand: how the process before ended counts no more, and its marks do as they stand. */
  readonly closed: (space: string) => void
  /** Notes what is under way in the space, in place of what was noted before: durably where there is something. */
  readonly note: (space: string, marks: ReadonlyArray<Mark>) => void
}

/**
 * The watchdog of the host; none, unless it is given.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentWatchdog = Context.Reference<Watchdog | undefined>("systole/kernel/Watchdog", { defaultValue: () => undefined })
