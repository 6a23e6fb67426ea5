/**
 * Durable runs that wait for a result, by the ids of their operations.
 *
 * Each is one row of the store, with a number and its timers in memory.
 *
 * @module
 */
import type { Timer } from "../../stage/CellTimers.ts"
import type { Pending } from "../model/Signal.ts"
import type { TimerQueue } from "./TimerQueue.ts"

/** A run that waits: the number of its row, and its timers. */
interface WaitingRun {
  readonly seq: number
  readonly urgent: boolean
  readonly timers: ReadonlyArray<Timer>
}

/**
 * The waiting runs of one space.
 *
 * @category models
 * @since 0.1.0
 */
export class WaitingRuns {
  private readonly runs = new Map<string, WaitingRun>()
  private readonly waits: TimerQueue

  constructor(waits: TimerQueue) {
    this.waits = waits
  }

  get size(): number {
    return this.runs.size
  }

  /** Adds a run, with a timer for each of its due times. */
  add({ again, seq, urgent }: Pending, run: NonNullable<NonNullable<Pending["again"]>["run"]>): void {
    const timers = run.dues.map((due) => ({ key: run.oid, due, gone: false }))
    for (const timer of timers) this.waits.add({ seq, due: timer.due, again, timer, urgent })
    this.runs.set(run.oid, { seq, urgent, timers })
  }

  /** Takes a run that goes on, with its timers; `undefined` for one that does not wait. */
  take(oid: string): Pick<WaitingRun, "seq" | "urgent"> | undefined {
    const run = this.runs.get(oid)
    if (run === undefined) return undefined
    this.runs.delete(oid)
    for (const timer of run.timers) timer.gone = true
    // The timer that fired has left the queue.
    this.waits.rebook({ gone: run.timers.slice(1), next: [] }, { number: () => 0, urgent: false })
    return run
  }
}
