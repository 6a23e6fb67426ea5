/**
 * The volatile views of the requests of one open space. No journal has them, and they begin anew with each opening.
 *
 *     /rt/io_reactors/io                                  { state, active_requests, shim_threads, pause_token }
 *     /rt/io_reactors/io/channels                         the channels of the runtime
 *     /rt/analytics/async/reactor/io                      { cq_depth, pending_bytes, completions_per_beat, timeouts, jobs_total }
 *     /rt/analytics/async/native/<provider>/<telemetry>   { jobs_total, jobs_active, lat_p50, lat_p99, lat_max }
 *     /rt/analytics/async/shim/<provider>/<telemetry>     the same, for a channel on a thread
 *
 * `cq_depth` counts the jobs that wait or are in progress [S3 §Reactor lifecycle & scheduling]. Latencies are durations of
 * jobs in milliseconds, from their start to their end.
 *
 * @module
 */
import type { Value } from "../cell/Value.ts"
import type { SpaceMoment } from "../ledger/Ledger.ts"
import type { Channel } from "./Channel.ts"

/** The number of the newest durations of a channel from which its quantiles follow. */
const KEPT = 1024

/** The view of the reactor's state, and that of its counters. */
const STATE = "/rt/io_reactors/io"
const COUNTERS = "/rt/analytics/async/reactor/io"

/** A job in the queue or in progress. */
export interface CountedJob {
  readonly channel: Channel
  /** The expected number of bytes. */
  readonly bytes: number
  /** The start of its execution in milliseconds; `undefined` while it waits. */
  readonly since: number | undefined
}

/** The completions that a beat captured, and the deadlines that it found missed. */
export interface DrainCount {
  readonly beat: number
  readonly completed: number
  readonly missed: number
}

/** The present state that the counters do not hold. */
export interface Present {
  readonly moment: SpaceMoment
  /** The number of open requests. */
  readonly open: number
  readonly jobs: Iterable<CountedJob>
}

/** The counters of one channel. */
class ChannelCount {
  jobs = 0
  private readonly durations: Array<number> = []
  private next = 0
  private longest = 0

  ended(millis: number): void {
    this.durations[this.next] = millis
    this.next = (this.next + 1) % KEPT
    this.longest = Math.max(this.longest, millis)
  }

  show(active: number): Value {
    const sorted = this.durations.toSorted((a, b) => a - b)
    const quantile = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
    return { jobs_total: this.jobs, jobs_active: active, lat_p50: quantile(0.5), lat_p99: quantile(0.99), lat_max: this.longest }
  }
}

/** The view of the counters of a channel. */
export const viewOf = ({ id, provider, shim = false, telemetry = id }: Channel): string =>
  `/rt/analytics/async/${shim ? "shim" : "native"}/${provider}/${telemetry}`

/**
 * The counters of the requests of one open space.
 */
export class RequestMetrics {
  private readonly channels: ReadonlyMap<string, ChannelCount>
  private jobs = 0
  private timeouts = 0
  private newest: DrainCount = { beat: -1, completed: 0, missed: 0 }

  constructor(channels: Iterable<Channel>) {
    this.channels = new Map(Array.from(channels, (channel) => [viewOf(channel), new ChannelCount()]))
  }

  submitted(channel: Channel): void {
    this.jobs++
    const count = this.channels.get(viewOf(channel))
    if (count !== undefined) count.jobs++
  }

  /** A job ended after a number of milliseconds. */
  ended(channel: Channel, millis: number): void {
    this.channels.get(viewOf(channel))?.ended(millis)
  }

  drained(drain: DrainCount): void {
    this.newest = drain
    this.timeouts += drain.missed
  }

  /** The value of a view; `undefined` for an unknown one. */
  view(id: string, present: Present): Value {
    if (id === STATE) return this.state(present)
    if (id === COUNTERS) return this.counters(present)
    return this.channels.get(id)?.show(Array.from(present.jobs).filter((job) => isActive(job) && viewOf(job.channel) === id).length)
  }

  private state({ jobs, moment: { control, state }, open }: Present): Value {
    const threads = Array.from(jobs).filter((job) => isActive(job) && job.channel.shim === true).length
    return {
      state: state === "gated" ? "draining" : state,
      active_requests: open,
      shim_threads: threads,
      pause_token: state === "running" ? null : control ?? null
    }
  }

  private counters({ jobs, moment: { beat } }: Present): Value {
    const all = Array.from(jobs)
    return {
      cq_depth: all.length,
      pending_bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      completions_per_beat: this.newest.beat === beat ? this.newest.completed : 0,
      timeouts: this.timeouts,
      jobs_total: this.jobs
    }
  }
}

const isActive = ({ since }: CountedJob): boolean => since !== undefined
