/**
 * The hosts of a simulated world, and their time: that of the world, with an error of their own.
 *
 * @module
 */
import type { Scope } from "effect"
import type { Kernel, Pacemaker } from "systole"
import type * as Random from "../support/Random.ts"
import type { Door } from "./Door.ts"
import { EPOCH, type WorldClock } from "./WorldClock.ts"

/** A host: one process after another. */
export interface Host {
  skew: number
  /** The time for which it slept. */
  slept: number
  /** The calls that wait for its waking, while it sleeps. */
  dreams: Array<() => void> | undefined
  /** The number of its process; a process with an older number is dead. */
  life: number
  kernel: Kernel["Service"] | undefined
  door: Door | undefined
  /** The wakes of its resting spaces. */
  readonly wakes: Set<() => void>
  /** The calls to make when its process ends. */
  readonly ends: Array<() => void>
  scope: Scope.Closeable | undefined
}

/** A host that is down. */
export const make = (): Host => ({
  skew: 0, slept: 0, dreams: undefined, life: 0, kernel: undefined, door: undefined, wakes: new Set(), ends: [], scope: undefined
})

/** The parts of a world that a process uses. */
interface Around {
  readonly clock: WorldClock
  readonly random: Random.Random
  readonly turn: (run: () => void) => void
  /** Calls once the host does not sleep, unless the process is over then. */
  readonly awake: (run: () => void) => void
}

/** The pacemaker of a process. */
export const pacemaker = (host: Host, { awake, clock, random, turn }: Around): Pacemaker["Service"] => {
  const timer = (at: number, run: () => void) => clock.at(at - EPOCH - host.skew, () => awake(run))
  return {
    now: () => EPOCH + clock.elapsed + host.skew,
    elapsed: () => clock.elapsed - host.slept,
    seed: () => Array.from({ length: 32 }, () => random(16).toString(16)).join(""),
    turn,
    timer,
    wake: (at, run) => {
      const once = (): void => {
        if (host.wakes.delete(once)) awake(run)
      }
      host.wakes.add(once)
      const cancel = timer(at, once)
      return () => {
        host.wakes.delete(once)
        cancel()
      }
    }
  }
}
