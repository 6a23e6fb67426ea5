/**
 * The timer queue: three heaps of timers.
 *
 * The first heap holds timers with a clock time, the second those with a beat number
 * alone. A timer with both moves to the third heap when its clock time is reached. There
 * only the beat number is left, and an idle space may skip to it. Nothing is scanned.
 *
 * @module
 */
import { Heap } from "../../cell/Heap.ts"
import type { Timer as LedgerTimer, TimerChange } from "../../stage/CellTimers.ts"
import type { PendingSignal } from "../model/Signal.ts"

/** The clock time at which a timer needs the next beat, and the beat number that it has to reach. */
export interface NextDue {
  readonly moment: number
  readonly beat: number | undefined
}

/** A timer with the sequence number of its subject. */
export interface Timer {
  readonly seq: number
  readonly beat: number | undefined
  readonly moment: number | undefined
  /** Whether the subject is a further attempt. */
  readonly again: boolean
  /** Whether the subject is in the control class. */
  readonly urgent: boolean
  /** The timer of a ledger; `undefined` for signals. */
  readonly timer: LedgerTimer | undefined
}

/** A timer with a clock time, and one with a beat number. */
type MomentTimer = Timer & { readonly moment: number }
type BeatTimer = Timer & { readonly beat: number }

/** The arguments of `add`. */
export type NewTimer = Pick<PendingSignal, "seq" | "due" | "again"> & {
  readonly timer?: LedgerTimer
  readonly urgent?: boolean
}

/** Least number of cancelled timers before they are removed. */
const DROPPED = 1024

/**
 * The timers of one space.
 */
export class TimerQueue {
  private readonly byMoment = new Heap<MomentTimer>((a, b) => a.moment - b.moment || a.seq - b.seq)
  private readonly byBeat = new Heap<BeatTimer>(beatOrder)
  private readonly ripe = new Heap<BeatTimer & MomentTimer>(beatOrder)
  /** Number of cancelled timers that are still in a heap. */
  private dropped = 0

  get size(): number {
    return this.byMoment.size + this.byBeat.size + this.ripe.size
  }

  add({ again, due, seq, timer, urgent = false }: NewTimer): void {
    const added: Timer = { seq, beat: due?.beat, moment: due?.moment, again: again !== undefined, urgent, timer }
    if (hasMoment(added)) this.byMoment.push(added)
    else if (hasBeat(added)) this.byBeat.push(added)
    else throw new TypeError(`timer ${seq} has neither a moment nor a beat`)
  }

  /** Replaces timers of a ledger. Urgent ones run while the space is paused. */
  rebook({ gone, next }: TimerChange, { number, urgent }: { readonly number: () => number; readonly urgent: boolean }): void {
    for (let i = 0; i < gone.length; i++) this.drop()
    for (const timer of next) this.add({ seq: number(), again: undefined, due: timer.due, timer, urgent })
  }

  /** Counts a cancelled timer. Cancelled timers are removed once they outweigh the others, so each costs the same. */
  private drop(): void {
    if (++this.dropped < Math.max(DROPPED, this.size / 2)) return
    for (const heap of [this.byMoment, this.byBeat, this.ripe]) heap.retain(isAwaited)
    this.dropped = 0
  }

  /** Removes the timers due in `beat` at `clock`, at most `limit` from each heap, by sequence number. */
  take(beat: number, clock: number, limit: number): ReadonlyArray<Timer> {
    const due: Array<Timer> = []
    for (let left = limit; left > 0; left--) {
      const next = first(this.byMoment)
      if (next === undefined || next.moment > clock) break
      this.byMoment.pop()
      if (hasBeat(next) && next.beat > beat) this.ripe.push(next)
      else due.push(next)
    }
    drain(this.byBeat, { beat, limit }, due)
    drain(this.ripe, { beat, limit }, due)
    return due.sort((a, b) => a.seq - b.seq)
  }

  /** The sequence numbers of all delayed signals, in no order. */
  *delayed(): Generator<number> {
    for (const heap of [this.byMoment, this.byBeat, this.ripe]) {
      for (const { again, seq, timer } of heap) if (timer === undefined && !again) yield seq
    }
  }

  /** Whether a timer is due in `beat` at `clock`. */
  isDue(beat: number, clock: number): boolean {
    const next = first(this.byMoment)
    if (next !== undefined && next.moment <= clock && (next.beat === undefined || next.beat <= beat)) return true
    return reaches(this.byBeat, beat) || reaches(this.ripe, beat)
  }

  /** The earliest clock time of a timer, for a space that is idle since `last`. */
  next(last: { readonly beat: number; readonly clock: number; readonly tempo: number }): NextDue | undefined {
    const soonest = first(this.ripe) ?? first(this.byMoment)
    const beat = first(this.byBeat)?.beat
    const byMoment = soonest === undefined ? undefined : { moment: soonest.moment, beat: soonest.beat }
    if (beat === undefined) return byMoment
    const byBeat = { moment: last.clock + Math.max(0, beat - last.beat) * last.tempo, beat }
    return byMoment !== undefined && byMoment.moment <= byBeat.moment ? byMoment : byBeat
  }
}

const hasMoment = (timer: Timer): timer is MomentTimer => timer.moment !== undefined

const hasBeat = <T extends Timer>(timer: T): timer is T & BeatTimer => timer.beat !== undefined

/** Whether a beat number reaches the first timer of a heap ordered by beats. */
const reaches = (heap: Pick<Heap<BeatTimer>, "peek" | "pop">, beat: number): boolean => (first(heap)?.beat ?? Infinity) <= beat

/** Moves at most `limit` timers that a beat number reaches from a heap to a list. */
const drain = (
  heap: Pick<Heap<BeatTimer>, "peek" | "pop">,
  { beat, limit }: { readonly beat: number; readonly limit: number },
  due: Array<Timer>
): void => {
  for (let left = limit; left > 0; left--) {
    const next = first(heap)
    if (next === undefined || next.beat > beat) return
    heap.pop()
    due.push(next)
  }
}

const isAwaited = ({ timer }: Timer): boolean => timer?.gone !== true

/** The first live timer. Removes cancelled ones from the top. */
const first = <T extends Timer>(heap: Pick<Heap<T>, "peek" | "pop">): T | undefined => {
  for (let timer = heap.peek(); timer !== undefined; timer = heap.peek()) {
    if (isAwaited(timer)) return timer
    heap.pop()
  }
  return undefined
}

const beatOrder = (a: BeatTimer, b: BeatTimer): number => a.beat - b.beat || a.seq - b.seq
