/**
 * The supervision of runs on a host with a watchdog.
 *
 * @module
 */
import * as Context from "effect/Context"
import { RunSupervisor, type Watched } from "./RunSupervisor.ts"
import type { Watchdog } from "./Watchdog.ts"

/**
 * The supervision of the spaces of a kernel.
 */
export interface Supervision {
  /** Supervises the runs of a space from its opening on. */
  readonly supervise: (watched: Watched) => RunSupervisor
  /** The space is closed and will reopen on demand. */
  readonly closed: (space: string) => void
}

/**
 * The supervision by a watchdog.
 */
export const make = (watchdog: Watchdog): Supervision => ({
  supervise: (watched) => new RunSupervisor(watched, watchdog),
  closed: (space) => watchdog.closed(space)
})

/**
 * The supervision of the host; `undefined` by default, as on a host without threads, whose bundle then has no code for it.
 */
export const CurrentSupervision = Context.Reference<Supervision | undefined>("systole/kernel/Supervision", {
  defaultValue: () => undefined
})
