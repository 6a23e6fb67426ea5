/**
 * The outbox queue: signals that wait for delivery to other spaces.
 *
 * Each space has a queue of sequence numbers, in the order of sending. Memory holds at
 * most one beat's worth of the signals; the others are read from their rows when their
 * turn comes.
 *
 * @module
 */
import { Backlog } from "../model/InFlight.ts"
import type { Limits } from "../model/Limits.ts"
import { Queue } from "../../registry/Queue.ts"
import { type PendingSignal, size } from "../model/Signal.ts"
import { type Rows, SignalBuffer } from "./SignalBuffer.ts"

/** Most signals of one delivery. */
const BATCH = 256

/**
 * The undelivered signals of one space, most of them in the store.
 */
export class OutboxQueue {
  private readonly limits: Pick<Limits, "captureSignals" | "captureBytes">
  private readonly waiting: SignalBuffer
  private readonly backlog: Backlog
  private readonly queues = new Map<string, Queue<number>>()

  /** Queued signals count towards the backlog, like all open signals that runs sent. Without rows, all stay in memory. */
  constructor(limits: Pick<Limits, "captureSignals" | "captureBytes">, rows?: Rows, backlog: Backlog = new Backlog()) {
    this.limits = limits
    this.waiting = new SignalBuffer(limits, rows)
    this.backlog = backlog
  }

  /** The spaces with undelivered signals. */
  get spaces(): ReadonlyArray<string> {
    return [...this.queues.keys()]
  }

  get isEmpty(): boolean {
    return this.queues.size === 0
  }

  /** The number of undelivered signals. */
  get size(): number {
    let size = 0
    for (const queue of this.queues.values()) size += queue.size
    return size
  }

  /** Adds a signal at the end of the queue of its space. */
  add(pending: PendingSignal): void {
    const { space } = pending.signal.to!
    const queue = this.queues.get(space) ?? new Queue<number>()
    this.queues.set(space, queue)
    queue.push(pending.seq)
    this.waiting.add(pending)
    this.count(pending, 1)
  }

  /**
   * The next signals for a space, in order: at least one, and at most one beat's worth. They stay until `over`.
   *
   * @throws PersistenceError
   */
  next(space: string): ReadonlyArray<PendingSignal> {
    const batch: Array<PendingSignal> = []
    let bytes = 0
    for (const seq of this.queues.get(space)?.first(Math.min(BATCH, this.limits.captureSignals)) ?? []) {
      const pending = this.waiting.at(seq)
      bytes += size(pending.signal)
      if (batch.length > 0 && bytes > this.limits.captureBytes) break
      batch.push(pending)
    }
    return batch
  }

  /** Removes the first signals of the queue of a space. */
  over(space: string, pendings: ReadonlyArray<PendingSignal>): void {
    const queue = this.queues.get(space)
    for (const pending of pendings) {
      queue?.shift()
      this.waiting.take(pending)
      this.count(pending, -1)
    }
    this.waiting.committed()
    if (queue?.size === 0) this.queues.delete(space)
  }

  /** Whether a signal waits for a space. */
  has(space: string): boolean {
    return this.queues.has(space)
  }

  private count({ signal }: PendingSignal, sign: 1 | -1): void {
    this.backlog.signals += sign
    this.backlog.bytes += sign * size(signal)
  }
}
