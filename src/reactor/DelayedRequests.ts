/**
 * The open requests that have no job yet, because their channel delays them until a time.
 *
 * The time of a request follows from its cells, so every opening of the space finds the same one. Cancelled requests stay
 * in the heap until they are first, or until they outnumber the others.
 *
 * @module
 */
import { Heap } from "../cell/Heap.ts"
import type { Channel, DelayedRequest } from "./Channel.ts"

/** The most cancelled requests that a short heap keeps. */
const FEW = 16

/** A delayed request. */
interface Delayed {
  readonly rid: string
  /** The time of its job, in milliseconds since 1970. */
  readonly moment: number
  /** The number of its submission. */
  readonly order: number
}

/**
 * The delayed requests of one space.
 */
export class DelayedRequests {
  private readonly open = new Map<string, Delayed>()
  private readonly heap = new Heap<Delayed>((a, b) => a.moment - b.moment || a.order - b.order)

  get size(): number {
    return this.open.size
  }

  has(rid: string): boolean {
    return this.open.has(rid)
  }

  /** The time of the first job, in milliseconds since 1970; `undefined` without a delayed request. */
  get nextDue(): number | undefined {
    return this.first()?.moment
  }

  add(delayed: Delayed): void {
    this.open.set(delayed.rid, delayed)
    this.heap.push(delayed)
  }

  delete(rid: string): void {
    if (this.open.delete(rid) && this.heap.size > 2 * this.open.size + FEW) this.heap.retain((delayed) => this.isOpen(delayed))
  }

  /** Removes the due requests, and returns them in the order of their times. */
  takeDue(now: number): ReadonlyArray<string> {
    const due: Array<string> = []
    for (let first = this.first(); first !== undefined && first.moment <= now; first = this.first()) {
      this.open.delete(first.rid)
      due.push(first.rid)
    }
    return due
  }

  private first(): Delayed | undefined {
    for (let first = this.heap.peek(); first !== undefined; first = this.heap.peek()) {
      if (this.isOpen(first)) return first
      this.heap.pop()
    }
    return undefined
  }

  private isOpen(delayed: Delayed): boolean {
    return this.open.get(delayed.rid) === delayed
  }
}

/**
 * The time before which a channel has no job for a request; `undefined` if the request is executed at once.
 */
export const momentOf = ({ notBefore, opcodes }: Channel, request: DelayedRequest): number | undefined => {
  // A request that is not repeatable fails when its space opens again, so it has to be executed by then.
  if (notBefore === undefined || opcodes[request.opcode]?.repeatable !== true) return undefined
  try {
    const moment = notBefore(request)
    return Number.isFinite(moment) ? moment : undefined
  } catch {
    // The job of an invalid request reports the failure.
    return undefined
  }
}
