/**
 * The queue of one channel: the spaces with waiting jobs take turns whenever the channel has room.
 *
 * The queue holds no waiting job. Requests wait in the ledgers of their spaces, so the queue has at most one entry for each
 * open space, and the turn of a space costs the same however many requests wait.
 *
 * @module
 */
import { Queue } from "../registry/Queue.ts"
import type { Channel, Job, JobResult } from "./Channel.ts"

/** The outcome of a job: a result, or a thrown value. */
export type JobOutcome = { readonly result: JobResult } | { readonly error: unknown }

/** A job that the channel has room for. */
export interface QueuedJob {
  /** Makes the job; `undefined` if it was aborted meanwhile. */
  readonly make: () => Job | undefined
  /** Receives the outcome, once. Never called within `offer`. */
  readonly done: (outcome: JobOutcome) => void
}

/** The jobs of one space that wait for the room of a channel. */
export interface JobSource {
  /** The number of waiting jobs. */
  readonly size: number
  /** Takes the next job, in order of submission; `undefined` if no job waits. */
  readonly take: () => QueuedJob | undefined
}

/** The default limit on jobs in progress. */
const JOBS = 64

/** The numbers of jobs of a channel. */
export interface JobState {
  readonly waiting: number
  readonly active: number
  /** The jobs that ended since the start. */
  readonly ended: number
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
  /** The sources with waiting jobs, and the order of their turns. */
  private readonly sources = new Set<JobSource>()
  private readonly turns = new Queue<JobSource>()
  private active = 0
  private ended = 0
  private readonly watchers = new Set<() => void>()

  constructor(channel: Channel) {
    this.channel = channel
    this.limit = channel.jobs ?? JOBS
  }

  get state(): JobState {
    const { active, ended, sources } = this
    let waiting = 0
    for (const { size } of sources) waiting += size
    return { waiting, active, ended }
  }

  /** Takes the jobs of a source in turn with other sources, until it has none. */
  offer(source: JobSource): void {
    if (!this.sources.has(source)) this.add(source)
    this.advance()
  }

  /** Takes no further job of a source. */
  withdraw(source: JobSource): void {
    if (this.sources.delete(source)) this.turns.filter((other) => other !== source)
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

  private add(source: JobSource): void {
    this.sources.add(source)
    this.turns.push(source)
  }

  /** Starts one job of each source in turn while there is room. */
  private advance(): void {
    while (this.active < this.limit) {
      const source = this.turns.shift()
      if (source === undefined) return
      this.sources.delete(source)
      const job = source.take()
      if (source.size > 0) this.add(source)
      if (job !== undefined) void this.execute(job)
    }
  }

  private async execute(job: QueuedJob): Promise<void> {
    this.active++
    // The outcome never arrives within the call of `offer`.
    await undefined
    const outcome = await this.run(job)
    this.active--
    this.ended++
    if (outcome !== undefined) job.done(outcome)
    this.advance()
    this.tellRoom()
  }

  /** The outcome of a job; `undefined` if it was aborted before it began. */
  private async run({ make }: QueuedJob): Promise<JobOutcome | undefined> {
    try {
      const job = make()
      return job === undefined ? undefined : { result: await this.channel.execute(job) }
    } catch (error) {
      return { error }
    }
  }
}
