/**
 * The guard: inspects the board from another thread, finds runs over their time limits, and decides when to end the
 * process.
 *
 * It accumulates the time between its inspections, with an upper bound for each interval. A clock adjustment or a
 * suspended machine therefore makes no run late.
 *
 * @module
 */
import { blamed, type RunBoard, type Run } from "../kernel/watchdog/RunBoard.ts"

/** The interval between two inspections, in milliseconds. */
export const LOOK_MILLIS = 100

/** The time limits of the guard. */
export interface Limits {
  /** From the limit of a run to the end of the process, in milliseconds. */
  readonly stuckMillis: number
  /** From the request to stop to the end of the process, in milliseconds. */
  readonly stopMillis: number
}

/** The result of an inspection. */
export interface Found {
  /** Runs over their limits. Each is reported once. */
  readonly late: ReadonlyArray<Run>
  /** The runs to record before the process ends; `undefined` if it continues. */
  readonly end: ReadonlyArray<Run> | undefined
}

interface Seen {
  readonly progress: number
  /** The observed run time, in milliseconds. */
  readonly millis: number
  readonly isReported: boolean
}

/** A run with its observed run time, in milliseconds. */
interface Timed {
  readonly run: Run
  readonly millis: number
}

/**
 * Tracks the run times across inspections.
 *
 * @category models
 * @since 0.1.0
 */
export class Guard {
  private readonly board: RunBoard
  private readonly limits: Limits
  private seen: ReadonlyMap<number, Seen> = new Map()
  private last: number | undefined
  private stopping = 0

  constructor(board: RunBoard, limits: Limits) {
    this.board = board
    this.limits = limits
  }

  /** Inspects the board. `now` is a monotonic time in milliseconds. */
  look(now: number): Found {
    // A longer interval means that the machine was suspended or the process was stopped.
    const passed = Math.min(now - (this.last ?? now), 2 * LOOK_MILLIS)
    this.last = now
    const runs = this.board.runs()
    const late: Array<Run> = []
    const isBusy = runs[0]?.place === 0
    const seen = new Map<number, Seen>()
    const timed: Array<Timed> = []
    for (const run of runs) {
      const before = this.seen.get(run.place)
      const isSame = before?.progress === run.progress
      // A waiting run does not age while another run occupies the thread.
      const millis = isSame ? before.millis + (isBusy && run.place > 0 ? 0 : passed) : 0
      const isLate = millis >= run.limitMs
      const isReported = isSame && before.isReported
      if (isLate && !isReported) late.push(run)
      seen.set(run.place, { progress: run.progress, millis, isReported: isReported || isLate })
      timed.push({ run, millis })
    }
    this.seen = seen
    return { late, end: this.end(timed, passed) }
  }

  private end(timed: ReadonlyArray<Timed>, passed: number): ReadonlyArray<Run> | undefined {
    const { isDebugged, isStopping } = this.board
    if (isDebugged) return undefined
    const { stopMillis, stuckMillis } = this.limits
    const over = (grace: number) => blamed(timed.filter(({ millis, run }) => millis >= run.limitMs + grace).map(({ run }) => run))
    const stuck = over(stuckMillis)
    if (stuck.length > 0) return stuck
    if (isStopping) this.stopping += passed
    return this.stopping >= stopMillis ? over(0) : undefined
  }
}
