/**
 * Real time for what measures it, and one seed for every beat.
 *
 * @module
 */
import { Layer } from "effect"
import { Pacemaker } from "systole"

/** Beats as soon as the host comes round to it. */
export const layer = Layer.succeed(Pacemaker, {
  now: Date.now,
  seed: () => "0123456789abcdef0123456789abcdef",
  turn: (run) => void setImmediate(run),
  wake: (at, run) => {
    const timer = setTimeout(run, Math.max(0, at - Date.now()))
    return () => clearTimeout(timer)
  }
})
