/**
 * A pacemaker with real time for measurements, and one seed for every beat.
 *
 * @module
 */
import { Layer } from "effect"
import { Pacemaker } from "systole"

const timer = (at: number, run: () => void) => {
  const timer = setTimeout(run, Math.max(0, at - Date.now()))
  return () => clearTimeout(timer)
}

/** Runs each beat in the next turn of the event loop. */
export const layer = Layer.succeed(Pacemaker, {
  now: Date.now,
  seed: () => "0123456789abcdef0123456789abcdef",
  turn: (run) => void setImmediate(run),
  timer,
  wake: timer
})
