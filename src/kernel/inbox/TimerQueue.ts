/**
 * Waits: everything that is due later, in three heaps.
 *
 * A wait for a moment lies in the first until the clock reaches it; one for a
 * beat's number in the second until the number does; one for both moves from the
 * first to the third when only the number is left, which an idle space may skip
 * to at once. Nothing is scanned, so what waits costs nothing.
 * (Architecture, section 1.2.)
 *
 * @module
 */
import { Heap } from "../../cell/Heap.ts"
import type { Watch } from "../../operation/Watches.ts"
import type { Appointment, Rebooked } from "../../stage/Calendar.ts"
import type { Pending } from "../model/Signal.ts"

/** When the next beat has to run for the sake of a wait, and the number it has to reach. */
export interface NextDue {
  readonly moment: number
  readonly beat: number | undefined
}

/** What waits, by its number, and what it waits for. */
export interface Timer {
  readonly seq: number
  readonly beat: number | undefined
  readonly moment: number | undefined
  /** Whether it is another attempt. */
  readonly again: boolean
  /** Whether it has to do with control. */
  readonly urgent: boolean
  /** The watcher of an operation whose time it is, where it is no signal. */
  readonly watch: Watch | undefined
  /** The cell whose time it is, where it is neither. */
  readonly appointment: Appointment | undefined
}

/** What is to wait. */
export type NewTimer = Pick<Pending, "seq" | "due" | "again"> & { readonly watch?: Watch; readonly appointment?: Appointment; readonly urgent?: boolean }

/** How many that wait for nothing any more are kept at least before they are cleared away. */
const DROPPED = 1024

/**
 * The waits of one space.
 *
 * @category models
 * @since 0.1.0
 */
export class TimerQueue {
  private readonly byMoment = new Heap<Timer>((a, b) => a.moment! - b.moment! || a.seq - b.seq)
  private readonly byBeat = new Heap<Timer>(beatOrder)
  private readonly ripe = new Heap<Timer>(beatOrder)
  /** How many of those that wait were dropped and are still there. */
  private dropped = 0

  get size(): number {
    return this.byMoment.size + this.byBeat.size + this.ripe.size
  }

  add({ again, appointment, due, seq, urgent = false, watch }: NewTimer): void {
    const wait: Timer = { seq, beat: due?.beat, moment: due?.moment, again: again !== undefined, urgent, watch, appointment }
    if (wait.moment === undefined) this.byBeat.push(wait)
    else this.byMoment.push(wait)
  }

  /** The times of a cell are other ones. */
  rebook({ gone, next }: Rebooked, number: () => number): void {
    for (let i = 0; i < gone.length; i++) this.drop()
    for (const appointment of next) this.add({ seq: number(), again: undefined, due: appointment.due, appointment })
  }

  /** One of those that wait was a watcher or an appointment that is gone. What nobody waits for is cleared away once it outweighs the rest, so each costs the same. */
  drop(): void {
    if (++this.dropped < Math.max(DROPPED, this.size / 2)) return
    for (const heap of [this.byMoment, this.byBeat, this.ripe]) heap.retain(isAwaited)
    this.dropped = 0
  }

  /** Takes out what is due in beat `beat` at `clock`, at most `limit` from each heap, in the order in which it came to wait. */
  take(beat: number, clock: number, limit: number): ReadonlyArray<Timer> {
    const due: Array<Timer> = []
    for (let left = limit; left > 0 && (first(this.byMoment)?.moment ?? Infinity) <= clock; left--) {
      const next = this.byMoment.pop()!
      if (next.beat === undefined || next.beat <= beat) due.push(next)
      else this.ripe.push(next)
    }
    for (const heap of [this.byBeat, this.ripe]) for (let left = limit; left > 0 && reaches(heap, beat); left--) due.push(heap.pop()!)
    return due.sort((a, b) => a.seq - b.seq)
  }

  /** Whether something is due in beat `beat` at `clock`. */
  isDue(beat: number, clock: number): boolean {
    const next = first(this.byMoment)
    if (next !== undefined && next.moment! <= clock && (next.beat === undefined || next.beat <= beat)) return true
    return reaches(this.byBeat, beat) || reaches(this.ripe, beat)
  }

  /** The earliest moment at which something is due, for a space that is idle since `last`. */
  next(last: { readonly beat: number; readonly clock: number; readonly tempo: number }): NextDue | undefined {
    const soonest = first(this.ripe) ?? first(this.byMoment)
    const beat = first(this.byBeat)?.beat
    const byMoment = soonest === undefined ? undefined : { moment: soonest.moment!, beat: soonest.beat }
    if (beat === undefined) return byMoment
    const byBeat = { moment: last.clock + Math.max(0, beat - last.beat) * last.tempo, beat }
    return byMoment !== undefined && byMoment.moment <= byBeat.moment ? byMoment : byBeat
  }
}

/** Whether a beat's number is enough for the first of those that wait for a number only. */
const reaches = (heap: Heap<Timer>, beat: number): boolean => (first(heap)?.beat ?? Infinity) <= beat

const isAwaited = ({ appointment, watch }: Timer): boolean => watch?.gone !== true && appointment?.gone !== true

/** The first that somebody still waits for. */
const first = (heap: Heap<Timer>): Timer | undefined => {
  for (let wait = heap.peek(); wait !== undefined; wait = heap.peek()) {
    if (isAwaited(wait)) return wait
    heap.pop()
  }
  return undefined
}

const beatOrder = (a: Timer, b: Timer): number => a.beat! - b.beat! || a.seq - b.seq
