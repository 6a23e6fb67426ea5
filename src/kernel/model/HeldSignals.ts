/**
 * Held signals: those with an enzyme that is not loaded as their only taker.
 *
 * An enzyme may be left out at a start, or its module may fail to load. Its
 * signals are held by number, outside lanes and beats. After a change of enzymes
 * they are captured as if newly arrived. The journal does not record holding, so a
 * replay does not need the set of enzymes at that time.
 *
 * @module
 */

import type { Resolution } from "../../registry/Registry.ts"
import type { PendingSignal, Signal } from "./Signal.ts"

/** Whether the only taker of a signal is not loaded. A signal returned undelivered by another space is never held. */
export const isHeld = ({ signal, undelivered }: PendingSignal, resolve: (signal: Signal) => Resolution): boolean =>
  undelivered === undefined && resolve(signal).status === "held"

/** A signal, a further attempt of a handling, or a durable run whose module is missing. */
type Kind = "signal" | "attempt" | "run"

/**
 * The held signals of one space.
 */
export class HeldSignals {
  /** The row numbers of signals and of attempts. */
  private seqs = new Map<number, Kind>()
  /** The revision of the enzymes for which they are held. */
  private revision = -1
  /** Called with each held signal. */
  tell: ((signal: Signal) => void) | undefined

  get size(): number {
    return this.seqs.size
  }

  has(seq: number): boolean {
    return this.seqs.has(seq)
  }

  /** Sets the revision of the enzymes for later additions. */
  begin(revision: number): void {
    if (this.seqs.size === 0) this.revision = revision
  }

  /** Holds a signal that has left its queue. */
  add({ again, seq, signal }: PendingSignal): true {
    this.seqs.set(seq, again === undefined ? "signal" : "attempt")
    this.tell?.(signal)
    return true
  }

  /** Holds a durable run whose module is missing. */
  addRun(seq: number): void { this.seqs.set(seq, "run") }

  /** Drops a signal that ended otherwise; returns whether it was held, and so is in no queue. */
  drop(seq: number): boolean {
    return this.seqs.delete(seq)
  }

  /** Whether the enzymes have changed, so that every held signal must be resolved again. */
  isStale(revision: number): boolean {
    return this.seqs.size > 0 && revision !== this.revision
  }

  /** Releases all signals after a change of enzymes; returns their numbers by kind, each in order. */
  release(revision: number): Readonly<Record<Kind, ReadonlyArray<number>>> | undefined {
    const isStale = this.isStale(revision)
    this.revision = revision
    if (!isStale) return undefined
    const released: Record<Kind, Array<number>> = { signal: [], attempt: [], run: [] }
    for (const [seq, kind] of this.seqs) released[kind].push(seq)
    this.seqs = new Map()
    for (const seqs of Object.values(released)) seqs.sort(inOrder)
    return released
  }
}

const inOrder = (a: number, b: number): number => a - b
