/**
 * Collects garbage when the runtime becomes idle after a load.
 *
 * JavaScript engines grow their heap under load and shrink it under memory pressure only, which a process among others
 * rarely sees. An idle runtime can afford the pause of one full collection (50 to 100 ms).
 * The collection also discards optimized code, so the next load is slower for one or two seconds. A short pause in the
 * load therefore does not count as idle.
 *
 * @module
 */
import { setTimeout } from "node:timers"
import type { Turn } from "../../kernel/model/Pacemaker.ts"

/** The time without a turn after which the runtime counts as idle, in milliseconds. */
export const IDLE_MILLIS = 4000

/** The interval of the idle check, in milliseconds. The collection may be late by this much. */
const CHECK_MILLIS = 250

/** The minimum number of turns before a collection. Fewer turns leave little garbage. */
export const MIN_TURNS = 100

/** The functions of the host that the collector uses. */
export interface HostCollector {
  readonly turn: Turn
  /** Calls `run` after a delay without keeping the process alive. */
  readonly later: (run: () => void, millis: number) => void
  /** Runs a full garbage collection and returns the memory to the system. */
  readonly collect: () => Promise<void>
}

/**
 * Wraps the `turn` of the host. It collects after at least {@link MIN_TURNS} turns, followed by {@link IDLE_MILLIS}
 * without one. After a failed collection it does not collect again.
 */
export const collectWhenIdle = ({ collect, later, turn }: HostCollector): HostCollector["turn"] => {
  let turns = 0
  let seen = 0
  let idleMillis = 0
  let isArmed = false
  let canCollect = true
  const check = (): void => {
    idleMillis = turns === seen ? idleMillis + CHECK_MILLIS : 0
    if (idleMillis < IDLE_MILLIS) return arm()
    isArmed = false
    if (turns < MIN_TURNS) return
    turns = 0
    collect().catch(() => {
      canCollect = false
    })
  }
  const arm = (): void => {
    seen = turns
    later(check, CHECK_MILLIS)
  }
  return (run, again) => {
    turns++
    if (!isArmed && canCollect) {
      isArmed = true
      idleMillis = 0
      arm()
    }
    turn(run, again)
  }
}

/**
 * A timer that does not keep the process alive.
 */
export const later: HostCollector["later"] = (run, millis) => void setTimeout(run, millis).unref()

/**
 * Runs a full collection of V8 through the inspector, for hosts without a direct function.
 */
export const collectV8 = async (): Promise<void> => {
  const { Session } = await import("node:inspector/promises")
  const session = new Session()
  session.connect()
  try {
    await session.post("HeapProfiler.collectGarbage")
  } finally {
    session.disconnect()
  }
}
