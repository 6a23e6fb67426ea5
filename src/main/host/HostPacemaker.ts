/**
 * The pacemaker of the host: its clock, timers and random seeds.
 *
 * Timers run by a monotonic clock, which stands still while the computer is asleep and does not know when its time is set.
 * So one watch of the process compares both clocks, and ends the waits of resting spaces early when they differ.
 *
 * @module
 */
import * as Layer from "effect/Layer"
import { Pacemaker, type Turn } from "../../kernel/model/Pacemaker.ts"

/** The maximum delay of a host timer, in milliseconds. */
const MAX_DELAY = 2_147_483_647

/** The time between two comparisons of the clocks, and the difference from which the clock was set, in milliseconds. */
const WATCH = 30_000
const STEP = 1000

/** The clocks of a host, and its timer, which does not keep the process alive when `watch` is set. */
export interface HostClocks {
  readonly now: () => number
  readonly elapsed: () => number
  /** Runs a function after some milliseconds. Returns its cancellation. */
  readonly after: (millis: number, run: () => void, watch?: boolean) => () => void
}

/** Lets the process end before a timer is due. A timer of Deno is a number. */
const letGo = (timer: ReturnType<typeof setTimeout> | number): void => {
  if (typeof timer === "object") timer.unref()
  else (globalThis as { readonly Deno?: { readonly unrefTimer: (timer: number) => void } }).Deno?.unrefTimer(timer)
}

const clocks: HostClocks = {
  now: Date.now,
  elapsed: () => performance.now(),
  after: (millis, run, watch = false) => {
    const timer: ReturnType<typeof setTimeout> | number = setTimeout(run, millis)
    if (watch) letGo(timer)
    return () => clearTimeout(timer)
  }
}

/**
 * The pacemaker with the given scheduling of turns.
 */
export const layer = (turn: Turn, host: HostClocks = clocks): Layer.Layer<Pacemaker> => Layer.sync(Pacemaker, () => {
  const { elapsed, now } = host
  return { now, elapsed, seed, turn, timer: timerOf(host), wake: watched(host) }
})

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
 */
export const sleeping = ({ arm, restMillis, turn }: HostAlarm): Layer.Layer<Pacemaker> =>
  Layer.succeed(Pacemaker, {
    now: Date.now,
    seed,
    turn,
    task: (run) => void setTimeout(run, 0),
    timer: timerOf(clocks),
    wake: (at, run) => {
      if (at - Date.now() <= restMillis) return timerOf(clocks)(at, run)
      arm(at)
      return () => {}
    }
  })

const seed = (): string => crypto.randomUUID().replaceAll("-", "")

type Timer = Pacemaker["Service"]["timer"]

/** Arms a timer. A delay above {@link MAX_DELAY} is split into several. */
const timerOf = ({ after, now }: HostClocks): Timer => (at, run) => {
  let cancel: () => void
  const arm = (): void => {
    const delay = Math.max(0, at - now())
    cancel = delay > MAX_DELAY ? after(MAX_DELAY, arm) : after(delay, run)
  }
  arm()
  return () => cancel()
}

/** A wake that is armed: it runs once. */
interface Wake {
  readonly run: () => void
  readonly cancel: () => void
}

/** Wakes that also run when the clock of the host was set, or when the host was asleep. */
const watched = (host: HostClocks): Timer => {
  const timer = timerOf(host)
  const armed = new Set<Wake>()
  let stop: (() => void) | undefined
  // A wake that runs may arm the next one, which is none of these.
  const runAll = (): void => {
    const wakes = Array.from(armed)
    for (const wake of wakes) wake.cancel()
    // Each in a turn of its own: an error of one ends none of the others, nor the watch.
    for (const wake of wakes) host.after(0, wake.run)
  }
  const watch = (): void => {
    const [now, elapsed] = [host.now(), host.elapsed()]
    stop = host.after(WATCH, () => {
      stop = undefined
      const step = host.now() - now - (host.elapsed() - elapsed)
      if (Math.abs(step) > STEP) runAll()
      if (stop === undefined && armed.size > 0) watch()
    }, true)
  }
  return (at, run) => {
    const once = (): void => {
      armed.delete(wake)
      run()
    }
    const cancelTimer = timer(at, once)
    const wake: Wake = {
      run,
      cancel: () => {
        armed.delete(wake)
        cancelTimer()
      }
    }
    armed.add(wake)
    if (stop === undefined) watch()
    return wake.cancel
  }
}
