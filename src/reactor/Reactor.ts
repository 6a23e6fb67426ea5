/**
 * The reactor: the channels of a runtime, with a queue of jobs for each.
 *
 * One layer per environment decides how jobs are executed. The ledger of requests gives it a job for each attempt, and
 * captures the outcome.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Diagnostic from "../diagnostic/Diagnostic.ts"
import { CurrentReporter } from "../diagnostic/Reporter.ts"
import * as UnexpectedFailure from "../diagnostic/UnexpectedFailure.ts"
import type { Channel } from "./Channel.ts"
import { type JobObserver, JobQueue, type JobSource, type JobState, type QueueHost } from "./JobQueue.ts"

/**
 * The reactor of a runtime.
 *
 * @category services
 * @since 0.1.0
 */
export class Reactor extends Context.Service<Reactor, {
  /** The channels, by their ids. */
  readonly channels: ReadonlyMap<string, Channel>
  /** Whether a space waits for its jobs in progress before its next beat. */
  readonly isSynchronous: boolean
  /** Executes the jobs of a source as its channel has room, in turn with those of other spaces. */
  readonly offer: (channel: Channel, source: JobSource) => void
  /** Takes no further job of a source. */
  readonly withdraw: (channel: Channel, source: JobSource) => void
  /** Calls back once, when the channel has room: at once if it has. Returns the call that cancels this. */
  readonly whenRoom: (channel: Channel, tell: () => void) => () => void
  /** The jobs of each channel. */
  readonly jobs: () => ReadonlyMap<string, JobState>
}>()("systole/reactor/Reactor") {
  /**
   * Executes jobs as they arrive, each channel with its own limit.
   *
   * @category layers
   * @since 0.1.0
   */
  static readonly native = (channels: ReadonlyArray<Channel>): Layer.Layer<Reactor> => layerOf(channels, false)

  /**
   * Executes jobs like the native reactor, but each space waits for its jobs before its next beat. So completions are ready
   * at the next drain, and a journal does not depend on the duration of jobs. A job that hangs holds its space until its
   * deadline; one without a deadline holds it until the process ends.
   *
   * @category layers
   * @since 0.1.0
   */
  static readonly sync = (channels: ReadonlyArray<Channel>): Layer.Layer<Reactor> => layerOf(channels, true)

  /**
   * A reactor without channels.
   *
   * @category layers
   * @since 0.1.0
   */
  static readonly none: Layer.Layer<Reactor> = Layer.suspend(() => layerOf([], false))
}

/**
 * The observer of all jobs; none by default.
 */
export const CurrentJobObserver = Context.Reference<JobObserver | undefined>("systole/reactor/JobObserver", {
  defaultValue: () => undefined
})

/** The timers of jobs, which end with the runtime. */
export const timers: Effect.Effect<QueueHost["after"], never, Scope.Scope> = Effect.gen(function*() {
  const context = yield* Effect.context<never>()
  const reporter = yield* CurrentReporter
  const open = new Set<Fiber.Fiber<void>>()
  yield* Effect.addFinalizer(() => Fiber.interruptAll(open))
  return (millis, tell) => {
    const timer = Effect.runForkWith(context)(Effect.andThen(Effect.sleep(millis), Effect.sync(() => {
      open.delete(timer)
      tell()
    })))
    timer.addObserver((exit) => {
      if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) reporter.report(UnexpectedFailure.of(Cause.squash(exit.cause)))
    })
    open.add(timer)
    return () => {
      if (open.delete(timer)) timer.interruptUnsafe()
    }
  }
})

/** The timers, the reporter and the observer of the runtime. */
const queueHost: Effect.Effect<QueueHost, never, Scope.Scope> = Effect.gen(function*() {
  const reporter = yield* CurrentReporter
  const observer = yield* CurrentJobObserver
  return {
    observer,
    after: yield* timers,
    failed: (error) => reporter.report(UnexpectedFailure.of(error)),
    report: (note) =>
      reporter.report({
        ...Diagnostic.of("io/channel-impaired", { note, origin: { kind: "runtime", name: "reactor" }, subject: undefined }),
        space: undefined, beat: undefined
      })
  }
})

const layerOf = (channels: ReadonlyArray<Channel>, isSynchronous: boolean): Layer.Layer<Reactor> =>
  Layer.effect(Reactor, Effect.gen(function*() {
    const host = yield* queueHost
    const queues = new Map(channels.map((channel) => [channel.id, new JobQueue(channel, host)]))
    yield* Effect.addFinalizer(() => Effect.promise(async () => {
      await Promise.allSettled(channels.map((channel) => channel.close?.()))
    }))
    return Reactor.of({
      isSynchronous,
      channels: new Map(channels.map((channel) => [channel.id, channel])),
      offer: ({ id }, source) => queues.get(id)?.offer(source),
      withdraw: ({ id }, source) => queues.get(id)?.withdraw(source),
      whenRoom: ({ id }, tell) => queues.get(id)?.whenRoom(tell) ?? (() => {}),
      jobs: () => new Map([...queues].map(([id, queue]) => [id, queue.state]))
    })
  }))
