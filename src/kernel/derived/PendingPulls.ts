/**
 * Wants: the places that pulls from outside wait for.
 *
 * Each beat brings them up to date in its pass. A place that a gate or a backoff
 * still holds back then stays wanted, and costs no beat until that opens.
 * (Architecture, section 6.)
 *
 * @module
 */
import type * as Address from "../../cell/Address.ts"
import type { Admits, Demand } from "../../scheduler/Demand.ts"

/** A place that has to be settled as of the beat that takes the want, or a later one. */
export interface PullRequest {
  readonly address: Address.Address
  /** Whether a link may be followed to a place. */
  readonly admits?: Admits | undefined
  /** Told within the commit that settles it: what is committed then is the value. */
  readonly reached: () => void
}

/** A pull that waits. */
export interface PendingPull {
  /** When the gate opens that held the place back in the newest beat; `undefined` before the first. */
  readonly until: number | undefined
  readonly callOff: () => void
}

/** A want as it stands. */
interface Standing extends PendingPull {
  readonly wanted: PullRequest
  until: number | undefined
}

/**
 * The wants of one space.
 *
 * @category models
 * @since 0.1.0
 */
export class PendingPulls {
  private readonly waiting = new Set<Standing>()

  add(wanted: PullRequest): PendingPull {
    const want: Standing = { wanted, until: undefined, callOff: () => void this.waiting.delete(want) }
    this.waiting.add(want)
    return want
  }

  get size(): number {
    return this.waiting.size
  }

  /** Whether a beat is to look at one of them at this moment. */
  isRunnable(now: number): boolean {
    for (const { until } of this.waiting) if (until === undefined || until <= now) return true
    return false
  }

  /** When the earliest gate opens that one of them waits for. */
  get nextDue(): number | undefined {
    let due: number | undefined
    for (const { until } of this.waiting) if (until !== undefined) due = Math.min(due ?? until, until)
    return due
  }

  /** Within the pass: brings all of them up to date, as far as gates let it. */
  demand(demands: Demand): void {
    for (const { wanted: { address, admits } } of this.waiting) demands.bring(address, admits)
  }

  /** The beat is in the store: tells those that are settled, and notes until when the others are held back. */
  committed(demands: Demand): void {
    for (const want of this.waiting) {
      const { address, admits, reached } = want.wanted
      want.until = demands.heldUntil(address, admits)
      if (want.until !== undefined) continue
      want.callOff()
      reached()
    }
  }
}
