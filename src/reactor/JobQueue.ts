/**
 * The queue of one channel: jobs wait in order of submission until the channel has room.
 *
 * @module
 */
import type { Channel, Job, JobResult } from "./Channel.ts"

/** The outcome of a job: a result, or a thrown value. */
export type JobOutcome = { readonly result: JobResult } | { readonly error: unknown }

/** A job that waits for the room of its channel, or that is in progress. */
export interface QueuedJob {
  /** The job is made when the channel has room, so that a waiting one costs little. */
  readonly make: () => Job
  /** Receives the outcome, at most once. Never called within `submit`, and not after `abort`. */
  readonly done: (outcome: JobOutcome) => void
}

/** The default limit on jobs in progress. */
const JOBS = 64

/** The number of started or aborted jobs that a queue keeps, unless more wait. */
const SPARE = 1024

/** The numbers of jobs of a channel. */
export interface JobState {
  readonly waiting: number
  readonly active: number
  /** The jobs that ended since the start. */
  readonly ended: number
}

/** A job with its state. */
interface Ticket {
  readonly job: QueuedJob
  state: "waiting" | "active" | "over"
}

/**
 * The jobs of one channel.
 *
 * @category models
 * @since 0.1.0
 */
export class JobQueue {
  private readonly channel: Channel
  private readonly limit: number
  private waiting: Array<Ticket> = []
  /** The position of the next job in `waiting`. */
  private next = 0
  private cancelled = 0
  private active = 0
  private ended = 0
  private readonly watchers = new Set<() => void>()

  constructor(channel: Channel) {
    this.channel = channel
    this.limit = channel.jobs ?? JOBS
  }

  get state(): JobState {
    const { active, cancelled, ended, next, waiting } = this
    return { waiting: waiting.length - next - cancelled, active, ended }
  }

  /** Adds a job. Returns the call that aborts it. */
  submit(job: QueuedJob): () => void {
    const ticket: Ticket = { job, state: "waiting" }
    this.waiting.push(ticket)
    this.advance()
    return () => this.abort(ticket)
  }

  /** Calls back once, when a job would start at once. Returns the call that cancels this. */
  whenRoom(tell: () => void): () => void {
    this.watchers.add(tell)
    this.tellRoom()
    return () => this.watchers.delete(tell)
  }

  private tellRoom(): void {
    if (this.active >= this.limit || this.watchers.size === 0) return
    const watchers = [...this.watchers]
    this.watchers.clear()
    for (const tell of watchers) tell()
  }

  private abort(ticket: Ticket): void {
    const isWaiting = ticket.state === "waiting"
    // The channel is told by the job's own signal; the room of a job in progress is free once it ends.
    ticket.state = "over"
    if (isWaiting && ++this.cancelled > SPARE && this.cancelled * 2 > this.waiting.length - this.next) this.compact()
  }

  /** Removes started and aborted jobs, so that a channel whose jobs hang keeps no memory of those that gave up. */
  private compact(): void {
    this.waiting = this.waiting.slice(this.next).filter((ticket) => !this.isOver(ticket))
    this.next = 0
    this.cancelled = 0
  }

  /** Starts waiting jobs while there is room. */
  private advance(): void {
    while (this.active < this.limit && this.next < this.waiting.length) {
      const ticket = this.waiting[this.next++]
      if (this.next > SPARE && this.next * 2 > this.waiting.length) {
        this.waiting = this.waiting.slice(this.next)
        this.next = 0
      }
      if (ticket === undefined) continue
      if (ticket.state === "over") this.cancelled--
      else void this.execute(ticket)
    }
  }

  private async execute(ticket: Ticket): Promise<void> {
    ticket.state = "active"
    this.active++
    // The outcome never arrives within the call of `submit`.
    await undefined
    const outcome = this.isOver(ticket) ? undefined : await this.run(ticket)
    this.active--
    this.ended++
    if (outcome !== undefined && !this.isOver(ticket)) ticket.job.done(outcome)
    ticket.state = "over"
    this.advance()
    this.tellRoom()
  }

  private isOver({ state }: Ticket): boolean {
    return state === "over"
  }

  private async run({ job }: Ticket): Promise<JobOutcome> {
    try {
      return { result: await this.channel.execute(job.make()) }
    } catch (error) {
      return { error }
    }
  }
}
