/**
 * The live half of requests: submits jobs for durable requests, and brings their outcomes.
 *
 * Each attempt has exactly one completion. An outcome after an abort is ignored.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import * as Link from "../cell/Link.ts"
import type { Value } from "../cell/Value.ts"
import * as UnexpectedFailure from "../diagnostic/UnexpectedFailure.ts"
import type { LiveHost, LiveLedger, Release, SpaceMoment } from "../ledger/Ledger.ts"
import { type Channel, ChannelError, type Job } from "./Channel.ts"
import { CHANNEL_GONE, HELD, INTERRUPTED } from "./Failures.ts"
import type { Output } from "./Kinds.ts"
import { type FailedAttempt, type Open, type OpenRequests, payloadOf } from "./OpenRequests.ts"
import type { JobOutcome } from "./JobQueue.ts"
import type { Reactor } from "./Reactor.ts"
import { type CountedJob, RequestMetrics, viewOf } from "./RequestMetrics.ts"
import * as RequestRow from "./RequestRow.ts"
import * as Requests from "./Request.ts"
import { type Progress, RequestTelemetry } from "./RequestTelemetry.ts"
import * as Result from "./Result.ts"
import { type Waiting, WaitingJobs } from "./WaitingJobs.ts"

/** The maximum size of a completion's value in characters; a longer one is stored as content. */
const MAX_INLINE = 65_536

/** The default limit on content of one job, in bytes. */
const MAX_CONTENT = 32 * 1_048_576

/** An attempt of a request that waits for the room of its channel, or that is in progress. */
interface Attempt extends CountedJob, Waiting {
  readonly open: Open
  /** The number of the attempt. */
  readonly attempt: number
  since: number | undefined
  /** The telemetry of the job, once there is one. */
  progress: Progress | undefined
  /** Aborts the job, once there is one. */
  controller: AbortController | undefined
}

/**
 * The live requests of one space.
 */
export class LiveRequests implements LiveLedger<Output> {
  private readonly state: OpenRequests
  private readonly host: LiveHost
  private readonly reactor: Reactor["Service"]
  /** The attempts that wait or are in progress, by their requests. */
  private readonly attempts = new Map<string, Attempt>()
  /** The waiting ones, by their channels. */
  private readonly waiting = new Map<Channel, WaitingJobs<Attempt>>()
  /** The shim channels with a completion in this opening. */
  private readonly reported = new Set<string>()
  private readonly metrics: RequestMetrics
  private readonly telemetry: RequestTelemetry
  /** The cancellations of waits for the room of a channel, by its id. */
  private readonly watches = new Map<string, () => void>()
  private stopped = false
  /** Whether work was resumed: not before the release of a detached space. */
  private hasBegun = false

  constructor(state: OpenRequests, host: LiveHost, reactor: Reactor["Service"]) {
    this.state = state
    this.host = host
    this.reactor = reactor
    this.metrics = new RequestMetrics(reactor.channels.values())
    this.telemetry = new RequestTelemetry(host)
    state.declare(this.changed())
    state.holdBack = () => this.holdBack()
  }

  get isQuiet(): boolean {
    return this.attempts.size === 0 && this.watches.size === 0 && this.state.rooms.size === 0 && this.state.completions.length === 0
  }

  readonly isOutside = true

  /**
   * Submits repeatable requests again, unless a deadline is over. Any other one may have been executed, so it fails, and its
   * retry policy decides. One of a detached space was not.
   */
  resume(release: Release = { since: Infinity, until: Infinity }): void {
    this.hasBegun = true
    this.state.delayed.takeDue(this.host.now())
    for (const open of this.state.all()) if (!this.state.delayed.has(open.rid)) this.resumeRequest(open, release)
    for (const channel of this.state.watched) this.watch(channel)
  }

  private resumeRequest(open: Open, { since, until }: Release): void {
    const { rid } = open
    const request = this.read(open)
    // Its record is gone, so the next beat clears its entry.
    if (request === undefined) return this.refuse(open, { attempt: 0 }, INTERRUPTED.cancelled)
    // One of a beat that is not durable yet begins with its flush.
    if (request.state !== "pending" || request.issued_beat > until || this.state.isMissed(rid, request, this.now)) return
    if (this.isOver(open)) this.refuse(open, request, INTERRUPTED.cancelled)
    else if (request.issued_beat > since || this.isRepeatable(request)) this.submit(open, request)
    else this.refuse(open, request, INTERRUPTED.restarted)
  }

  /** Whether the run that awaits a request is over. */
  private isOver({ oid }: Open): boolean {
    return oid !== Requests.SHARED && Requests.isOver(this.host.documents.read(Requests.dossierAddress(oid).key))
  }

  private get now(): { readonly beat: number; readonly clock: number } {
    return { beat: this.host.beat(), clock: this.host.now() }
  }

  flushed({ aborted, drain, submitted, watched }: Output): void {
    this.metrics.drained(drain)
    for (const rid of aborted) this.abort(rid)
    for (const rid of submitted) if (!this.state.delayed.has(rid)) this.submitPending(rid)
    for (const channel of watched) this.watch(channel)
  }

  elapsed(): void {
    this.hold()
    for (const rid of this.state.delayed.takeDue(this.host.now())) this.submitPending(rid)
  }

  view(id: string, moment: SpaceMoment): Value {
    if (id === RequestRow.CHANNELS) return RequestRow.channels(this.reactor) as unknown as Value
    return this.metrics.view(id, { moment, open: this.state.size, jobs: this.attempts.values() })
  }

  stop(): void {
    this.stopped = true
    for (const cancel of this.watches.values()) cancel()
    this.watches.clear()
    for (const [channel, waiting] of this.waiting) this.reactor.withdraw(channel, waiting)
    for (const rid of this.attempts.keys()) this.abort(rid)
  }

  /** Has the next beat after the channel has room fire its watchers. */
  private watch(id: string): void {
    const channel = this.reactor.channels.get(id)
    // A channel that the configuration no longer has never has room.
    if (channel === undefined) this.state.watched.delete(id)
    if (channel === undefined || this.watches.has(id)) return
    // The channel may have room at once, so the wait is noted first.
    this.watches.set(id, () => {})
    const cancel = this.reactor.whenRoom(channel, () => {
      this.watches.delete(id)
      this.state.clear(id)
      this.host.wake()
    })
    if (this.watches.has(id)) this.watches.set(id, cancel)
  }

  /** The channels that differ from their cells. */
  private changed(): OpenRequests["channels"] {
    const changed = new Map<string, Requests.DeclaredChannel | undefined>()
    for (const channel of this.reactor.channels.values()) {
      const declared = declarationOf(channel)
      const cell = this.host.documents.read(Requests.channelAddress(Requests.SHARED, channel.id).key)
      if (cell?.text !== Document.encode(declared).text) changed.set(channel.id, declared)
    }
    return changed
  }

  private read({ oid, rid }: Open): Requests.Request | undefined {
    return Requests.read(this.host.documents.read(Requests.address(oid, rid).key))
  }

  private isRepeatable({ channel, opcode }: Requests.Request): boolean {
    return this.reactor.channels.get(channel)?.opcodes[opcode]?.repeatable === true
  }

  /** Ends an attempt that no channel executes. */
  private refuse({ rid }: Open, { attempt }: Pick<Requests.Request, "attempt">, failure: FailedAttempt): void {
    this.state.arrive({ rid, attempt, bytes: undefined, value: undefined, failure, shim: false })
    this.host.wake()
  }

  /** Submits a request, unless a later beat of its group cancelled it. */
  private submitPending(rid: string): void {
    const open = this.state.get(rid)
    const request = open === undefined ? undefined : this.read(open)
    if (open !== undefined && request?.state === "pending" && !this.state.isOverdue(rid, this.now)) this.submit(open, request)
  }

  private submit(open: Open, request: Requests.Request): void {
    const { rid } = open
    const { attempt, channel: id } = request
    // A release resumes the requests of its own group, too, before their beats hand them out.
    if (this.attempts.get(rid)?.attempt === attempt) return
    const channel = this.reactor.channels.get(id)
    if (channel === undefined) return this.refuse(open, request, CHANNEL_GONE)
    this.metrics.submitted(channel)
    const { bytes_expected: bytes } = request
    const begun = { since: undefined, progress: undefined, controller: undefined }
    const started: Attempt = { open, attempt, channel, bytes, ...begun, isWaiting: true }
    this.attempts.set(rid, started)
    const waiting = this.waitingFor(channel)
    waiting.push(started)
    this.hold()
    this.reactor.offer(channel, waiting)
  }

  private waitingFor(channel: Channel): WaitingJobs<Attempt> {
    let waiting = this.waiting.get(channel)
    if (waiting === undefined) {
      waiting = new WaitingJobs((attempt) => ({
        make: () => this.begin(attempt),
        abort: (reason) => attempt.controller?.abort(reason),
        done: (outcome) => this.ended(attempt, outcome)
      }))
      this.waiting.set(channel, waiting)
    }
    return waiting
  }

  /** The job of an attempt that the channel has room for; `undefined` if it was aborted. */
  private begin(attempt: Attempt): Job | undefined {
    const { open } = attempt
    const request = this.isCurrent(attempt) ? this.read(open) : undefined
    // A beat that is not durable yet may have ended it.
    if (request?.state !== "pending" || request.attempt !== attempt.attempt) return undefined
    if (this.state.isOverdue(open.rid, this.now)) return this.drop(attempt)
    if (this.host.isGated()) {
      this.refuse(open, request, HELD)
      return this.drop(attempt)
    }
    attempt.since = this.host.now()
    attempt.progress = this.telemetry.begins({ ...request, rid: open.rid })
    attempt.controller = new AbortController()
    return this.job(open, request, attempt.controller.signal)
  }

  /** Holds back the requests without a job: their attempts begin when the space continues. */
  private holdBack(): void {
    if (!this.hasBegun) return this.holdAll()
    for (const attempt of this.attempts.values()) {
      if (!attempt.isWaiting) continue
      this.drop(attempt)
      this.waiting.get(attempt.channel)?.abort(attempt)
      this.refuse(attempt.open, attempt, HELD)
    }
    for (const rid of this.state.delayed.takeDue(Infinity)) {
      const open = this.state.get(rid)
      const request = open === undefined ? undefined : this.read(open)
      if (open !== undefined && request?.state === "pending") this.refuse(open, request, HELD)
    }
  }

  /** Holds back the requests of a detached space, of which none has a job. */
  private holdAll(): void {
    if (this.state.isQuiet) return
    this.state.delayed.takeDue(Infinity)
    const arrived = new Set(this.state.completions.map(({ rid }) => rid))
    for (const open of this.state.all()) {
      const request = arrived.has(open.rid) ? undefined : this.read(open)
      if (request?.state === "pending") this.refuse(open, request, HELD)
    }
  }

  /** Drops an attempt before its job begins. A later beat ends the request, or repeats it. */
  private drop({ open: { rid } }: Attempt): undefined {
    this.attempts.delete(rid)
    this.hold()
  }

  /** Whether an attempt was not aborted. */
  private isCurrent(attempt: Attempt): boolean {
    return this.attempts.get(attempt.open.rid) === attempt
  }

  /** Lets the next beat wait for the jobs in progress until their deadlines, if the reactor is synchronous. */
  private hold(): void {
    this.state.isAwaited = this.reactor.isSynchronous && this.isWorking
  }

  /** Whether a job is in progress whose deadline is not over. */
  private get isWorking(): boolean {
    const now = { beat: Infinity, clock: this.host.now() }
    for (const rid of this.attempts.keys()) if (!this.state.isOverdue(rid, now)) return true
    return false
  }

  private job(open: Open, request: Requests.Request, signal: AbortSignal): Job {
    const { attempt, key, opcode } = request
    const { content, documents, frame, keep, space } = this.host
    const issued = Requests.dateOf(request, documents)
    return {
      space, rid: open.rid, opcode, payload: payloadOf(open, documents), key, issued, attempt, signal,
      keep: (bytes, limit = MAX_CONTENT) => keep(bytes, limit, signal),
      content: async (address) => content(address),
      frame
    }
  }

  private abort(rid: string): void {
    const attempt = this.attempts.get(rid)
    if (attempt === undefined) return
    this.attempts.delete(rid)
    this.hold()
    this.waiting.get(attempt.channel)?.abort(attempt)
    attempt.controller?.abort()
    if (attempt.progress !== undefined) this.telemetry.ends(attempt.progress, "aborted")
    if (attempt.since !== undefined && !this.stopped) this.reportAborted(attempt)
  }

  private ended(attempt: Attempt, outcome: JobOutcome): void {
    if (!this.isCurrent(attempt)) return
    if (attempt.since !== undefined) this.metrics.ended(attempt.channel, Math.max(0, this.host.now() - attempt.since))
    if ("error" in outcome && !(outcome.error instanceof ChannelError)) this.reportThrown(attempt, outcome.error)
    const end = "error" in outcome ? Result.errorOf(outcome.error) : Result.endOf(outcome.result)
    const { failure } = end
    if (attempt.progress !== undefined) this.telemetry.ends(attempt.progress, failure === undefined ? "ok" : "failed", failure?.code)
    if (end.value === undefined || end.value.text.length <= MAX_INLINE) return this.bring(attempt, end)
    this.host.keep(new TextEncoder().encode(end.value.text), MAX_CONTENT).then(
      ({ address }) => this.bring(attempt, { ...end, value: Document.encode(address) }),
      (error: unknown) => this.bring(attempt, Result.errorOf(error))
    )
  }

  /** Reports an error that is none of a channel's own. Its message may have secrets, so the record names its kind alone. */
  private reportThrown({ channel: { id }, open: { rid } }: Attempt, error: unknown): void {
    const { host: { report, space } } = this
    const what = `channel ${id} threw at request ${rid}`
    report(UnexpectedFailure.after("io/thrown", error, { space, origin: { kind: "runtime", name: "reactor" }, what }))
  }

  /** Reports a shim whose first job was aborted, such as one that hangs. No other completion of this job follows. */
  private reportAborted({ attempt, channel, open: { rid } }: Attempt): void {
    if (!this.isFirst(channel)) return
    this.state.arrive({ rid, attempt, bytes: undefined, value: undefined, failure: INTERRUPTED.cancelled, shim: true })
    this.host.wake()
  }

  private isFirst(channel: Channel): boolean {
    if (channel.shim !== true || this.reported.has(channel.id)) return false
    this.reported.add(channel.id)
    return true
  }

  /** Brings the end of an attempt, unless it was aborted meanwhile. */
  private bring(ended: Attempt, end: Result.End): void {
    if (!this.isCurrent(ended) || this.stopped) return
    const { attempt, channel, open: { rid } } = ended
    this.attempts.delete(rid)
    this.hold()
    this.state.arrive({ rid, attempt, ...end, shim: this.isFirst(channel) })
    this.host.wake()
  }
}

/** A channel as its cell holds it. */
const declarationOf = (channel: Channel): Requests.DeclaredChannel => {
  const { budget, caps = [], clearance = [], label = [], opcodes, provider, shim = false, target } = channel
  return {
    ...(target === undefined ? {} : { target_path: target }),
    provider_id: provider,
    reactor_id: "io",
    caps,
    shim,
    opcodes: Object.fromEntries(Object.entries(opcodes).map(([opcode, { repeatable = false }]) => [opcode, repeatable])),
    ...(budget === undefined ? {} : { budget }),
    clearance: clearance.toSorted(),
    label: label.toSorted(),
    telemetry_id: Link.make(viewOf(channel))
  }
}
