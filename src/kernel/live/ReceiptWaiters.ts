/**
 * Receipt waiters: the callers that wait for receipts.
 *
 * @module
 */
import { ChurnMap } from "../inbox/ChurnMap.ts"
import type { Receipt } from "../model/Receipt.ts"
import type { SpaceStopped } from "../model/SpaceError.ts"

interface ReceiptWaiter {
  readonly settled: (receipt: Receipt) => void
  readonly fail: ((error: SpaceStopped) => void) | undefined
}

/**
 * Callers by the event that they wait for.
 */
export class ReceiptWaiters {
  /** Most events have a single waiter, and then no list. */
  private byId = new ChurnMap<string, ReceiptWaiter | ReadonlyArray<ReceiptWaiter>>()

  get size(): number {
    return this.byId.size
  }

  has(id: string): boolean {
    return this.byId.has(id)
  }

  /** Adds a waiter. Returns the call that removes it. */
  add(id: string, settled: ReceiptWaiter["settled"], fail?: ReceiptWaiter["fail"]): () => void {
    const waiter: ReceiptWaiter = { settled, fail }
    const others = this.byId.get(id)
    this.byId.set(id, others === undefined ? waiter : [...listOf(others), waiter])
    return () => {
      const rest = listOf(this.byId.get(id)).filter((other) => other !== waiter)
      if (rest.length === 0) this.byId.delete(id)
      else this.byId.set(id, rest)
    }
  }

  tell(id: string, receipt: Receipt): void {
    const waiters = this.byId.get(id)
    this.byId.delete(id)
    for (const { settled } of listOf(waiters)) settled(receipt)
  }

  /** The space stopped: fails all waiters. */
  fail(error: SpaceStopped): void {
    const all = [...this.byId.values()].flatMap(listOf)
    this.byId = new ChurnMap()
    for (const { fail } of all) fail?.(error)
  }
}

const listOf = (waiters: ReceiptWaiter | ReadonlyArray<ReceiptWaiter> | undefined): ReadonlyArray<ReceiptWaiter> =>
  waiters === undefined ? [] : "settled" in waiters ? [waiters] : waiters
