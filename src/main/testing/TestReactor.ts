/**
 * A reactor whose jobs end when the test says so.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Channel from "../../reactor/Channel.ts"
import { type JobOutcome, late, type QueuedJob, type QueueHost } from "../../reactor/JobQueue.ts"
import { Reactor, timers } from "../../reactor/Reactor.ts"

/** The opcodes of each channel by its id, and the differences from a native channel that repeats nothing. */
export interface Channels {
  readonly [id: string]: Partial<Channel.Channel> & Pick<Channel.Definition, "opcodes">
}

/** A job in progress, with the call that ends it. */
interface Pending {
  readonly channel: string
  readonly job: Channel.Job
  readonly done: (outcome: JobOutcome) => void
  /** Cancels the wait for the end of its time. */
  readonly untime: () => void
}

const nothing = (): void => {}

/**
 * A reactor for tests: each submitted job waits for its scripted end, so a test decides the order of completions. A job of a
 * channel with `timeoutMs` ends at that time of the clock of the test.
 *
 * @example A channel that answers when the test says so
 * ```ts
 * import { TestReactor } from "systole/testing"
 *
 * const reactor = new TestReactor({ bank: { opcodes: { charge: { repeatable: true } } } })
 * // const layer = TestRuntime.layer({ reactor: reactor.layer })
 * if (reactor.jobs.length > 0) throw new Error("no run has asked yet")
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export class TestReactor {
  readonly layer: Layer.Layer<Reactor>
  /** Every job that was submitted, in order, those of restarts and further attempts included. */
  readonly submitted: Array<Channel.Job> = []
  private readonly pending = new Map<string, Pending>()
  private readonly ended = new Map<string, number>()
  private readonly watchers = new Set<{ readonly channel: Channel.Channel; readonly tell: () => void }>()

  constructor(channels: Channels) {
    const hosts = ["node", "deno", "bun", "workers"] as const
    const all = Object.entries(channels).map(([id, channel]): Channel.Channel =>
      ({ provider: "script", hosts, execute: () => ({}), ...channel, id }))
    this.layer = Layer.effect(Reactor, Effect.map(timers, (after) => Reactor.of({
      isSynchronous: false,
      channels: new Map(all.map((channel) => [channel.id, channel])),
      jobs: () => {
        const active = (id: string) => [...this.pending.values()].filter(({ channel }) => channel === id).length
        const ended = (id: string) => this.ended.get(id) ?? 0
        return new Map(all.map(({ id }) => [id, { waiting: 0, active: active(id), hung: 0, isStuck: false, ended: ended(id) }]))
      },
      whenRoom: (channel, tell) => {
        const waiting = { channel, tell }
        this.watchers.add(waiting)
        this.tellRoom()
        return () => this.watchers.delete(waiting)
      },
      offer: (channel, source) => {
        for (let queued = source.take(); queued !== undefined; queued = source.take()) this.submit(channel, queued, after)
      },
      withdraw: nothing
    })))
  }

  private submit({ id: channel, timeoutMs }: Channel.Channel, { abort, done, make }: QueuedJob, after: QueueHost["after"]): void {
    const job = make()
    if (job === undefined) return
    this.submitted.push(job)
    const expire = (error: Channel.ChannelError): void => {
      abort(error)
      done({ error })
    }
    const untime = timeoutMs === undefined ? nothing : after(timeoutMs, () => expire(late(job, timeoutMs)))
    this.pending.set(job.rid, { channel, job, done, untime })
    job.signal.addEventListener("abort", () => {
      if (this.pending.get(job.rid)?.job !== job) return
      this.drop(job.rid)
      this.tellRoom()
    })
  }

  private drop(rid: string): void {
    this.pending.get(rid)?.untime()
    this.pending.delete(rid)
  }

  /** The jobs in progress, in the order of their submission. */
  get jobs(): ReadonlyArray<Channel.Job> {
    return [...this.pending.values()].map(({ job }) => job)
  }

  /** Aborts all jobs, as the end of a process does. */
  crash(): void {
    for (const rid of this.pending.keys()) this.drop(rid)
  }

  /** Ends a job with a result. Throws if no job of this request is in progress. */
  complete(rid: string, result: Channel.JobResult = {}): void {
    this.end(rid, { result })
  }

  /** Ends a job with an error: one of {@link Channel.fail}, or of a host. */
  fail(rid: string, error: unknown): void {
    this.end(rid, { error })
  }

  private end(rid: string, outcome: JobOutcome): void {
    const pending = this.pending.get(rid)
    if (pending === undefined) throw new Error(`No job of request ${rid} is in progress; there are: ${[...this.pending.keys()].join(", ")}`)
    this.drop(rid)
    this.ended.set(pending.channel, (this.ended.get(pending.channel) ?? 0) + 1)
    pending.done(outcome)
    this.tellRoom()
  }

  /** Tells the watchers of channels that have fewer jobs than their limit. */
  private tellRoom(): void {
    const jobs = [...this.pending.values()]
    for (const waiting of this.watchers) {
      const { channel: { id, jobs: limit = Infinity }, tell } = waiting
      if (jobs.filter(({ channel }) => channel === id).length >= limit) continue
      this.watchers.delete(waiting)
      tell()
    }
  }
}
