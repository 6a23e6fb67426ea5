/**
 * The signals that a rollback discards, and those that a release drops, by sequence number.
 *
 * @module
 */

/**
 * The signals of one space that end without a handling: those with the quality of service `discard` in a rollback, and dropped ones.
 */
export class Discards {
  private readonly pending = new Set<number>()
  /** Dropped signals that no beat has taken yet. */
  private readonly dropped = new Set<number>()
  /** Discarded signals that are still in a queue. */
  private readonly discarded = new Set<number>()

  /** Whether a rollback would discard a pending signal. */
  get hasPending(): boolean {
    return this.pending.size > 0
  }

  /** Whether signals were dropped, which the next beat takes. */
  get hasDropped(): boolean {
    return this.dropped.size > 0
  }

  /** The signals that a beat takes as discarded: all dropped ones, and in a rollback all that it discards. */
  *all(isRollback: boolean): Generator<number> {
    yield* this.dropped
    if (isRollback) for (const seq of this.pending) if (!this.dropped.has(seq)) yield seq
  }

  /** Drops a pending signal. */
  release(seq: number): void {
    this.dropped.add(seq)
  }

  add(seq: number): void {
    this.pending.add(seq)
  }

  /** A beat takes the signal. */
  taken(seq: number): void {
    this.pending.delete(seq)
    this.dropped.delete(seq)
  }

  /** Discards a signal that is in a queue. */
  discard(seq: number): void {
    this.discarded.add(seq)
  }

  /** Whether a signal that leaves its queue was discarded. */
  drop(seq: number): boolean {
    return this.discarded.delete(seq)
  }

  has(seq: number): boolean {
    return this.discarded.has(seq)
  }
}
