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
import { Heap } from "../cell/Heap.ts"
import type { Pending } from "./Signal.ts"

/** When the next beat has to run for the sake of a wait, and the number it has to reach. */
export interface NextDue {
  readonly moment: number
  readonly beat: number | undefined
}

/**
 * The waits of one space.
 *
 * @category models
 * @since 0.1.0
 */
export class Waits {
  private readonly byMoment = new Heap<Pending>((a, b) => a.due!.moment! - b.due!.moment! || a.seq - b.seq)
  private readonly byBeat = new Heap<Pending>(beatOrder)
  private readonly ripe = new Heap<Pending>(beatOrder)

  get size(): number {
    return this.byMoment.size + this.byBeat.size + this.ripe.size
  }

  add(pending: Pending): void {
    if (pending.due?.moment === undefined) this.byBeat.push(pending)
    else this.byMoment.push(pending)
  }

  /** Takes out what is due in beat `beat` at `clock`, in the order in which it came to wait. */
  take(beat: number, clock: number): ReadonlyArray<Pending> {
    const due: Array<Pending> = []
    for (let first = this.byMoment.peek(); first !== undefined && first.due!.moment! <= clock; first = this.byMoment.peek()) {
      this.byMoment.pop()
      if (first.due!.beat === undefined || first.due!.beat <= beat) due.push(first)
      else this.ripe.push(first)
    }
    while (reaches(this.byBeat, beat)) due.push(this.byBeat.pop()!)
    while (reaches(this.ripe, beat)) due.push(this.ripe.pop()!)
    return due.sort((a, b) => a.seq - b.seq)
  }

  /** Whether something is due in beat `beat` at `clock`. */
  isDue(beat: number, clock: number): boolean {
    const moment = this.byMoment.peek()
    if (moment !== undefined && moment.due!.moment! <= clock && (moment.due!.beat === undefined || moment.due!.beat <= beat)) return true
    return reaches(this.byBeat, beat) || reaches(this.ripe, beat)
  }

  /** The earliest moment at which something is due, for a space that is idle since `last`. */
  next(last: { readonly beat: number; readonly clock: number; readonly tempo: number }): NextDue | undefined {
    const moment = (this.ripe.peek() ?? this.byMoment.peek())?.due
    const beat = this.byBeat.peek()?.due?.beat
    const byMoment = moment === undefined ? undefined : { moment: moment.moment!, beat: moment.beat }
    if (beat === undefined) return byMoment
    const byBeat = { moment: last.clock + Math.max(0, beat - last.beat) * last.tempo, beat }
    return byMoment !== undefined && byMoment.moment <= byBeat.moment ? byMoment : byBeat
  }
}

/** Whether a beat's number is enough for the first of those that wait for a number only. */
const reaches = (heap: Heap<Pending>, beat: number): boolean => (heap.peek()?.due!.beat ?? Infinity) <= beat

const beatOrder = (a: Pending, b: Pending): number => a.due!.beat! - b.due!.beat! || a.seq - b.seq
