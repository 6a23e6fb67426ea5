/**
 * A pacemaker with real time for measurements, and one seed for every beat.
 *
 * @module
 */
import { Layer } from "effect"
import { Pacemaker } from "systole"

/** Runs each beat in the next turn of the event loop. */
export const layer = Layer.succeed(Pacemaker, {
  now: Date.now,
  seed: () => "0123456789abcdef0123456789abcdef",
  turn: (run) => void setImmediate(run),
  wake: (at, run) => {
    const timer = setTimeout(run, Math.max(0, at - Date.now()))
    return () => clearTimeout(timer)
  }
})
