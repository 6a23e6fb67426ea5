/**
 * The turns of the host at which a group begins, and at which it is flushed while an asynchronous run is pending.
 *
 * A group starts at the host's next turn, and later while the inbox grows.
 *
 * While a run is pending, signals and complete beats become durable. A segment of a durable run ends within a turn, and then its
 * beat is part of the same flush. So the flush begins after the first turn in which no run ended.
 *
 * @module
 */
import type { Turn } from "../../model/Pacemaker.ts"

/** Schedules the groups of one space. */
export class GroupStart {
  private readonly turn: Turn
  /** The turns by which a start is deferred at most. */
  private readonly turns: number
  private readonly begin: () => void
  private scheduled = false
  private grown = 0

  constructor(turn: Turn, turns: number, begin: () => void) {
    this.turn = turn
    this.turns = turns
    this.begin = begin
  }

  /** Whether a start is scheduled. */
  get isScheduled(): boolean {
    return this.scheduled
  }

  /** Schedules a group for an inbox that has grown. */
  readonly wake = (): void => {
    this.grown++
    this.schedule()
  }

  /** Begins a group at the host's next turn. While the inbox grows, the start is deferred by a few turns. */
  schedule(): void {
    if (this.scheduled) return
    this.scheduled = true
    const wait = (seen: number, left: number): void => {
      this.turn(() => {
        if (this.grown !== seen && left > 0) return wait(this.grown, left - 1)
        this.scheduled = false
        this.begin()
      }, left < this.turns)
    }
    wait(this.grown, this.turns)
  }
}

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

/** Schedules the flushes of one space for its pending runs. */
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
