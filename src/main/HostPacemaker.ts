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
  Layer.succeed(Pacemaker, { now: Date.now, seed, turn, timer, wake: timer })

/** The alarm of a host that sleeps. */
export interface HostAlarm {
  readonly turn: Turn
  /** The longest timer of a resting space, in milliseconds. */
  readonly restMillis: number
  /** Arms the alarm for a time, in milliseconds since 1970. */
  readonly arm: (moment: number) => void
}

/**
 * The pacemaker of a host that sleeps: a resting space with work at a later time has the alarm instead of a timer.
 *
 * @category layers
 * @since 0.1.0
 */
export const sleeping = ({ arm, restMillis, turn }: HostAlarm): Layer.Layer<Pacemaker> =>
  Layer.succeed(Pacemaker, {
    now: Date.now,
    seed,
    turn,
    task: (run) => void setTimeout(run, 0),
    timer,
    wake: (at, run) => {
      if (at - Date.now() <= restMillis) return timer(at, run)
      arm(at)
      return () => {}
    }
  })

const seed = (): string => crypto.randomUUID().replaceAll("-", "")

/** Arms a timer. A delay above {@link MAX_DELAY} is split into several. */
const timer = (at: number, run: () => void): () => void => {
  let armed: ReturnType<typeof setTimeout>
  const arm = (): void => {
    const delay = Math.max(0, at - Date.now())
    armed = delay > MAX_DELAY ? setTimeout(arm, MAX_DELAY) : setTimeout(run, delay)
  }
  arm()
  return () => clearTimeout(armed)
}
