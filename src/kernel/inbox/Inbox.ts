/**
 * The inbox: all pending input of a space, in the order of its capture.
 *
 * Conflict losers come first, one for each document. Then follow due retries, held-up
 * signals, due delayed signals and new signals, each first in, first out. Events of one
 * lane never share a beat. An enzyme takes a pair of signal and target at most once in a
 * beat. All queues hold sequence numbers; most of the signals are in the store.
 *
 * @module
 */
import type { Timer } from "../../stage/CellTimers.ts"
import * as Registry from "../../registry/Registry.ts"
import type { Start } from "../model/Begun.ts"
import { attemptOf, type Beginning, type Capture, firstOf, isAwaited, isFull, laneOf, looks, type ResumeRules } from "./Capture.ts"
import { ChurnMap } from "./ChurnMap.ts"
import { type Queued, sizeOf } from "../model/Command.ts"
import { Backlog, InFlight, type Taken } from "../model/InFlight.ts"
import { HeldSignals, isHeld } from "../model/HeldSignals.ts"
import { defaults, type Limits } from "../model/Limits.ts"
import { Queue } from "../../registry/Queue.ts"
import * as SpaceMode from "../model/SpaceMode.ts"
import { pairAgain, type Pending, type Signal, size } from "../model/Signal.ts"
import { Lanes } from "./Lanes.ts"
import { type Head, takeFrom, PriorityClass } from "./PriorityClass.ts"
import { type Rows, SignalBuffer } from "./SignalBuffer.ts"
import { TimerQueue } from "./TimerQueue.ts"
import { WaitingRuns } from "./WaitingRuns.ts"

/**
 * The pending input of one space.
 */
export class Inbox {
  /** Commands in the order of their arrival. They leave the inbox when the beat that executed them commits. */
  commands: Array<Queued> = []
  readonly waits = new TimerQueue()
  /** Durable runs that wait for a result. */
  readonly runs = new WaitingRuns(this.waits)
  readonly waiting: SignalBuffer
  /** Captured events with open handlings, by id. As many as one beat can take are in memory; the others have rows. */
  readonly flights = new ChurnMap<string, InFlight>()
  /** Signals from outside that wait for a capture or another attempt, and the characters of these and of control input. */
  signals = 0
  bytes = 0
  /** Signals that runs sent and that are still open. */
  readonly backlog = new Backlog(() => this.runs.open)
  private readonly limits: Limits
  /** The mode of the space, as the newest beat left it. */
  private mode = SpaceMode.open
  /** The queues of control signals, and of all other signals. */
  private readonly urgent = new PriorityClass()
  readonly normal = new PriorityClass()
  /** Sequence numbers that a rollback discards, and discarded ones that are still in a queue. */
  private readonly discardable = new Set<number>()
  private readonly discarded = new Set<number>()
  /** Timers that are due: those that run while the space is paused, and the others. */
  private readonly overdue = new Queue<Timer>()
  private readonly met = new Queue<Timer>()
  /** Signals whose enzymes are all absent, and runs whose module is. */
  readonly held = new HeldSignals()
  /** Number of handlings that wait for a node's time gate. */
  parked = 0
  private readonly lanes = new Lanes()
  /** The input of an aborted beat, which the next beat takes again. */
  private again: ReadonlyArray<Taken> | undefined
  /** The capture of the newest beat, unless that took the input of an aborted one. */
  private capture: Capture | undefined

  /** Without rows, all pending signals stay in memory. */
  constructor(limits: Limits = defaults, rows?: Rows) {
    this.limits = limits
    this.waiting = new SignalBuffer(limits, rows)
  }

  /** Whether a beat with this start would have work. */
  isRunnable(start: Start): boolean {
    if (this.commands.length > 0 || !this.urgent.isEmpty || isAwaited(this.overdue) || this.again !== undefined) return true
    if (!this.mode.gated) return !this.normal.isEmpty || isAwaited(this.met) || this.waits.isDue(start.beat, start.clock)
    // Due signals of a paused class call for no beat.
    this.ripen(start, this.limits)
    return !this.urgent.isEmpty || isAwaited(this.overdue)
  }

  /** Whether a rollback would discard a pending signal. */
  get hasDiscardable(): boolean { return this.discardable.size > 0 }

  /** Adopts a mode of the space, and retries the handlings whose lock is gone. */
  rule(mode: SpaceMode.SpaceMode): void {
    this.mode = mode
    for (const track of this.open(mode)) track.unlock(mode)
  }

  /** Moves held signals from the front of the new ones into a separate list, so that they cause no beat. */
  setAside(resolve: (signal: Signal) => Registry.Resolution, revision: number): void {
    if (this.commands.length > 0) return
    this.held.begin(revision)
    const isAside = (seq: number | undefined): seq is number =>
      seq !== undefined && !this.discarded.has(seq) && isHeld(this.waiting.at(seq), resolve)
    for (const { fresh } of this.open(this.mode)) {
      for (let seq = fresh.peek(); isAside(seq); fresh.shift(), seq = fresh.peek()) this.held.add(this.waiting.at(seq))
    }
  }

  /** Releases held signals when the enzymes changed. They precede all later signals. */
  reconsider(revision: number): void {
    const released = this.held.release(revision)
    if (released === undefined) return
    for (const seq of released.run) this.resumeRun(this.waiting.at(seq).again?.run?.oid ?? "")
    for (const track of [this.urgent, this.normal]) {
      const mine = (seq: number): boolean => this.trackOf(this.waiting.at(seq)) === track
      track.fresh.prepend(released.signal.filter(mine))
      track.retries.prepend(released.attempt.filter(mine))
    }
  }

  private trackOf({ urgent }: Pick<Pending, "urgent">): PriorityClass { return urgent ? this.urgent : this.normal }

  /** The classes that are captured in this mode. */
  private open({ gated }: SpaceMode.SpaceMode): ReadonlyArray<PriorityClass> { return gated ? [this.urgent] : [this.urgent, this.normal] }

  /** The limit that one more signal or control input of this size would exceed. */
  limitFor(size: number, limits: Limits): string | undefined {
    if (this.signals + this.commands.length >= limits.inboxSignals) return `${limits.inboxSignals} signals`
    return this.bytes + size > limits.inboxBytes ? `${limits.inboxBytes} characters` : undefined
  }

  /** Adds a command, or returns the limit that it would exceed. */
  offer(queued: Queued, limits: Limits): string | undefined {
    const size = sizeOf(queued.command)
    const limit = this.limitFor(size, limits)
    if (limit !== undefined) return limit
    this.commands.push(queued)
    this.bytes += size
    return undefined
  }

  /** Removes a command that no beat has captured; returns whether it was there. */
  withdraw(queued: Queued): boolean {
    const at = this.commands.indexOf(queued)
    if (at >= 0) this.bytes -= sizeOf(this.commands.splice(at, 1)[0]!.command)
    return at >= 0
  }

  /** The commands of the next beat: the oldest pending part. They stay until that beat is committed. */
  nextCommands(limits: Limits): ReadonlyArray<Queued> {
    let bytes = 0
    const isOver = ({ command }: Queued, i: number) =>
      i >= limits.captureSignals || (bytes += sizeOf(command)) > limits.captureBytes && i > 0
    const end = this.commands.findIndex(isOver)
    return end < 0 ? this.commands.slice() : this.commands.slice(0, end)
  }

  /** Removes the commands that a beat has executed. */
  dropCommands(count: number): void { for (const { command } of this.commands.splice(0, count)) this.bytes -= sizeOf(command) }

  /** Adds a signal from outside, or one that a beat sent. */
  push(pending: Pending): void {
    this.enqueue(pending)
    if (pending.due === undefined) this.trackOf(pending).fresh.push(pending.seq)
    else this.waits.add(pending)
  }

  /** Adds a handling for another attempt. */
  repeat(pending: Pending): void {
    const { again, seq } = pending
    this.enqueue(pending)
    if (again?.why === "gate") this.parked++
    if (this.runs.add(pending)) return again?.run?.isHeld === true ? this.held.addRun(seq) : undefined
    if (again?.why !== "conflict") return this.waits.add(pending)
    const track = this.trackOf(pending)
    const { document = "" } = again
    const isLock = SpaceMode.isLock(document)
    // In a paused class a handling stays parked although its lock is gone. The lock may return before the class resumes.
    if (isLock && this.open(this.mode).includes(track) && !SpaceMode.holds(this.mode, document)) return track.retries.push(seq)
    track.lost(seq, again, isLock)
  }

  private enqueue(pending: Pending): void {
    this.waiting.add(pending)
    this.count(pending, 1)
    if (pending.signal.qos === "discard") this.discardable.add(pending.seq)
  }

  /** Restores a stored signal or attempt to its queue. */
  restore(pending: Pending): void {
    const { again, signal } = pending
    if (again?.lane !== undefined) this.lanes.hold(again.lane)
    if (again !== undefined) return this.repeat(pending)
    this.waiting.restore(signal)
    this.push(pending)
  }

  /** Takes the input of one beat. */
  take(start: Start, limits: Limits, { mode, resolve }: Beginning): ReadonlyArray<Taken> {
    this.backlog.begin(limits)
    this.capture = undefined
    if (this.again !== undefined) {
      const taken = this.again
      this.again = undefined
      return taken
    }
    this.waiting.committed()
    const capture: Capture = { taken: [], bytes: 0, pairs: new Map(), attempts: new Set(), beat: start.beat, limits, resolve }
    this.capture = capture
    if (SpaceMode.isPlanning(mode)) this.discard(capture)
    const tracks = this.open(mode)
    for (const track of tracks) {
      if (mode !== this.mode) track.unlock(mode)
      track.takeLosers(() => isFull(capture), (seq) => this.resume(seq, capture))
    }
    this.ripen(start, limits)
    const how = { isFull: () => isFull(capture), looks: looks(limits) }
    const seqs = { ...how, seqOf: (seq: number) => seq }
    takeFrom(tracks.map(({ retries }) => retries), seqs, (seq) => this.resume(seq, capture))
    this.takeSegments(mode, capture)
    takeFrom(tracks.map(({ heads }) => heads), { ...how, seqOf: ({ seq }) => seq }, (head) => this.advance(head, capture))
    takeFrom(tracks.map(({ due }) => due), seqs, (seq) => this.admit(seq, capture))
    takeFrom(tracks.map(({ fresh }) => fresh), seqs, (seq) => this.admit(seq, capture))
    return capture.taken
  }

  /** Moves due timers into the queues from which beats take them. */
  private ripen(start: Start, limits: Limits): void {
    for (const { again, seq, timer, urgent } of this.waits.take(start.beat, start.clock, looks(limits))) {
      const track = this.trackOf({ urgent })
      if (again && timer !== undefined) this.resumeRun(timer.key, timer)
      else if (timer !== undefined) (urgent ? this.overdue : this.met).push(timer)
      else if (again) track.retries.push(seq)
      else track.due.push(seq)
    }
  }

  /** Has the next beat run the next segment of a durable run, if it waits. `fired` is the timer that was due. */
  resumeRun(oid: string, fired?: Timer, isEnd = false): void {
    const run = isEnd ? this.runs.end(oid, (seq) => this.held.has(seq)) : this.runs.take(oid, fired)
    if (run === undefined) return
    this.held.drop(run.seq)
    this.trackOf(run).segments.push(run.seq)
  }

  /** Takes the next segment of a durable run into the beat in progress, if it has room. */
  takeRun(oid: string, { isEnd, mode }: ResumeRules): ReadonlyArray<Taken> {
    this.resumeRun(oid, undefined, isEnd)
    const { capture } = this
    const length = capture?.taken.length ?? 0
    if (capture !== undefined) this.takeSegments(mode, capture)
    return capture?.taken.splice(length) ?? []
  }

  private takeSegments(mode: SpaceMode.SpaceMode, capture: Capture): void {
    const how = { isFull: () => isFull(capture), looks: looks(capture.limits), seqOf: (seq: number) => seq }
    takeFrom(this.open(mode).map(({ segments }) => segments), how, (seq) => this.resume(seq, capture))
  }

  /** Takes discarded signals from all queues. No enzyme runs, and the receipt records the discard. */
  private discard(capture: Capture): void {
    for (const seq of this.discardable) {
      if (isFull(capture)) return
      const pending = this.waiting.at(seq)
      if (pending.again?.run !== undefined) this.runs.discard(pending.again.run.oid)
      if (!this.held.drop(seq)) this.discarded.add(seq)
      const flight = pending.again === undefined ? this.begin(pending.signal, capture.beat, undefined) : this.flightOf(pending)
      flight.discarded = true
      this.put({ pending, flight }, capture)
    }
  }

  /** The due timers that run while the space is paused, at most as many as one beat takes. They stay until its commit. */
  nextDue(limits: Limits): ReadonlyArray<Timer> { return firstOf(this.overdue, limits) }

  /** The other due timers, with the same limit. Empty while the space is paused or halted. */
  nextMet(limits: Limits, { gated }: SpaceMode.SpaceMode): ReadonlyArray<Timer> { return gated ? [] : firstOf(this.met, limits) }

  /** Takes another attempt into the beat, unless its enzyme has taken the pair there. */
  private resume(seq: number, capture: Capture): boolean {
    if (this.discarded.delete(seq)) return true
    const pending = this.waiting.at(seq)
    const { entry: id, enzyme: key } = attemptOf(pending)
    const resolution = capture.resolve(pending.signal)
    const entry = Registry.successor(resolution, { key, id })
    const { leftOut } = resolution
    const isAbsent = entry === undefined && leftOut !== undefined && Registry.successor({ entries: leftOut() }, { key, id }) !== undefined
    if (isAbsent && !this.runs.isEnding(pending.again?.run?.oid)) return this.held.add(pending)
    // Segments of several runs may share a beat, whatever their pairs.
    const pair = pending.again?.segment === undefined ? pairAgain(pending) : pending.signal.id
    const attempt = `${pair} ${entry?.id ?? key}`
    if (capture.attempts.has(attempt)) return false
    capture.attempts.add(attempt)
    capture.pairs.set(pair, "taken")
    this.put({ pending: pending.under(entry?.key ?? key), flight: this.flightOf(pending) }, capture)
    return true
  }

  /** The in-flight event of another attempt: from memory, or from the rows of its signal. */
  private flightOf(pending: Pending): InFlight {
    const { signal } = pending
    const known = this.flights.get(signal.id)
    if (known !== undefined) return known
    const flight = this.begin(signal, attemptOf(pending).captured, undefined)
    flight.isRevived = true
    for (const other of this.waiting.named(signal.id)) {
      const { lane, loose } = attemptOf(other)
      flight.open++
      if (!loose) flight.strict++
      flight.lane ??= lane
    }
    this.flights.set(signal.id, flight)
    return flight
  }

  /** Takes a signal into the beat. It queues behind the holder of its lane, or for the next beat if its pair is taken. */
  private admit(seq: number, capture: Capture): boolean {
    if (this.discarded.delete(seq)) return true
    const pending = this.waiting.at(seq)
    const { signal } = pending
    if (isHeld(pending, capture.resolve)) return this.held.add(pending)
    const lane = signal.event ? laneOf(signal, capture.resolve(signal).lane) : undefined
    if (lane !== undefined && this.lanes.has(lane)) this.lanes.wait(lane, seq)
    else {
      if (lane !== undefined) this.lanes.hold(lane)
      if (!this.depart({ seq, lane }, pending, capture)) this.trackOf(pending).heads.push({ seq, lane })
    }
    return true
  }

  /** Takes the head of a lane. A discarded or held head releases its lane. */
  private advance(head: Head, capture: Capture): boolean {
    const isDiscarded = this.discarded.delete(head.seq)
    const pending = isDiscarded ? undefined : this.waiting.at(head.seq)
    if (pending !== undefined && !isHeld(pending, capture.resolve)) return this.depart(head, pending, capture)
    if (pending !== undefined) this.held.add(pending)
    if (head.lane !== undefined) this.release(head.lane)
    return true
  }

  /** Takes a signal into the beat, unless its pair is taken. Equal impulses share their runs. */
  private depart({ lane }: Head, pending: Pending, capture: Capture): boolean {
    const { signal } = pending
    const holder = capture.pairs.get(signal.pair)
    if (holder === "taken" || (holder === "impulse" && signal.event)) return false
    if (holder === undefined) capture.pairs.set(signal.pair, signal.event ? "taken" : "impulse")
    this.put({ pending, flight: this.begin(signal, capture.beat, lane) }, capture)
    return true
  }

  private put(taken: Taken, capture: Capture): void {
    capture.taken.push(taken)
    this.discardable.delete(taken.pending.seq)
    if (taken.pending.again?.why === "gate") this.parked--
    capture.bytes += size(taken.pending.signal)
    this.waiting.take(taken.pending)
    this.count(taken.pending, -1)
  }

  private begin(signal: Signal, captured: number, lane: string | undefined): InFlight {
    const flight = new InFlight(signal, captured, lane)
    flight.backlog = this.backlog
    return flight
  }

  /** Returns the input of an aborted beat, in the same order. */
  putBack(taken: ReadonlyArray<Taken>): void { this.again = taken }

  /** Keeps an event with further attempts. Its lane advances when none of them holds it. */
  keep(flight: InFlight): void {
    const { signal } = flight
    this.waiting.done(signal)
    if (this.flights.size < this.limits.captureSignals) this.flights.set(signal.id, flight)
    else if (this.flights.size > this.limits.captureSignals) this.flights.delete(signal.id)
    if (flight.lane === undefined || flight.strict > 0) return
    this.release(flight.lane)
    flight.lane = undefined
  }

  /** Completes an event. Its lane advances to the next event. */
  complete(flight: InFlight): void {
    this.flights.delete(flight.signal.id)
    this.waiting.done(flight.signal)
    if (flight.lane !== undefined) this.release(flight.lane)
  }

  private release(lane: string): void {
    const seq = this.lanes.release(lane, (seq) => this.discarded.delete(seq))
    if (seq !== undefined) this.trackOf(this.waiting.at(seq)).heads.push({ seq, lane })
  }

  /** Whether an event has to wait for another one of its lane. */
  isBehind(signal: Signal, lane: Registry.Resolution["lane"]): boolean { return this.lanes.has(laneOf(signal, lane)) }

  private count({ again, signal }: Pending, sign: 1 | -1): void {
    // A run that waits has been handled in part, and takes no room of new signals.
    if (again?.why === "segment") return
    const waiting = signal.origin === "run" ? this.backlog : this
    waiting.signals += sign
    waiting.bytes += sign * size(signal)
  }
}
