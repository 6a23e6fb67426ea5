/**
 * Memory that a host keeps for a load that is over, given back.
 *
 * Engines grow their heap under load and give it back only under pressure, which a
 * process beside others never feels. A runtime at rest can afford the pause of a
 * whole collection (some 50 to 100 ms), so it takes one then, and once. With the
 * garbage goes what the engine has learned of the code, and the next load is
 * slower for its first second or two; so a short pause is no rest.
 *
 * @module
 */
import { setTimeout } from "node:timers"
import type { Turn } from "../kernel/model/Pacemaker.ts"

/** How long nothing turns before the runtime rests, in milliseconds. */
export const REST_MILLIS = 4000

/** How often it looks whether something turned since, in milliseconds: by so much it may rest later. */
const LOOK_MILLIS = 250

/** How many turns make it worth while. Fewer leave little behind. */
export const REST_TURNS = 100

/** What the host has for that. */
export interface Rest {
  readonly turn: Turn
  /** Runs later, and does not keep the process alive. */
  readonly later: (run: () => void, millis: number) => void
  /** Collects all that nothing uses, and gives the memory back. */
  readonly collect: () => Promise<void>
}

/**
 * The host's `turn`, which lets it collect after {@link REST_TURNS} turns and
 * {@link REST_MILLIS} without one. A host that cannot collect is not asked again.
 *
 * @category combinators
 * @since 0.1.0
 */
export const resting = ({ collect, later, turn }: Rest): Rest["turn"] => {
  let turns = 0
  let seen = 0
  let still = 0
  let watched = false
  let able = true
  const look = (): void => {
    still = turns === seen ? still + LOOK_MILLIS : 0
    if (still < REST_MILLIS) return watch()
    watched = false
    if (turns < REST_TURNS) return
    turns = 0
    collect().catch(() => {
      able = false
    })
  }
  const watch = (): void => {
    seen = turns
    later(look, LOOK_MILLIS)
  }
  return (run, again) => {
    turns++
    if (!watched && able) {
      watched = true
      still = 0
      watch()
    }
    turn(run, again)
  }
}

/**
 * A timer that the process does not wait for.
 *
 * @category combinators
 * @since 0.1.0
 */
export const later: Rest["later"] = (run, millis) => void setTimeout(run, millis).unref()

/**
 * Has V8 collect through the inspector, on a host that has no other way.
 *
 * @category combinators
 * @since 0.1.0
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
