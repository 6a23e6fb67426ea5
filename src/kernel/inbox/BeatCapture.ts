/**
 * The capture of a beat's input from the queues of an inbox, in the order of the inbox.
 *
 * @module
 */
import * as Registry from "../../registry/Registry.ts"
import type { Start } from "../model/BeatStart.ts"
import { type HeldSignals, isHeld } from "../model/HeldSignals.ts"
import type { Backlog, TakenSignal } from "../model/InFlight.ts"
import type { Limits } from "../model/Limits.ts"
import { pairAgain, type PendingSignal, size } from "../model/Signal.ts"
import * as SpaceMode from "../model/SpaceMode.ts"
import { attemptOf, type CaptureStart, type Capture, isFull, laneOf, looks, type ResumeRules } from "./Capture.ts"
import type { Discards } from "./Discards.ts"
import type { OpenEvents } from "./OpenEvents.ts"
import { type Head, type PriorityClass, takeFrom } from "./PriorityClass.ts"
import type { SignalBuffer } from "./SignalBuffer.ts"
import type { WaitingRuns } from "./WaitingRuns.ts"

/** The queues of an inbox. */
interface Queues {
  readonly backlog: Backlog
  readonly discards: Discards
  readonly held: HeldSignals
  readonly mode: SpaceMode.SpaceMode
  parked: number
  readonly runs: WaitingRuns
  readonly waiting: SignalBuffer
  readonly classOf: (pending: Pick<PendingSignal, "urgent">) => PriorityClass
  readonly count: (pending: PendingSignal, sign: 1 | -1) => void
  readonly open: (mode: SpaceMode.SpaceMode) => ReadonlyArray<PriorityClass>
  readonly resumeRun: (oid: string, fired?: undefined, isEnd?: boolean) => void
  readonly ripen: (start: Start, limits: Limits) => void
}

/**
 * The captures of one space, one beat after another.
 */
export class BeatCapture {
  private readonly queues: Queues
  private readonly events: OpenEvents
  /** The input of an aborted beat, which the next beat takes again. */
  private left: ReadonlyArray<TakenSignal> | undefined
  /** The capture of the newest beat, unless that took the input of an aborted one. */
  private current: Capture | undefined

  constructor(queues: Queues, events: OpenEvents) {
    this.queues = queues
    this.events = events
  }

  /** Whether an aborted beat has left its input. */
  get hasLeft(): boolean {
    return this.left !== undefined
  }

  /** Takes the input of one beat. */
  take(start: Start, limits: Limits, { mode, resolve }: CaptureStart): ReadonlyArray<TakenSignal> {
    this.queues.backlog.begin(limits)
    this.current = undefined
    if (this.left !== undefined) {
      const taken = this.left
      this.left = undefined
      return taken
    }
    this.queues.waiting.committed()
    const capture: Capture = { taken: [], bytes: 0, pairs: new Map(), attempts: new Set(), beat: start.beat, limits, resolve }
    this.current = capture
    if (SpaceMode.isPlanning(mode) || this.queues.discards.hasDropped) this.discard(capture, SpaceMode.isPlanning(mode))
    const classes = this.queues.open(mode)
    for (const each of classes) {
      if (mode !== this.queues.mode) each.unlock(mode)
      each.takeLosers(() => isFull(capture), (seq) => this.resume(seq, capture))
    }
    this.queues.ripen(start, limits)
    const how = { isFull: () => isFull(capture), looks: looks(limits) }
    const seqs = { ...how, seqOf: (seq: number) => seq }
    takeFrom(classes.map(({ retries }) => retries), seqs, (seq) => this.resume(seq, capture))
    this.takeSegments(mode, capture)
    takeFrom(classes.map(({ heads }) => heads), { ...how, seqOf: ({ seq }) => seq }, (head) => this.advance(head, capture))
    takeFrom(classes.map(({ due }) => due), seqs, (seq) => this.admit(seq, capture))
    takeFrom(classes.map(({ fresh }) => fresh), seqs, (seq) => this.admit(seq, capture))
    return capture.taken
  }

  /** Takes the next segment of a durable run into the beat in progress, if it has room. */
  readonly run = (oid: string, { isEnd, mode }: ResumeRules): ReadonlyArray<TakenSignal> => {
    this.queues.resumeRun(oid, undefined, isEnd)
    const { current } = this
    const length = current?.taken.length ?? 0
    if (current !== undefined) this.takeSegments(mode, current)
    return current?.taken.splice(length) ?? []
  }

  private takeSegments(mode: SpaceMode.SpaceMode, capture: Capture): void {
    const how = { isFull: () => isFull(capture), looks: looks(capture.limits), seqOf: (seq: number) => seq }
    takeFrom(this.queues.open(mode).map(({ segments }) => segments), how, (seq) => this.resume(seq, capture))
  }

  /** Takes discarded signals from all queues. No enzyme runs, and the receipt records the discard. */
  private discard(capture: Capture, isRollback: boolean): void {
    for (const seq of this.queues.discards.all(isRollback)) {
      if (isFull(capture)) return
      const pending = this.queues.waiting.at(seq)
      if (pending.again?.run !== undefined) this.queues.runs.discard(pending.again.run.oid)
      if (!this.queues.held.drop(seq)) this.queues.discards.discard(seq)
      const flight = pending.again === undefined ? this.events.begin(pending.signal, capture.beat, undefined) : this.events.of(pending)
      flight.discarded = true
      this.put({ pending, flight }, capture)
    }
  }

  /** Takes another attempt into the beat, unless its enzyme has taken the pair there. */
  private resume(seq: number, capture: Capture): boolean {
    if (this.queues.discards.drop(seq)) return true
    const pending = this.queues.waiting.at(seq)
    const { entry: id, enzyme: key } = attemptOf(pending)
    const resolution = capture.resolve(pending.signal)
    const entry = Registry.successor(resolution, { key, id })
    const { leftOut } = resolution
    const isAbsent = entry === undefined && leftOut !== undefined && Registry.successor({ entries: leftOut() }, { key, id }) !== undefined
    if (isAbsent && !this.queues.runs.isEnding(pending.again?.run?.oid)) return this.queues.held.add(pending)
    // Segments of several runs may share a beat, whatever their pairs.
    const pair = pending.again?.segment === undefined ? pairAgain(pending) : pending.signal.id
    const attempt = `${pair} ${entry?.id ?? key}`
    if (capture.attempts.has(attempt)) return false
    capture.attempts.add(attempt)
    capture.pairs.set(pair, "taken")
    this.put({ pending: pending.under(entry?.key ?? key), flight: this.events.of(pending) }, capture)
    return true
  }

  /** Takes a signal into the beat. It queues behind the holder of its lane, or for the next beat if its pair is taken. */
  private admit(seq: number, capture: Capture): boolean {
    if (this.queues.discards.drop(seq)) return true
    const pending = this.queues.waiting.at(seq)
    const { signal } = pending
    if (isHeld(pending, capture.resolve)) return this.queues.held.add(pending)
    const lane = signal.event ? laneOf(signal, capture.resolve(signal).lane) : undefined
    if (lane !== undefined && this.events.lanes.has(lane)) this.events.lanes.wait(lane, seq)
    else {
      if (lane !== undefined) this.events.lanes.hold(lane)
      if (!this.depart({ seq, lane }, pending, capture)) this.queues.classOf(pending).heads.push({ seq, lane })
    }
    return true
  }

  /** Takes the head of a lane. A discarded or held head releases its lane. */
  private advance(head: Head, capture: Capture): boolean {
    const isDiscarded = this.queues.discards.drop(head.seq)
    const pending = isDiscarded ? undefined : this.queues.waiting.at(head.seq)
    if (pending !== undefined && !isHeld(pending, capture.resolve)) return this.depart(head, pending, capture)
    if (pending !== undefined) this.queues.held.add(pending)
    if (head.lane !== undefined) this.events.release(head.lane)
    return true
  }

  /** Takes a signal into the beat, unless its pair is taken. Equal impulses share their runs. */
  private depart({ lane }: Head, pending: PendingSignal, capture: Capture): boolean {
    const { signal } = pending
    const holder = capture.pairs.get(signal.pair)
    if (holder === "taken" || (holder === "impulse" && signal.event)) return false
    if (holder === undefined) capture.pairs.set(signal.pair, signal.event ? "taken" : "impulse")
    this.put({ pending, flight: this.events.begin(signal, capture.beat, lane) }, capture)
    return true
  }

  private put(taken: TakenSignal, capture: Capture): void {
    capture.taken.push(taken)
    this.queues.discards.taken(taken.pending.seq)
    if (taken.pending.again?.why === "gate") this.queues.parked--
    capture.bytes += size(taken.pending.signal)
    this.queues.waiting.take(taken.pending)
    this.queues.count(taken.pending, -1)
  }

  /** Returns the input of an aborted beat, in the same order. */
  putBack(taken: ReadonlyArray<TakenSignal>): void { this.left = taken }
}
