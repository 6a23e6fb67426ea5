/**
 * Held signals: those that only an enzyme takes which is not there.
 *
 * An enzyme is left out at a start, or its module failed to load. What it alone
 * takes waits here by number, behind no lane and in no beat, and is captured as if
 * it had just come once the enzymes changed. The journal knows nothing of it
 * until then, so a replay needs no enzymes of then to leave it alone.
 *
 * @module
 */

import type { Resolution } from "../../registry/Registry.ts"
import type { Pending, Signal } from "./Signal.ts"

/** Whether only an enzyme takes a signal that is not there. What another space did not take is over. */
export const isHeld = ({ signal, undelivered }: Pending, resolve: (signal: Signal) => Resolution): boolean =>
  undelivered === undefined && resolve(signal).status === "held"

/**
 * The held signals of one space.
 *
 * @category models
 * @since 0.1.0
 */
export class HeldSignals {
  /** The numbers of signals and of attempts. */
  private seqs = new Map<number, "signal" | "attempt">()
  /** The revision of the enzymes for which they are held. */
  private revision = -1
  /** Told of each. */
  tell: ((signal: Signal) => void) | undefined

  get size(): number {
    return this.seqs.size
  }

  has(seq: number): boolean {
    return this.seqs.has(seq)
  }

  /** Names the state of the enzymes for which what comes is held. */
  begin(revision: number): void {
    if (this.seqs.size === 0) this.revision = revision
  }

  /** Takes one in; it has left its queue for good. */
  add({ again, seq, signal }: Pending): true {
    this.seqs.set(seq, again === undefined ? "signal" : "attempt")
    this.tell?.(signal)
    return true
  }

  /** Lets go of one that ends otherwise; answers whether it was held, and so stands in no queue. */
  drop(seq: number): boolean {
    return this.seqs.delete(seq)
  }

  /** Whether the enzymes changed since, so that all has to be looked at again. */
  isStale(revision: number): boolean {
    return this.seqs.size > 0 && revision !== this.revision
  }

  /** Lets go of all where the enzymes changed: the numbers of signals and of attempts, each in their order. */
  release(revision: number): { readonly signals: ReadonlyArray<number>; readonly attempts: ReadonlyArray<number> } | undefined {
    const isStale = this.isStale(revision)
    this.revision = revision
    if (!isStale) return undefined
    const [signals, attempts]: [Array<number>, Array<number>] = [[], []]
    for (const [seq, kind] of this.seqs) (kind === "signal" ? signals : attempts).push(seq)
    this.seqs = new Map()
    return { signals: signals.sort(inOrder), attempts: attempts.sort(inOrder) }
  }
}

const inOrder = (a: number, b: number): number => a - b
