/**
 * The watchdog of runs, on a host that has one.
 *
 * @module
 */
import * as Context from "effect/Context"
import { SpaceWatchdog, type WatchedSpace } from "./SpaceWatchdog.ts"
import type { WatchdogHost } from "./WatchdogHost.ts"

/**
 * The watchdog of the spaces of a kernel.
 */
export interface Watchdog {
  /** Watches the runs of a space from its opening on. */
  readonly open: (space: WatchedSpace) => SpaceWatchdog
  /** The space is closed and will reopen on demand. */
  readonly close: (space: string) => void
}

/**
 * The watchdog over that of a host.
 */
export const make = (host: WatchdogHost): Watchdog => ({
  open: (space) => new SpaceWatchdog(space, host),
  close: (space) => host.close(space)
})

/**
 * The watchdog of the host; `undefined` by default, as on a host without threads, whose bundle then has no code for it.
 */
export const CurrentWatchdog = Context.Reference<Watchdog | undefined>("systole/kernel/Watchdog", {
  defaultValue: () => undefined
})
