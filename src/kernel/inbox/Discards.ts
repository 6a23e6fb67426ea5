/**
 * The signals that a rollback discards, by sequence number.
 *
 * @module
 */

/**
 * The signals of one space with the quality of service `discard`.
 */
export class Discards {
  private readonly pending = new Set<number>()
  /** Discarded signals that are still in a queue. */
  private readonly discarded = new Set<number>()

  /** Whether a rollback would discard a pending signal. */
  get hasPending(): boolean {
    return this.pending.size > 0
  }

  /** The signals that a rollback discards. */
  all(): Iterable<number> {
    return this.pending
  }

  add(seq: number): void {
    this.pending.add(seq)
  }

  /** A beat takes the signal. */
  taken(seq: number): void {
    this.pending.delete(seq)
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
