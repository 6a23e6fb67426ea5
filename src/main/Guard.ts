/**
 * The guard: looks at the board from another thread, names the runs that are over
 * their limits, and says when the process is to end.
 *
 * It counts its own looks and not the host's clock, so neither a clock that is
 * set nor a machine that slept makes a run late.
 *
 * @module
 */
import { blamed, type Board, type Run } from "../kernel/watchdog/Board.ts"

/** How often the guard looks, in milliseconds. */
export const LOOK_MILLIS = 100

/** The rules of the guard. */
export interface Limits {
  /** From the limit of a run to the end of the process, in milliseconds. */
  readonly stuckMillis: number
  /** From the request to stop to the end of the process, in milliseconds. */
  readonly stopMillis: number
}

/** The result of a look. */
export interface Found {
  /** Runs that are over their limits, each told once. */
  readonly late: ReadonlyArray<Run>
  /** The runs to be noted, where the process is to end now. */
  readonly end: ReadonlyArray<Run> | undefined
}

interface Seen {
  readonly progress: number
  /** How long it is under way as far as the guard has seen, in milliseconds. */
  readonly millis: number
  readonly isTold: boolean
}

/**
 * Looks again and again.
 *
 * @category models
 * @since 0.1.0
 */
export class Guard {
  private readonly board: Board
  private readonly limits: Limits
  private seen: ReadonlyMap<number, Seen> = new Map()
  private last: number | undefined
  private stopping = 0

  constructor(board: Board, limits: Limits) {
    this.board = board
    this.limits = limits
  }

  /** Looks, at a moment of a clock that never goes back, in milliseconds. */
  look(now: number): Found {
    // After a longer pause the machine slept, or the process stood still as a whole.
    const passed = Math.min(now - (this.last ?? now), 2 * LOOK_MILLIS)
    this.last = now
    const runs = this.board.runs()
    const late: Array<Run> = []
    const isBusy = runs[0]?.place === 0
    const seen = new Map<number, Seen>()
    for (const run of runs) {
      const before = this.seen.get(run.place)
      const isSame = before?.progress === run.progress
      // What waits is not late while another run has the thread.
      const millis = isSame ? before.millis + (isBusy && run.place > 0 ? 0 : passed) : 0
      const isLate = millis >= run.limitMs
      const isTold = isSame && before.isTold
      if (isLate && !isTold) late.push(run)
      seen.set(run.place, { progress: run.progress, millis, isTold: isTold || isLate })
    }
    this.seen = seen
    return { late, end: this.end(runs, passed) }
  }

  private end(runs: ReadonlyArray<Run>, passed: number): ReadonlyArray<Run> | undefined {
    const { isDebugged, isStopping } = this.board
    if (isDebugged) return undefined
    const { stopMillis, stuckMillis } = this.limits
    const over = (millis: number) => blamed(runs.filter((run) => this.seen.get(run.place)!.millis >= run.limitMs + millis))
    const stuck = over(stuckMillis)
    if (stuck.length > 0) return stuck
    if (isStopping) this.stopping += passed
    return this.stopping >= stopMillis ? over(0) : undefined
  }
}
