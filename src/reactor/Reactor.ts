/**
 * The reactor: the channels of a runtime, with a queue of jobs for each.
 *
 * One layer per environment decides how jobs are executed. The ledger of requests gives it a job for each attempt, and
 * captures the outcome.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Channel } from "./Channel.ts"
import { JobQueue, type JobState, type QueuedJob } from "./JobQueue.ts"

/**
 * The reactor of a runtime.
 *
 * @category services
 * @since 0.1.0
 */
export class Reactor extends Context.Service<Reactor, {
  /** The channels, by their ids. */
  readonly channels: ReadonlyMap<string, Channel>
  /** Executes a job once its channel has room. Returns the call that aborts it. */
  readonly submit: (channel: Channel, job: QueuedJob) => () => void
  /** The jobs of each channel. */
  readonly jobs: () => ReadonlyMap<string, JobState>
}>()("systole/reactor/Reactor") {
  /**
   * Executes jobs as they come, each channel with its own limit.
   *
   * @category layers
   * @since 0.1.0
   */
  static readonly native = (channels: ReadonlyArray<Channel>): Layer.Layer<Reactor> =>
    Layer.effect(Reactor, Effect.gen(function*() {
      const queues = new Map(channels.map((channel) => [channel.id, new JobQueue(channel)]))
      yield* Effect.addFinalizer(() => Effect.promise(async () => {
        await Promise.allSettled(channels.map((channel) => channel.close?.()))
      }))
      return Reactor.of({
        channels: new Map(channels.map((channel) => [channel.id, channel])),
        submit: ({ id }, job) => queues.get(id)?.submit(job) ?? (() => {}),
        jobs: () => new Map([...queues].map(([id, queue]) => [id, queue.state]))
      })
    }))

  /**
   * A reactor without channels.
   *
   * @category layers
   * @since 0.1.0
   */
  static readonly none: Layer.Layer<Reactor> = Reactor.native([])
}
