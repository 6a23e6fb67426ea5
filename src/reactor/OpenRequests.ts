/**
 * The open requests of a space, and the input that its live half brings.
 *
 * The open requests follow from the cells alone. The completions and the changed channels are those of the host; a beat
 * captures them, and its commit drops them.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"
import type { CommittedState } from "../stage/BeatClock.ts"
import { CellTimers, type TimerChange } from "../stage/CellTimers.ts"
import * as Due from "../stage/Due.ts"
import { DelayedRequests } from "./DelayedRequests.ts"
import * as Requests from "./Request.ts"

/** The end of one attempt, as the live half reports it. */
export interface Completion {
  readonly rid: string
  readonly attempt: number
  /** The number of transferred bytes; `undefined` if the channel reported none. */
  readonly bytes: number | undefined
  /** The value of the result; `undefined` without one and for a failure. */
  readonly value: Document.Document | undefined
  /** The failure; `undefined` for a success. */
  readonly failure: FailedAttempt | undefined
  /** Whether the attempt is the first of this opening on a channel that runs on a shim. */
  readonly shim: boolean
}

/** The failure of an attempt. */
export interface FailedAttempt {
  readonly errno: number
  readonly code: string
  readonly retryable: boolean
  /** The least wait before the next attempt, in milliseconds, as the other side requested. */
  readonly retryAfterMs?: number
  /** The reason that the channel gave. */
  readonly note?: string
}

/** The input of one beat. */
export interface Input {
  readonly completions: ReadonlyArray<Completion>
  /** Channels that differ from their recorded cells; `undefined` for one that is gone. */
  readonly channels: ReadonlyMap<string, Requests.DeclaredChannel | undefined>
  /** The limit on open requests; in a replay only if it refused one. */
  readonly limit: number | undefined
  /** Watched channels with room. */
  readonly rooms: ReadonlyArray<string>
  /** In a replay, the recorded lengths of signal chains, by event; `undefined` in a live beat. */
  readonly depths: ReadonlyMap<string, number> | undefined
  /** The parts that a run read. */
  readonly asked: UsedInput
}

/** The parts of the input that a decision depended on. */
export interface UsedInput {
  limit: boolean
  readonly channels: Set<string>
  readonly rooms: Set<string>
  /** The lengths of the signal chains of events, as far as a request continues them. The journal has them nowhere else. */
  readonly depths: Map<string, number>
}

/** An open request, as the space remembers it. */
export interface Open {
  readonly oid: string
  readonly rid: string
  /** The number of the submission, which orders the completions of one beat. */
  readonly order: number
  /** Whether it may have a payload. One that was opened without has no cell for it. */
  readonly hasPayload: boolean
}

const none: ReadonlySet<Open> = new Set()

/** The prefix of the keys of timers. */
export const TIMERS = "/rt/io_reactors"

/** The key of a request's timers. */
export const timerOf = (rid: string): string => `${TIMERS}/${rid}`

/** The request of a timer. */
export const ofTimer = (key: string): string => key.slice(TIMERS.length + 1)

/** The arguments of an open request. */
export const payloadOf = ({ hasPayload, oid, rid }: Open, documents: Pick<CommittedState, "read">): Value =>
  hasPayload ? Document.read(documents.read(Requests.address(oid, rid, "payload").key), []) : undefined

/**
 * The open requests of one space.
 */
export class OpenRequests {
  readonly timers = new CellTimers()
  /** Completions that no beat has captured and committed yet. */
  completions: Array<Completion> = []
  /** Channels of the configuration that differ from their recorded cells, or are gone (`undefined`). */
  channels: ReadonlyMap<string, Requests.DeclaredChannel | undefined> = new Map()
  /** Channels with watchers, as of the newest beat. */
  readonly watched = new Set<string>()
  /** Watched channels of which the live half found that they have room. */
  readonly rooms = new Set<string>()
  /** Whether the next beat waits for jobs in progress, as a synchronous reactor has it. */
  isAwaited = false
  /** Has the live half hold back the attempts that have not begun; called by each capture of a space that is paused or about to be. */
  holdBack: (() => void) | undefined
  /** The input of beats without completions, reused until a run reads a part of it. */
  idle: Input | undefined
  /** Open requests that have no job yet. */
  readonly delayed = new DelayedRequests()
  /** Open requests that wait for their next attempt. */
  private readonly waiting = new Set<string>()
  private readonly requests = new Map<string, Open>()
  /** The requests that durable runs await, by their operations. */
  private readonly awaited = new Map<string, Set<Open>>()
  private submitted = 0

  get size(): number {
    return this.requests.size
  }

  /** Whether every open request waits for its next attempt. */
  get isQuiet(): boolean {
    return this.requests.size === this.waiting.size
  }

  /** Whether an open request has a job, or had one when the space closed. */
  get hasJobs(): boolean {
    return this.requests.size > this.waiting.size + this.delayed.size
  }

  get(rid: string): Open | undefined {
    return this.requests.get(rid)
  }

  /** All open requests, in the order of submission. */
  all(): Iterable<Open> {
    return this.requests.values()
  }

  /** The open requests that a durable run awaits, in the order of submission. */
  ofRun(oid: string): Iterable<Open> {
    return this.awaited.get(oid) ?? none
  }

  /** Whether a durable run has an open request, by its operation. */
  hasRequests(oid: string): boolean {
    return this.awaited.has(oid)
  }

  /** Adds a completion of the live half. */
  arrive(completion: Completion): void {
    this.completions.push(completion)
    this.idle = undefined
  }

  /** Notes that a watched channel has room. */
  clear(channel: string): void {
    this.rooms.add(channel)
    this.idle = undefined
  }

  /** Adds a request after all others. */
  add(oid: string, rid: string, hasPayload = true): Open {
    const open = { oid, rid, order: this.submitted++, hasPayload }
    this.requests.set(rid, open)
    if (oid === Requests.SHARED) return open
    const awaited = this.awaited.get(oid)
    if (awaited === undefined) this.awaited.set(oid, new Set([open]))
    else awaited.add(open)
    return open
  }

  /** Removes a request that has its result, with its timers. */
  remove(rid: string): TimerChange {
    const open = this.requests.get(rid)
    const awaited = open === undefined ? undefined : this.awaited.get(open.oid)
    if (open !== undefined && awaited?.delete(open) === true && awaited.size === 0) this.awaited.delete(open.oid)
    this.requests.delete(rid)
    this.waiting.delete(rid)
    this.delayed.delete(rid)
    return this.timers.see(timerOf(rid), [])
  }

  /** Whether a pending request has missed a deadline, so that the next beats end it. */
  isOverdue(rid: string, now: Pick<Due.Now, "beat" | "clock">): boolean {
    return this.timers.of(timerOf(rid)).some(({ due }) => Due.isOver(due, now))
  }

  /**
   * Whether a pending request has missed a deadline while its space was closed. The space counted no beats, and the next beat
   * skips those up to the deadline. A tempo of 0 gives beats no time.
   */
  isMissed(rid: string, { issued_ms }: Requests.Request, now: Pick<Due.Now, "beat" | "clock">): boolean {
    return this.timers.of(timerOf(rid)).some(({ due }) =>
      Due.isOver(due.moment === issued_ms ? due : { beat: undefined, moment: due.moment }, now))
  }

  /** Notes the state of an open request, and replaces its timers. */
  see(rid: string, request: Requests.Request, tempo: () => number): TimerChange {
    if (request.state === "pending_retry") this.waiting.add(rid)
    else this.waiting.delete(rid)
    return this.timers.see(timerOf(rid), dues(request, tempo))
  }

  /** Replaces the channels that differ from their recorded cells. */
  declare(channels: OpenRequests["channels"]): void {
    this.channels = channels
    this.idle = undefined
  }

  /** Notes that the cell of a channel has been written. */
  recorded(cid: string): void {
    if (!this.channels.has(cid)) return
    const left = new Map(this.channels)
    left.delete(cid)
    this.declare(left)
  }
}

/**
 * The deadlines of a request.
 */
export const deadlines = (
  { beats_budget, deadline_beat, deadline_unix_ns, issued_ms }: Requests.Request,
  tempo: () => number
): ReadonlyArray<Due.Due> => {
  const found: Array<Due.Due> = []
  if (deadline_beat !== undefined && beats_budget !== undefined) {
    found.push({ beat: deadline_beat, moment: Math.min(issued_ms + beats_budget * tempo(), Number.MAX_SAFE_INTEGER) })
  }
  if (deadline_unix_ns !== undefined) found.push({ beat: undefined, moment: Number(deadline_unix_ns / 1_000_000n) })
  return found
}

/** The times at which an open request needs a beat: its deadlines, and its next attempt. */
const dues = (request: Requests.Request, tempo: () => number): ReadonlyArray<Due.Due> => {
  const { retry_beat, retry_ms } = request
  const found = deadlines(request, tempo)
  return retry_beat === undefined || retry_ms === undefined ? found : [...found, { beat: retry_beat, moment: retry_ms }]
}
