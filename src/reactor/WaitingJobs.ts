/**
 * The attempts of one space that wait for the room of a channel, in order of submission.
 *
 * @module
 */
import { Queue } from "../registry/Queue.ts"
import type { JobSource, QueuedJob } from "./JobQueue.ts"

/** The number of aborted attempts that a queue keeps, unless more wait. */
const SPARE = 1024

/** An attempt that waits, until it is taken or aborted. */
export interface Waiting {
  isWaiting: boolean
}

/**
 * The waiting attempts.
 */
export class WaitingJobs<A extends Waiting> implements JobSource {
  size = 0
  private readonly queue = new Queue<A>()
  private readonly start: (attempt: A) => QueuedJob

  /** `start` makes the job of an attempt when the channel has room. */
  constructor(start: (attempt: A) => QueuedJob) {
    this.start = start
  }

  push(attempt: A): void {
    this.size++
    this.queue.push(attempt)
  }

  take(): QueuedJob | undefined {
    for (let attempt = this.queue.shift(); attempt !== undefined; attempt = this.queue.shift()) {
      if (!attempt.isWaiting) continue
      attempt.isWaiting = false
      this.size--
      return this.start(attempt)
    }
    return undefined
  }

  /** Drops an attempt that still waits. */
  abort(attempt: A): void {
    if (!attempt.isWaiting) return
    attempt.isWaiting = false
    this.size--
    // A channel whose jobs hang keeps no memory of attempts that were given up.
    const { size } = this.queue
    if (size > SPARE && size > 2 * this.size) this.queue.filter(({ isWaiting }) => isWaiting)
  }
}
