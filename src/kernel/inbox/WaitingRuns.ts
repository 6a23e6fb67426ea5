/**
 * Durable runs that wait for a result, by the ids of their operations.
 *
 * Each is one row of the store, with a number and its timers in memory.
 *
 * @module
 */
import type { Timer } from "../../stage/CellTimers.ts"
import { drop, push } from "../../registry/MultiMap.ts"
import { type Heard, MAX_HEARD, type Pending, type Signal, type WaitingRun as Run } from "../model/Signal.ts"
import type { TimerQueue } from "./TimerQueue.ts"

/** A run that waits: the number of its row, and its timers. */
interface Waiting {
  readonly seq: number
  readonly urgent: boolean
  readonly timers: ReadonlyArray<Timer>
}

const none: ReadonlyArray<never> = []

/**
 * The waiting runs of one space.
 *
 * @category models
 * @since 0.1.0
 */
export class WaitingRuns {
  private readonly runs = new Map<string, Waiting>()
  /** The runs that hear signals, by their operations and by signal and target. */
  private readonly hearing = new Map<string, Run>()
  private readonly hearers = new Map<string, Array<string>>()
  /** Runs of which a beat has taken the next segment, or which repeat one. */
  private readonly taken = new Set<string>()
  private readonly waits: TimerQueue

  constructor(waits: TimerQueue) {
    this.waits = waits
  }

  get size(): number {
    return this.runs.size
  }

  /** The number of runs that wait, or that were taken and are not over. */
  get open(): number {
    return this.runs.size + this.taken.size
  }

  /** Whether a run waits for a result. */
  has(oid: string): boolean {
    return this.runs.has(oid)
  }

  /** Adds a run, with a timer for each of its due times. Returns false if the row repeats a segment, or is of no run. */
  add({ again, seq, urgent }: Pending): boolean {
    const run = again?.run
    if (run === undefined) return false
    this.hear(run)
    if (again?.why !== "segment") {
      if (again?.segment !== undefined) this.taken.add(run.oid)
      return false
    }
    this.taken.delete(run.oid)
    const timers = run.dues.map((due) => ({ key: run.oid, due, gone: false }))
    for (const timer of timers) this.waits.add({ seq, due: timer.due, again, timer, urgent })
    this.runs.set(run.oid, { seq, urgent, timers })
    return true
  }

  /** Has a run hear its signals from now on. */
  private hear(run: Run): void {
    this.unhear(run.oid)
    if (run.hears.length === 0) return
    this.hearing.set(run.oid, run)
    for (const [signal, target] of run.hears) push(this.hearers, `${signal} ${target}`, run.oid)
  }

  /** The run is over. */
  forget(oid: string): void {
    this.taken.delete(oid)
    this.unhear(oid)
  }

  private unhear(oid: string): void {
    const run = this.hearing.get(oid)
    if (run === undefined) return
    this.hearing.delete(oid)
    for (const [signal, target] of run.hears) drop(this.hearers, `${signal} ${target}`, (other) => other === oid)
  }

  /** Drops a run that neither goes on nor hears. */
  discard(oid: string): void {
    this.take(oid)
    this.forget(oid)
  }

  /** The runs that hear a signal. `countOf` tells how many signals of a pair a run has heard. */
  hearersOf({ signal, target }: Signal, countOf: (oid: string, pair: number) => number): ReadonlyArray<Heard> {
    if (this.hearing.size === 0 || signal === undefined || target === undefined) return none
    return (this.hearers.get(`${signal} ${target}`) ?? none).flatMap((oid): ReadonlyArray<Heard> => {
      const hears = this.hearing.get(oid)?.hears ?? none
      const pair = hears.findIndex(([path, cell]) => path === signal && cell === target)
      const nth = countOf(oid, pair)
      const waits = hears[pair]?.[2] ?? 0
      return nth - waits >= MAX_HEARD ? none : [{ oid, pair, nth, isAwaited: nth < waits }]
    })
  }

  /** Takes a run that goes on, with its timers; `undefined` for one that does not wait. `fired` has left the queue of timers. */
  take(oid: string, fired?: Timer): Pick<Waiting, "seq" | "urgent"> | undefined {
    const run = this.runs.get(oid)
    if (run === undefined) return undefined
    this.runs.delete(oid)
    this.taken.add(oid)
    for (const timer of run.timers) timer.gone = true
    this.waits.rebook({ gone: run.timers.filter((timer) => timer !== fired), next: [] }, { number: () => 0, urgent: false })
    return run
  }
}
