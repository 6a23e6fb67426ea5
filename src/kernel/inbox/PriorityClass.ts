/**
 * Tracks: what waits in a space, queue by queue.
 *
 * There are two: one for what has to do with control, which goes on while the
 * gate is closed, and one for all else, which is parked then as it stands. While
 * the gate is open they are taken as one, in the order in which things came.
 *
 * @module
 */
import { Queue } from "./Queue.ts"
import * as Regime from "../model/Regime.ts"

/** What holds a place in front of the next beat, by its number, and the lane that it holds. */
export interface Head {
  readonly seq: number
  readonly lane: string | undefined
}

/**
 * The queues of one track.
 *
 * @category models
 * @since 0.1.0
 */
export class PriorityClass {
  /** New signals. */
  readonly fresh = new Queue<number>()
  /** Attempts that are due. */
  readonly retries = new Queue<number>()
  /** Delayed signals that are due. */
  readonly due = new Queue<number>()
  /** What is next in its lane, or waits for its pair to be free. */
  readonly heads = new Queue<Head>()
  /** Runs that lost a conflict, by the document they lost on. */
  readonly losers = new Map<string, Queue<number>>()
  /** Runs that wrote below a lock, by its document. */
  readonly locked = new Map<string, Queue<number>>()

  get isEmpty(): boolean {
    return this.fresh.size === 0 && this.heads.size === 0 && this.losers.size === 0 && this.retries.size === 0 && this.due.size === 0
  }

  /** Has what waited for a lock that is gone tried again. */
  unlock(regime: Regime.Regime): void {
    for (const [document, queue] of this.locked) {
      if (Regime.holds(regime, document)) continue
      this.locked.delete(document)
      for (let seq = queue.shift(); seq !== undefined; seq = queue.shift()) this.retries.push(seq)
    }
  }
}

/** A queue with one item. */
export const single = (seq: number): Queue<number> => {
  const queue = new Queue<number>()
  queue.push(seq)
  return queue
}

/**
 * Takes from queues of which each is in order, as if they were one, until enough was looked at or `isFull`; what has to wait for the next beat keeps its place.
 *
 * @category combinators
 * @since 0.1.0
 */
export const takeFrom = <A>(
  queues: ReadonlyArray<Queue<A>>,
  { isFull, looks, seqOf }: { readonly isFull: () => boolean; readonly looks: number; readonly seqOf: (item: A) => number },
  take: (item: A) => boolean
): void => {
  const held = queues.map((): Array<A> => [])
  for (let left = looks; left > 0 && !isFull(); left--) {
    let first = -1
    for (let i = 0; i < queues.length; i++) {
      const item = queues[i]!.peek()
      if (item !== undefined && (first < 0 || seqOf(item) < seqOf(queues[first]!.peek()!))) first = i
    }
    if (first < 0) break
    const item = queues[first]!.shift()!
    if (!take(item)) held[first]!.push(item)
  }
  queues.forEach((queue, i) => queue.prepend(held[i]!))
}
