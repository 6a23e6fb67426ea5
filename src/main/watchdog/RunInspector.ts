/**
 * The inspector of runs: reads the board from another thread, finds runs over their time limits, and decides when to end the
 * process.
 *
 * It accumulates the time between its inspections, with an upper bound for each interval. A clock adjustment or a
 * suspended machine therefore makes no run late.
 *
 * @module
 */
import { blame, type RunBoard, type Run } from "../../kernel/watchdog/RunBoard.ts"
import { ThreadBoard } from "../../kernel/watchdog/ThreadBoard.ts"

/** The interval between two inspections, in milliseconds. */
export const INSPECTION_MILLIS = 100

/** The interval between two turns of the event loop that the host notes, in milliseconds. */
export const TURN_MILLIS = 1000

/** The time without a noted turn, at which code outside of runs holds the thread, in milliseconds. */
export const HELD_MILLIS = 2 * TURN_MILLIS

/** The time limits of the inspector. */
export interface Limits {
  /** From the limit of a run to the end of the process, in milliseconds. */
  readonly stuckMillis: number
  /** From the request to stop to the end of the process, in milliseconds. */
  readonly stopMillis: number
}

/** Code outside of runs that holds the thread. */
export interface ThreadHolder {
  /** The channel whose code it is, if it is known. */
  readonly holder: string | undefined
  /** The channels with jobs in progress. */
  readonly active: ReadonlyArray<string>
}

/** The result of an inspection. */
export interface Inspection {
  /** Runs over their limits. Each is reported once. */
  readonly late: ReadonlyArray<Run>
  /** The runs to record before the process ends; `undefined` if it continues. */
  readonly end: ReadonlyArray<Run> | undefined
  /** The code outside of runs that has held the thread for {@link HELD_MILLIS}, reported once; otherwise `undefined`. */
  readonly held: ThreadHolder | undefined
}

interface Observation {
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
 */
export class RunInspector {
  private readonly board: RunBoard
  private readonly thread: ThreadBoard
  private readonly limits: Limits
  private turns = 0
  /** The time without a noted turn, and whether it was reported. */
  private still = 0
  private isHeld = false
  private seen: ReadonlyMap<number, Observation> = new Map()
  private last: number | undefined
  private starved = 0
  private stopping = 0

  constructor(board: RunBoard, limits: Limits, thread = new ThreadBoard()) {
    this.board = board
    this.thread = thread
    this.limits = limits
  }

  /**
   * Inspects the board. `now` is a monotonic time in milliseconds, and `starved` the time for which the thread of the runs waited
   * for a core: other programs of the machine make no run late.
   */
  inspect(now: number, starved = 0): Inspection {
    // A longer interval means that the machine was suspended or the process was stopped.
    const interval = Math.min(now - (this.last ?? now), 2 * INSPECTION_MILLIS)
    const passed = Math.max(0, interval - (starved - this.starved))
    this.last = now
    this.starved = starved
    const runs = this.board.runs()
    const late: Array<Run> = []
    const isBusy = runs[0]?.place === 0
    // A run that waits, and never gave the thread back, may hold it itself; it is told as a run.
    const held = this.inspectTurns(passed, isBusy, runs.some(({ hasReturned }) => !hasReturned))
    const seen = new Map<number, Observation>()
    const timed: Array<Timed> = []
    for (const run of runs) {
      const before = this.seen.get(run.place)
      const isSame = before?.progress === run.progress
      const millis = isSame ? before.millis + (this.ages(run, isBusy) ? passed : 0) : 0
      const isLate = millis >= run.limitMs
      const isReported = isSame && before.isReported
      if (isLate && !isReported && !run.hasReturned) late.push(run)
      seen.set(run.place, { progress: run.progress, millis, isReported: isReported || isLate })
      timed.push({ run, millis })
    }
    this.seen = seen
    return { late, end: this.end(timed, passed), held }
  }

  /**
   * A waiting run does not age while another run occupies the thread. One that the thread returned from is ended by the kernel
   * at its limit, and ages only while the thread is held.
   */
  private ages({ hasReturned, place }: Run, isBusy: boolean): boolean {
    return place === 0 || !isBusy && (!hasReturned || this.isHeld)
  }

  private inspectTurns(passed: number, isBusy: boolean, mayBeRun: boolean): ThreadHolder | undefined {
    const { active, holder, turns } = this.thread
    this.still = turns === 0 || turns !== this.turns || isBusy ? 0 : this.still + passed
    this.turns = turns
    const wasHeld = this.isHeld
    this.isHeld = this.still >= HELD_MILLIS
    return this.isHeld && !wasHeld && (holder !== undefined || !mayBeRun) ? { active, holder } : undefined
  }

  private end(timed: ReadonlyArray<Timed>, passed: number): ReadonlyArray<Run> | undefined {
    const { isDebugged, isStopping } = this.board
    if (isDebugged) return undefined
    const { stopMillis, stuckMillis } = this.limits
    const over = (grace: number) => timed.filter(({ millis, run }) => millis >= run.limitMs + grace).map(({ run }) => run)
    const stuck = over(stuckMillis)
    if (stuck.length > 0) return blame(stuck)
    if (isStopping) this.stopping += passed
    return this.stopping >= stopMillis ? blame(over(0)) : undefined
  }
}
