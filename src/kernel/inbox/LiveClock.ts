/**
 * The clock of an open space, over that of its host.
 *
 * Everything in the space that takes time uses it, also its timers. If the host falls behind by more than a limit, the
 * clock continues from the newest beat or wait, and the next beat captures the offset.
 *
 * @module
 */
import type { Head } from "../../persistence/Persistence.ts"
import * as SpaceClock from "../../stage/SpaceClock.ts"
import type { RunHost } from "../watchdog/RunHost.ts"

/** The host of a space, and the clock as its newest beat left it. */
interface Dependencies {
  readonly host: RunHost
  readonly head: () => Head
  readonly recorded: SpaceClock.SpaceClock
  /** The most milliseconds for which the space waits until the host has caught up. */
  readonly behindMillis: number
}

/**
 * The clock of one space.
 */
export class LiveClock {
  /** The host, with the clock and the timers of the space. */
  readonly host: RunHost
  /** Milliseconds by which the space is ahead of its host. */
  private ahead: number
  /** The time at which the newest wait from outside began. No beat has captured it yet. */
  private begun = 0
  private readonly deps: Dependencies

  constructor(deps: Dependencies) {
    this.deps = deps
    this.ahead = SpaceClock.aheadOf(deps.recorded)
    const { host } = deps
    this.host = {
      ...host,
      now: () => this.now(),
      timer: (at, run) => host.timer(this.ofHost(at), run),
      wake: (at, run) => host.wake(this.ofHost(at), run)
    }
  }

  /** Milliseconds since 1970. It may be less than the clock of the newest beat by the limit. */
  private now(): number {
    const { behindMillis, host } = this.deps
    const now = host.now() + this.ahead
    const { newest } = this
    if (now >= newest - behindMillis) return now
    this.ahead += newest - now
    return newest
  }

  /** The clock of the newest beat or wait. No later beat is before it. */
  get newest(): number {
    return Math.max(this.deps.head().clock, this.begun)
  }

  /** Notes a wait that began between two beats. */
  note(begun: number): void {
    this.begun = Math.max(this.begun, begun)
  }

  /** The offset, as of the last look at the clock, that no beat has captured yet; `undefined` for none. */
  uncaptured(clock: SpaceClock.SpaceClock): number | undefined {
    return this.ahead === SpaceClock.aheadOf(clock) ? undefined : this.ahead
  }

  /** A time of the host by the clock of the space. */
  ofSpace(moment: number): number {
    return moment + this.ahead
  }

  /** A time of the space by the clock of the host. */
  ofHost(moment: number): number {
    return moment - this.ahead
  }

  /** A wake time by the clock of the host. One of 0 or less is at once, and `undefined` is never. */
  wakeOf(moment: number | undefined): number | undefined {
    return moment === undefined || moment <= 0 ? moment : this.ofHost(moment)
  }
}
