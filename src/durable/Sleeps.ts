/**
 * The open sleeps of a durable run, in the order in which they end.
 *
 * A sleep in milliseconds ends at a time; one in beats ends at a time and a beat. Both orders are kept, so the sleep that
 * ends first is found without the others. Sleeps that are settled or dropped stay in the heaps until they are first, or
 * until they outnumber the open ones.
 *
 * @module
 */
import { Heap } from "../cell/Heap.ts"
import * as Due from "../stage/Due.ts"

/** An open sleep, by the number of its handle. */
export interface Sleep {
  readonly number: number
  readonly due: Due.Due
}

/** Compares two numbers that may be absent. */
const order = (a = 0, b = 0): number => a - b

const byMoment = (a: Sleep, b: Sleep): number =>
  order(a.due.moment, b.due.moment) || order(a.due.beat, b.due.beat) || a.number - b.number

const byBeat = (a: Sleep, b: Sleep): number =>
  order(a.due.beat, b.due.beat) || order(a.due.moment, b.due.moment) || a.number - b.number

/** The most dead sleeps that a short heap keeps. */
const FEW = 16

/** The sleeps that are still open. */
type Open = ReadonlyMap<number, Sleep>

/** Sleeps of one kind, by their times and by their beats. */
class Queue {
  readonly open = new Map<number, Sleep>()
  private readonly heaps = [new Heap<Sleep>(byMoment), new Heap<Sleep>(byBeat)] as const

  add(sleep: Sleep): void {
    this.open.set(sleep.number, sleep)
    for (const heap of this.heaps) heap.push(sleep)
  }

  delete(number: number): boolean {
    const isKnown = this.open.delete(number)
    for (const heap of this.heaps) if (heap.size > 2 * this.open.size + FEW) heap.retain((sleep) => this.open.has(sleep.number))
    return isKnown
  }

  /** The sleeps of which no other one of the queue ends before: one, unless their times and their beats differ in order. */
  first(): Iterable<Sleep> {
    const [earliest, lowest] = this.heaps.map((heap) => top(heap, this.open))
    if (earliest === undefined) return []
    return earliest === lowest ? [earliest] : this.open.values()
  }
}

/** The first open sleep of a heap. */
const top = (heap: Heap<Sleep>, open: Open): Sleep | undefined => {
  for (let first = heap.peek(); first !== undefined; first = heap.peek()) {
    if (open.has(first.number)) return first
    heap.pop()
  }
  return undefined
}

/**
 * The open sleeps of one run.
 */
export class Sleeps {
  private readonly timed = new Queue()
  private readonly counted = new Queue()

  add(sleep: Sleep): void {
    (sleep.due.beat === undefined ? this.timed : this.counted).add(sleep)
  }

  delete(number: number): void {
    if (!this.timed.delete(number)) this.counted.delete(number)
  }

  /** Takes the sleeps that are over. */
  takeOver(now: Pick<Due.Now, "beat" | "clock">): ReadonlyArray<Sleep> {
    return [this.timed, this.counted].flatMap((queue) => {
      const over: Array<Sleep> = []
      for (;;) {
        const found = Array.from(queue.first()).filter(({ due }) => Due.isOver(due, now))
        if (found.length === 0) return over
        for (const { number } of found) queue.delete(number)
        over.push(...found)
      }
    })
  }

  /** Sleeps among which are all that may end first. */
  first(): ReadonlyArray<Sleep> {
    return [...this.timed.first(), ...this.counted.first()]
  }
}
