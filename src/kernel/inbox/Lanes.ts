/**
 * Held lanes: events of one lane never share a beat, and run in the order of their capture.
 *
 * @module
 */
import type { Queue } from "../../registry/Queue.ts"
import { ChurnMap } from "./ChurnMap.ts"
import { single } from "./PriorityClass.ts"

/**
 * The held lanes of one space, each with the events that wait behind its holder.
 */
export class Lanes {
  private readonly held = new ChurnMap<string, Queue<number> | undefined>()

  /** Whether an event holds a lane. */
  has(lane: string): boolean {
    return this.held.has(lane)
  }

  /** Has an event hold a lane. */
  hold(lane: string): void {
    this.held.set(lane, undefined)
  }

  /** Adds an event, by its sequence number, behind the holder of a lane. */
  wait(lane: string, seq: number): void {
    const queue = this.held.get(lane)
    if (queue === undefined) this.held.set(lane, single(seq))
    else queue.push(seq)
  }

  /** Releases a lane. The next event that is not discarded holds it and is returned; without one, the lane is free. */
  release(lane: string, isDiscarded: (seq: number) => boolean): number | undefined {
    const queue = this.held.get(lane)
    let seq = queue?.shift()
    while (seq !== undefined && isDiscarded(seq)) seq = queue?.shift()
    if (seq === undefined) this.held.delete(lane)
    return seq
  }
}
