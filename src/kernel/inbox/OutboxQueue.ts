/**
 * Departures: signals that wait to be handed over to other spaces.
 *
 * For each space there is a queue of numbers, in the order in which they were
 * sent. Of what these stand for, as much as one beat can take is in memory; the
 * rest is read from its row when its turn comes. (Architecture, section 5.)
 *
 * @module
 */
import { Backlog } from "../model/Flight.ts"
import type { Limits } from "../model/Limits.ts"
import { Queue } from "./Queue.ts"
import { type Pending, size } from "../model/Signal.ts"
import { type Rows, SignalBuffer } from "./SignalBuffer.ts"

/** Most signals that are handed over to one space at a time. */
const BATCH = 256

/**
 * What waits in one space for others, most of it in the store.
 *
 * @category models
 * @since 0.1.0
 */
export class OutboxQueue {
  private readonly limits: Pick<Limits, "captureSignals" | "captureBytes">
  private readonly waiting: SignalBuffer
  private readonly backlog: Backlog
  private readonly queues = new Map<string, Queue<number>>()

  /** What waits here counts to the backlog, like all that runs sent and is not over. Without rows, all stays in memory. */
  constructor(limits: Pick<Limits, "captureSignals" | "captureBytes">, rows?: Rows, backlog: Backlog = new Backlog()) {
    this.limits = limits
    this.waiting = new SignalBuffer(limits, rows)
    this.backlog = backlog
  }

  /** The spaces that something waits for. */
  get spaces(): ReadonlyArray<string> {
    return [...this.queues.keys()]
  }

  get isEmpty(): boolean {
    return this.queues.size === 0
  }

  /** Takes in a signal behind all others for its space. */
  add(pending: Pending): void {
    const { space } = pending.signal.to!
    const queue = this.queues.get(space) ?? new Queue<number>()
    this.queues.set(space, queue)
    queue.push(pending.seq)
    this.waiting.add(pending)
    this.count(pending, 1)
  }

  /**
   * The next signals for a space, in order; they stay until they are over. One is always among them, and no more than fit into one beat.
   *
   * @throws PersistenceError
   */
  next(space: string): ReadonlyArray<Pending> {
    const batch: Array<Pending> = []
    let bytes = 0
    for (const seq of this.queues.get(space)?.first(Math.min(BATCH, this.limits.captureSignals)) ?? []) {
      const pending = this.waiting.at(seq)
      bytes += size(pending.signal)
      if (batch.length > 0 && bytes > this.limits.captureBytes) break
      batch.push(pending)
    }
    return batch
  }

  /** Lets go of the first signals for a space. */
  over(space: string, pendings: ReadonlyArray<Pending>): void {
    const queue = this.queues.get(space)!
    for (const pending of pendings) {
      queue.shift()
      this.waiting.take(pending)
      this.count(pending, -1)
    }
    this.waiting.settle()
    if (queue.size === 0) this.queues.delete(space)
  }

  /** Whether anything waits for a space. */
  has(space: string): boolean {
    return this.queues.has(space)
  }

  private count({ signal }: Pending, sign: 1 | -1): void {
    this.backlog.signals += sign
    this.backlog.bytes += sign * size(signal)
  }
}
