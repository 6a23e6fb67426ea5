/**
 * Pending pulls: places that callers outside wait for.
 *
 * Each beat brings these places up to date in its pass. A place behind a gate or a
 * backoff stays pending, and costs no beat until the gate opens.
 *
 * @module
 */
import type * as Address from "../../cell/Address.ts"
import type { Admits, Demand } from "../../scheduler/run/Demand.ts"

/** A place to settle, as of the beat that takes the request or a later one. */
export interface PullRequest {
  readonly address: Address.Address
  /** Whether a link to a place may be followed. */
  readonly admits?: Admits | undefined
  /** Called within the commit that settles the place. The committed value is the result. */
  readonly reached: () => void
}

/** A pull in progress. */
export interface PendingPull {
  /** The opening of the gate that delayed the place in the newest beat; `undefined` before the first. */
  readonly until: number | undefined
  readonly callOff: () => void
}

/** A pull with its request. */
interface PullEntry extends PendingPull {
  readonly wanted: PullRequest
  until: number | undefined
}

/**
 * The pending pulls of one space.
 */
export class PendingPulls {
  private readonly waiting = new Set<PullEntry>()

  add(wanted: PullRequest): PendingPull {
    const want: PullEntry = { wanted, until: undefined, callOff: () => void this.waiting.delete(want) }
    this.waiting.add(want)
    return want
  }

  get size(): number {
    return this.waiting.size
  }

  /** Whether a beat at this moment would serve a pull. */
  isRunnable(now: number): boolean {
    for (const { until } of this.waiting) if (until === undefined || until <= now) return true
    return false
  }

  /** The earliest opening of a gate that delays a pull. */
  get nextDue(): number | undefined {
    let due: number | undefined
    for (const { until } of this.waiting) if (until !== undefined) due = Math.min(due ?? until, until)
    return due
  }

  /** Within the pass: brings all places up to date, as far as gates permit. */
  demand(demands: Demand): void {
    for (const { wanted: { address, admits } } of this.waiting) demands.bring(address, admits)
  }

  /** The beat is in the store: answers the settled pulls, and records the gates of the others. */
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
