/**
 * Durable runs that wait for a result, by the ids of their operations.
 *
 * Each is one row of the store, with a number and its timers in memory.
 *
 * @module
 */
import { Heap } from "../../cell/Heap.ts"
import type { Timer } from "../../stage/CellTimers.ts"
import type { ListedPairs, Pair } from "../../durable/Pairs.ts"
import { type Heard, MAX_HEARD, type PendingSignal, type Signal } from "../model/Signal.ts"
import { Hearers } from "./Hearers.ts"
import type { TimerQueue } from "./TimerQueue.ts"

/**
 * A run that is not over. It waits for a result, or a beat has taken its next segment, or it still tries the first segment
 * of its handling or of its letter.
 */
interface OpenRun {
  readonly oid: string
  readonly enzyme: string
  state: "waits" | "taken" | "begins"
  /** Whether it is cancelled at once, for which it needs no enzyme. */
  isEnding: boolean
  /** The number of its newest row. */
  seq: number
  urgent: boolean
  /** Its timers while it waits. */
  timers: ReadonlyArray<Timer>
  /** The signals that it hears, by the numbers of the pairs. */
  hears: Array<Hearing>
}

/** A pair that a run hears. */
interface Hearing {
  readonly run: OpenRun
  readonly signal: string
  readonly target: string
  readonly pair: number
  /** The number of waits for it. */
  waits: number
}

const none: ReadonlyArray<never> = []

/**
 * The waiting runs of one space.
 *
 * There may be many, so a run has one entry with one object, and shares its texts.
 */
export class WaitingRuns {
  private readonly runs = new Map<string, OpenRun>()
  private readonly counts: Record<OpenRun["state"], number> = { waits: 0, taken: 0, begins: 0 }
  private readonly hearers = new Hearers<Hearing>()
  private readonly waits: TimerQueue

  constructor(waits: TimerQueue) {
    this.waits = waits
  }

  /** The number of runs that wait, or that were taken and are not over. */
  get open(): number {
    return this.counts.waits + this.counts.taken
  }

  /** The runs that are not over after one of them, in the order of their ids. No cell is read. */
  after(oid: string | undefined, limit: number): ReadonlyArray<string> {
    const greatest = new Heap<string>((a, b) => a < b ? 1 : -1)
    for (const found of this.runs.keys()) {
      const isPast = oid !== undefined && found <= oid
      const isBeyond = greatest.size >= limit && found > (greatest.peek() ?? "")
      if (isPast || isBeyond) continue
      greatest.push(found)
      if (greatest.size > limit) greatest.pop()
    }
    return Array.from({ length: greatest.size }, () => greatest.pop() ?? "").reverse()
  }

  /** Whether a run waits for a result. */
  has(oid: string): boolean {
    return this.runs.get(oid)?.state === "waits"
  }

  /** Adds a run, with a timer for each of its due times. Returns false if the row repeats a segment, or is of no run. */
  add({ again, seq, urgent }: PendingSignal): boolean {
    const found = again?.run
    if (found === undefined) return false
    const run = this.runs.get(found.oid) ?? this.begin(found.oid, again?.enzyme ?? "")
    this.hear(run, found)
    run.seq = seq
    run.urgent = urgent
    if (again?.why !== "segment") {
      if (again?.segment !== undefined && found.isAgain !== true) this.move(run, "taken")
      return false
    }
    this.move(run, "waits")
    run.timers = found.dues.map((due) => ({ key: run.oid, due, gone: false }))
    for (const timer of run.timers) this.waits.add({ seq, due: timer.due, again, timer, urgent })
    return true
  }

  private begin(oid: string, enzyme: string): OpenRun {
    const run: OpenRun = { oid, enzyme, state: "begins", isEnding: false, seq: -1, urgent: false, timers: none, hears: [] }
    this.runs.set(oid, run)
    this.counts.begins++
    return run
  }

  private move(run: OpenRun, state: OpenRun["state"]): void {
    this.counts[run.state]--
    this.counts[state]++
    run.state = state
  }

  /** Has a run hear these signals from now on, and no others. A list of changes says nothing about the other pairs. */
  private hear(run: OpenRun, { changed, hears }: ListedPairs): void {
    for (const gone of run.hears.splice(changed?.of ?? hears.length)) this.drop(gone)
    hears.forEach((pair, i) => this.put(run, changed?.numbers[i] ?? i, pair))
  }

  private put(run: OpenRun, number: number, [signal, target, waits]: Pair): void {
    const known = run.hears[number]
    if (known?.signal === signal && known.target === target) return void (known.waits = waits)
    if (known !== undefined) this.drop(known)
    run.hears[number] = this.hearers.add(signal, target, (signal) => ({ run, signal, target, pair: number, waits }))
  }

  private drop(hearing: Hearing): void {
    this.hearers.drop(hearing.signal, hearing.target, hearing)
  }

  /** Takes a run that ends, also if it is held; `undefined` for one that is taken, or unknown. */
  end(oid: string, isHeld: (seq: number) => boolean): Pick<OpenRun, "seq" | "urgent"> | undefined {
    const run = this.runs.get(oid)
    if (run === undefined) return undefined
    run.isEnding = true
    return this.take(oid) ?? (isHeld(run.seq) ? run : undefined)
  }

  /** Whether a run ends, and so needs no enzyme. */
  isEnding(oid = ""): boolean {
    return this.runs.get(oid)?.isEnding === true
  }

  /** The run is over. */
  forget(oid: string): void {
    const run = this.runs.get(oid)
    if (run === undefined) return
    this.hear(run, { hears: none })
    this.counts[run.state]--
    this.runs.delete(oid)
  }

  /** Drops a run that neither goes on nor hears. */
  discard(oid: string): void {
    this.take(oid)
    this.forget(oid)
  }

  /** The runs that hear a signal, in the order of their rows. `countOf` tells how many signals of a pair a run has heard. */
  hearersOf({ signal, target }: Signal, countOf: (oid: string, pair: number) => number): ReadonlyArray<Heard> {
    if (this.runs.size === 0 || signal === undefined || target === undefined) return none
    const found = this.hearers.of(signal, target)
    // A space that opens adds the runs in this order, too.
    const ordered = found.length < 2 ? found : found.toSorted((a, b) => a.run.seq - b.run.seq)
    return ordered.flatMap(({ pair, run: { enzyme, oid }, waits }): ReadonlyArray<Heard> => {
      const nth = countOf(oid, pair)
      return nth - waits >= MAX_HEARD ? none : [{ oid, pair, nth, isAwaited: nth < waits, enzyme }]
    })
  }

  /** Takes a run that goes on, with its timers; `undefined` for one that does not wait. `fired` has left the queue of timers. */
  take(oid: string, fired?: Timer): Pick<OpenRun, "seq" | "urgent"> | undefined {
    const run = this.runs.get(oid)
    if (run?.state !== "waits") return undefined
    this.move(run, "taken")
    for (const timer of run.timers) timer.gone = true
    this.waits.rebook({ gone: run.timers.filter((timer) => timer !== fired), next: [] }, { number: () => 0, urgent: false })
    run.timers = none
    return run
  }
}
