/**
 * The queue of one channel: the spaces with waiting jobs take turns whenever the channel has room.
 *
 * The queue holds no waiting job. Requests wait in the ledgers of their spaces, so the turn of a space costs the same however
 * many requests wait.
 *
 * @module
 */
import { Heap } from "../cell/Heap.ts"
import { type Channel, type ChannelError, fail, type Job, type JobResult } from "./Channel.ts"

/** The outcome of a job: a result, or a thrown value. */
export type JobOutcome = { readonly result: JobResult } | { readonly error: unknown }

/** A job that the channel has room for. */
export interface QueuedJob {
  /** Makes the job; `undefined` if it was aborted meanwhile. */
  readonly make: () => Job | undefined
  /** Aborts the job with a reason. */
  readonly abort: (reason: ChannelError) => void
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

/** The default time in which a job ends after its abort, in milliseconds. */
const ABORT_MILLIS = 10_000

/** The time after which a source that failed to give a job is asked again, in milliseconds. */
const AGAIN_MILLIS = 1000

/** The numbers of jobs of a channel. */
export interface JobState {
  readonly waiting: number
  readonly active: number
  /** The jobs that did not end in time after their abort. */
  readonly hung: number
  /** Whether no further job can begin until a hung one ends. */
  readonly isStuck: boolean
  /** The jobs that ended since the start. */
  readonly ended: number
}

/** The means of a queue. */
export interface QueueHost {
  /** Calls back after a number of milliseconds. Returns the call that cancels this. */
  readonly after: (millis: number, tell: () => void) => () => void
  /** Reports that a job of the channel hangs, once until all have ended. */
  readonly report: (note: string) => void
  /** Hears of an error in the code of a space, which gets a job or its outcome. */
  readonly failed: (error: unknown) => void
  /** Hears of the jobs; nobody does by default. */
  readonly observer?: JobObserver | undefined
}

/** Hears of the jobs of channels, by their ids. Its calls cost no more than a write. */
export interface JobObserver {
  readonly started: (channel: string) => void
  readonly ended: (channel: string) => void
  /** The code of a channel gets the thread. */
  readonly enter: (channel: string) => void
  /** It returned a result or a promise. */
  readonly leave: () => void
}

/** A source with waiting jobs or jobs in progress. */
interface Source {
  readonly jobs: JobSource
  /** The number of its jobs in progress, the hung ones included. */
  load: number
  /** Its place in the order of turns; `undefined` if it has no waiting job. */
  turn: Turn | undefined
  /** Cancels the wait for its next turn, after it failed to give a job. */
  again: (() => void) | undefined
}

/** A place in the order of turns. A source whose load changes gets another one. */
interface Turn {
  readonly source: Source
  readonly load: number
  readonly place: number
}

/** A job in progress. */
interface Progress {
  readonly source: Source
  isHung: boolean
  isOver: boolean
  /** Whether its time was over before it ended, so that its outcome was reported then. */
  isLate: boolean
  /** Cancels the wait for its end after an abort. */
  disarm: () => void
  /** Cancels the wait for the end of its time. */
  untime: () => void
}

/** The most outdated turns that a short list keeps. */
const FEW = 16

const nothing = (): void => {}

/**
 * The jobs of one channel.
 *
 * The next job is that of the source with the fewest jobs in progress; equal sources take turns. So a source whose jobs take
 * long leaves the room that becomes free to the others.
 *
 * The time of a channel ends the attempt of a job and aborts the job. The room stays with the job until that ends, too.
 *
 * A job that does not end in time after its abort is *hung*. Its room is given to others, for as many hung jobs as the channel
 * has room; each further one keeps its room. When all room is lost, waiting jobs fail until a hung job ends.
 */
export class JobQueue {
  private readonly channel: Channel
  private readonly host: QueueHost
  private readonly limit: number
  private readonly sources = new Map<JobSource, Source>()
  private readonly turns = new Heap<Turn>((a, b) => a.load - b.load || a.place - b.place)
  private places = 0
  private active = 0
  private hung = 0
  private ended = 0
  private readonly watchers = new Set<() => void>()

  constructor(channel: Channel, host: QueueHost) {
    this.channel = channel
    this.host = host
    this.limit = channel.jobs ?? JOBS
  }

  get state(): JobState {
    const { active, ended, hung, isStuck, sources } = this
    let waiting = 0
    for (const { jobs, turn } of sources.values()) if (turn !== undefined) waiting += jobs.size
    return { waiting, active, hung, isStuck, ended }
  }

  private get hasRoom(): boolean {
    return this.active + Math.max(0, this.hung - this.limit) < this.limit
  }

  private get isStuck(): boolean {
    return this.hung >= 2 * this.limit
  }

  /** Takes the jobs of a source in turn with other sources, until it has none. */
  offer(jobs: JobSource): void {
    let source = this.sources.get(jobs)
    if (source === undefined) this.sources.set(jobs, source = { jobs, load: 0, turn: undefined, again: undefined })
    if (source.turn === undefined && source.again === undefined) this.enter(source, this.places++)
    this.advance()
  }

  /** Takes no further job of a source. */
  withdraw(jobs: JobSource): void {
    const source = this.sources.get(jobs)
    if (source === undefined) return
    source.turn = undefined
    source.again?.()
    source.again = undefined
    this.forget(source)
  }

  /** Calls back once, when a job would start at once. Returns the call that cancels this. */
  whenRoom(tell: () => void): () => void {
    this.watchers.add(tell)
    this.tellRoom()
    return () => this.watchers.delete(tell)
  }

  private tellRoom(): void {
    if (!this.hasRoom || this.watchers.size === 0) return
    const watchers = [...this.watchers]
    this.watchers.clear()
    for (const tell of watchers) this.safely(tell)
  }

  private enter(source: Source, place: number): void {
    const turn = { source, load: source.load, place }
    source.turn = turn
    this.turns.push(turn)
    if (this.turns.size > 2 * this.sources.size + FEW) this.turns.retain((each) => each.source.turn === each)
  }

  /** The source whose turn it is, without its turn; `undefined` if no job waits. */
  private next(): Source | undefined {
    for (let turn = this.turns.pop(); turn !== undefined; turn = this.turns.pop()) {
      const { source } = turn
      if (source.turn !== turn) continue
      source.turn = undefined
      return source
    }
    return undefined
  }

  private forget(source: Source): void {
    if (source.load === 0 && source.turn === undefined && source.again === undefined) this.sources.delete(source.jobs)
  }

  /** Starts jobs of the sources in turn while there is room. */
  private advance(): void {
    if (this.isStuck) void this.refuse()
    while (this.hasRoom) {
      const source = this.next()
      if (source === undefined) return
      const taken = this.safely(() => ({ job: source.jobs.take() }))
      if (taken?.job !== undefined) void this.execute(taken.job, source)
      if (taken === undefined) this.enterLater(source)
      else if (source.jobs.size > 0) this.enter(source, this.places++)
      else this.forget(source)
    }
  }

  /** A source that failed to give a job is asked again after a while. */
  private enterLater(source: Source): void {
    source.again = this.host.after(AGAIN_MILLIS, () => {
      source.again = undefined
      this.offer(source.jobs)
    })
  }

  /** The result of a call into a space; `undefined` if it throws. An error of one space ends no job of another one. */
  private safely<A>(call: () => A): A | undefined {
    try {
      return call()
    } catch (error) {
      this.host.failed(error)
      return undefined
    }
  }

  /** Fails the waiting jobs. */
  private async refuse(): Promise<void> {
    await undefined
    while (this.isStuck) {
      const source = this.next()
      if (source === undefined) return
      const outcome = { error: stuck(this.channel, this.hung) }
      const take = () => this.safely(() => ({ job: source.jobs.take() }))
      let taken = take()
      for (; taken?.job !== undefined; taken = take()) this.tell(taken.job, outcome)
      if (taken === undefined) this.enterLater(source)
      else this.forget(source)
    }
  }

  private async execute(job: QueuedJob, source: Source): Promise<void> {
    const progress: Progress = { source, isHung: false, isOver: false, isLate: false, disarm: nothing, untime: nothing }
    this.active++
    source.load++
    this.host.observer?.started(this.channel.id)
    // The outcome never arrives within the call of `offer`.
    await undefined
    const outcome = await this.run(job, progress)
    progress.isOver = true
    progress.disarm()
    progress.untime()
    if (progress.isHung) this.hung--
    else this.active--
    this.ended++
    this.host.observer?.ended(this.channel.id)
    this.unload(source)
    if (outcome !== undefined && !progress.isLate) this.tell(job, outcome)
    this.advance()
    this.tellRoom()
  }

  private tell(job: QueuedJob, outcome: JobOutcome): void {
    this.safely(() => job.done(outcome))
  }

  /** Notes the end of a job of a source, which keeps its place among equal ones. */
  private unload(source: Source): void {
    source.load--
    if (source.turn === undefined) this.forget(source)
    else this.enter(source, source.turn.place)
  }

  /** The outcome of a job; `undefined` if it was aborted before it began. */
  private async run(queued: QueuedJob, progress: Progress): Promise<JobOutcome | undefined> {
    try {
      const job = queued.make()
      if (job === undefined) return undefined
      const { abortMillis = ABORT_MILLIS, timeoutMs } = this.channel
      // An abort may arrive after the end, while the result is stored.
      const wait = () => {
        if (!progress.isOver) progress.disarm = this.host.after(abortMillis, () => this.hang(progress))
      }
      job.signal.addEventListener("abort", wait, { once: true })
      if (timeoutMs !== undefined) progress.untime = this.host.after(timeoutMs, () => this.expire(progress, queued, late(job, timeoutMs)))
      return { result: await this.begin(job) }
    } catch (error) {
      return { error }
    }
  }

  private begin(job: Job): ReturnType<Channel["execute"]> {
    const { channel, host: { observer } } = this
    observer?.enter(channel.id)
    try {
      return channel.execute(job)
    } finally {
      observer?.leave()
    }
  }

  /** Ends the attempt of a job whose time is over. */
  private expire(progress: Progress, job: QueuedJob, error: ChannelError): void {
    if (progress.isOver) return
    progress.isLate = true
    this.safely(() => job.abort(error))
    this.tell(job, { error })
  }

  /** Gives the room of a job to others that did not end in time after its abort. */
  private hang(progress: Progress): void {
    progress.isHung = true
    this.active--
    this.hung++
    if (this.hung === 1) this.host.report(hangs(this.channel))
    this.advance()
    this.tellRoom()
  }
}

const hangs = ({ abortMillis = ABORT_MILLIS, id }: Channel): string =>
  `a job of channel ${id} did not end within ${abortMillis} ms of its abort, so its room is given to others`

/** The failure of a job that is not over at the time of its channel. */
export const late = ({ rid }: Pick<Job, "rid">, timeoutMs: number): ChannelError =>
  fail("io/timeout", `Request ${rid}: it took more than ${timeoutMs} ms`, { errno: ETIMEDOUT, retryable: true })

const stuck = ({ id }: Channel, hung: number): ChannelError =>
  fail("io/channel-stuck", `channel ${id} takes no job, because ${hung} of its jobs did not end after their abort. Start the process ` +
    "again, and let each job of the channel end when its signal is aborted", { errno: EBUSY, retryable: true })

const EBUSY = -16
const ETIMEDOUT = -110
