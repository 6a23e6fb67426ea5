/**
 * Time and chance of the host.
 *
 * @module
 */
import * as Layer from "effect/Layer"
import { Pacemaker, type Turn } from "../kernel/model/Pacemaker.ts"

/** The longest that a host's timer waits. */
const MAX_DELAY = 2_147_483_647

/**
 * The host's clock, and its turns.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (turn: Turn): Layer.Layer<Pacemaker> =>
  Layer.succeed(Pacemaker, { now: Date.now, seed, turn, wake })

const seed = (): string => crypto.randomUUID().replaceAll("-", "")

/** Arms one timer, and again where the moment is further away than a timer reaches. */
const wake = (at: number, run: () => void): () => void => {
  let timer: ReturnType<typeof setTimeout>
  const arm = (): void => {
    const delay = Math.max(0, at - Date.now())
    timer = delay > MAX_DELAY ? setTimeout(arm, MAX_DELAY) : setTimeout(run, delay)
  }
  arm()
  return () => clearTimeout(timer)
}
