/**
 * The pacemaker of the host: its clock, timers and random seeds.
 *
 * @module
 */
import * as Layer from "effect/Layer"
import { Pacemaker, type Turn } from "../kernel/model/Pacemaker.ts"

/** The maximum delay of a host timer, in milliseconds. */
const MAX_DELAY = 2_147_483_647

/**
 * The pacemaker with the given scheduling of turns.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (turn: Turn): Layer.Layer<Pacemaker> =>
  Layer.succeed(Pacemaker, { now: Date.now, seed, turn, wake })

const seed = (): string => crypto.randomUUID().replaceAll("-", "")

/** Arms a timer. A delay above {@link MAX_DELAY} is split into several. */
const wake = (at: number, run: () => void): () => void => {
  let timer: ReturnType<typeof setTimeout>
  const arm = (): void => {
    const delay = Math.max(0, at - Date.now())
    timer = delay > MAX_DELAY ? setTimeout(arm, MAX_DELAY) : setTimeout(run, delay)
  }
  arm()
  return () => clearTimeout(timer)
}
