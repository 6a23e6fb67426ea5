/**
 * Priority classes: the queues of pending signals.
 *
 * There are two classes. Control signals are captured even while the space is paused or
 * halted; all others are parked meanwhile. While the space is running, both are taken as
 * one queue, in the order of sequence numbers.
 *
 * @module
 */
import { Queue } from "../../registry/Queue.ts"
import type { Again } from "../model/Signal.ts"
import * as SpaceMode from "../model/SpaceMode.ts"

/** A signal at the head of its lane or pair, by its sequence number, with the lane that it holds. */
export interface Head {
  readonly seq: number
  readonly lane: string | undefined
}

/**
 * The queues of one class.
 */
export class PriorityClass {
  /** New signals. */
  readonly fresh = new Queue<number>()
  /** Due attempts. */
  readonly retries = new Queue<number>()
  /** Next segments of durable runs. */
  readonly segments = new Queue<number>()
  /** Due delayed signals. */
  readonly due = new Queue<number>()
  /** Signals that are next in their lane, or wait for their pair. */
  readonly heads = new Queue<Head>()
  /** Runs that lost a conflict, by the document of the conflict. */
  readonly losers = new Map<string, Queue<number>>()
  /** Runs that wrote below a lock, by the document of the lock. */
  readonly locked = new Map<string, Queue<number>>()

  get isEmpty(): boolean {
    return this.fresh.size === 0 && this.heads.size === 0 && this.losers.size === 0 && this.retries.size === 0 && this.due.size === 0 &&
      this.segments.size === 0
  }

  /** Adds a run that lost a conflict, or that met a lock, to the queue of the document. */
  lost(seq: number, { document = "", label, previous }: Again, isLock: boolean): void {
    const queues = isLock ? this.locked : this.losers
    // An attempt with a higher label must not delay the ones that wrote the open document.
    const place = isLock || label === undefined ? document : `${document} ${label.join()}`
    const queue = queues.get(place)
    if (queue === undefined) queues.set(place, single(seq))
    else if (previous === document) queue.prepend([seq])
    else queue.push(seq)
  }

  /** Takes one loser of each document. That document then moves behind the others, so that all get their turn. */
  takeLosers(isFull: () => boolean, take: (seq: number) => boolean): void {
    const { losers } = this
    let left = losers.size
    for (const [document, queue] of losers) {
      if (left-- === 0 || isFull()) return
      losers.delete(document)
      const seq = queue.peek()
      if (seq !== undefined && take(seq)) queue.shift()
      if (queue.size > 0) losers.set(document, queue)
    }
  }

  /** Retries the runs whose lock is gone. */
  unlock(mode: SpaceMode.SpaceMode): void {
    for (const [document, queue] of this.locked) {
      if (SpaceMode.holds(mode, document)) continue
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
 * Merges ordered queues, until `looks` items were inspected or `isFull` holds. Items that `take` leaves for the next beat keep
 * their place.
 */
export const takeFrom = <A>(
  queues: ReadonlyArray<Queue<A>>,
  { isFull, looks, seqOf }: { readonly isFull: () => boolean; readonly looks: number; readonly seqOf: (item: A) => number },
  take: (item: A) => boolean
): void => {
  const sources = queues.map((queue) => ({ queue, held: [] as Array<A> }))
  for (let left = looks; left > 0 && !isFull(); left--) {
    let first: { readonly item: A; readonly source: typeof sources[number] } | undefined
    for (const source of sources) {
      const item = source.queue.peek()
      if (item !== undefined && (first === undefined || seqOf(item) < seqOf(first.item))) first = { item, source }
    }
    if (first === undefined) break
    const { item, source } = first
    source.queue.shift()
    if (!take(item)) source.held.push(item)
  }
  for (const { held, queue } of sources) queue.prepend(held)
}
