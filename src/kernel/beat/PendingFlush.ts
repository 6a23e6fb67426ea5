/**
 * The flush while an asynchronous run is pending.
 *
 * Signals and complete beats become durable meanwhile. A segment of a durable run ends within a turn, and then its beat
 * is part of the same flush. So the flush begins after the first turn in which no run ended.
 *
 * @module
 */
import type { Turn } from "../model/Pacemaker.ts"

/** The runs of the pending beat, and the flush for them. */
interface Runs {
  /** Whether a run is pending. */
  readonly isPending: () => boolean
  /** The number of runs that have ended since the space was opened. */
  readonly ended: () => number
  readonly flush: () => void
}

/** The host, and the longest wait while runs end, in milliseconds. */
interface Waiting {
  readonly now: () => number
  readonly turn: Turn
  readonly millis: number
}

/**
 * Schedules the flushes of one space for its pending runs.
 */
export class PendingFlush {
  private readonly runs: Runs
  private readonly host: Waiting
  private isScheduled = false

  constructor(runs: Runs, host: Waiting) {
    this.runs = runs
    this.host = host
  }

  /** Flushes after the first turn in which no run ends, or at the limit, if a run is pending by then. */
  schedule(): void {
    if (this.isScheduled) return
    this.isScheduled = true
    this.look(this.runs.ended(), this.host.now() + this.host.millis)
  }

  private look(seen: number, until: number): void {
    this.host.turn(() => {
      const ended = this.runs.ended()
      const isPending = this.runs.isPending()
      if (isPending && ended !== seen && this.host.now() < until) return this.look(ended, until)
      this.isScheduled = false
      if (isPending) this.runs.flush()
    })
  }
}
