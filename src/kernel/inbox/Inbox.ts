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
import type { Resolution } from "../../registry/Registry.ts"
import type { Timer } from "../../stage/CellTimers.ts"
import type { Start } from "../model/BeatStart.ts"
import { HeldSignals, isHeld } from "../model/HeldSignals.ts"
import { Backlog } from "../model/InFlight.ts"
import { defaults, type Limits } from "../model/Limits.ts"
import { type PendingSignal, type Signal, size } from "../model/Signal.ts"
import * as SpaceMode from "../model/SpaceMode.ts"
import { BeatCapture } from "./BeatCapture.ts"
import { looks } from "./Capture.ts"
import { Discards } from "./Discards.ts"
import { DueTimers } from "./DueTimers.ts"
import { InputVolume } from "./InputVolume.ts"
import { OpenEvents } from "./OpenEvents.ts"
import { PendingCommands } from "./PendingCommands.ts"
import { PriorityClass } from "./PriorityClass.ts"
import { type Rows, SignalBuffer } from "./SignalBuffer.ts"
import { TimerQueue } from "./TimerQueue.ts"
import { WaitingRuns } from "./WaitingRuns.ts"

/**
 * The pending input of one space.
 */
export class Inbox {
  readonly volume = new InputVolume()
  readonly commands = new PendingCommands(this.volume)
  readonly waits = new TimerQueue()
  /** Durable runs that wait for a result. */
  readonly runs = new WaitingRuns(this.waits)
  readonly waiting: SignalBuffer
  readonly events: OpenEvents
  readonly capture: BeatCapture
  /** Signals that runs sent and that are still open. */
  readonly backlog = new Backlog(() => this.runs.open)
  private readonly limits: Limits
  /** The mode of the space, as the newest beat left it. */
  mode = SpaceMode.open
  /** The queues of control signals, and of all other signals. */
  private readonly urgent = new PriorityClass()
  readonly normal = new PriorityClass()
  readonly discards = new Discards()
  readonly due = new DueTimers()
  /** Delayed signals that are due in a detached space. */
  private readonly detained: Array<Pick<PendingSignal, "seq" | "urgent">> = []
  /** Signals whose enzymes are all absent, and runs whose module is. */
  readonly held = new HeldSignals()
  /** Number of handlings that wait for a node's time gate. */
  parked = 0

  /** Without rows, all pending signals stay in memory. */
  constructor(limits: Limits = defaults, rows?: Rows) {
    this.limits = limits
    this.waiting = new SignalBuffer(limits, rows)
    this.events = new OpenEvents(this, limits.captureSignals)
    this.capture = new BeatCapture(this, this.events)
  }

  /** Whether a beat with this start would have work. */
  isRunnable(start: Start): boolean {
    if (this.commands.size > 0 || !this.urgent.isEmpty || this.due.hasUrgent) return true
    if (this.capture.hasLeft || this.discards.hasDropped) return true
    if (!SpaceMode.waits(this.mode)) return !this.normal.isEmpty || this.due.hasNormal || this.waits.isDue(start.beat, start.clock)
    // Due signals of a paused class call for no beat.
    this.ripen(start, this.limits)
    return !this.urgent.isEmpty || this.due.hasUrgent || (!this.mode.gated && (!this.normal.isEmpty || this.due.hasNormal))
  }

  /** Adopts a mode of the space, and retries the handlings whose lock is gone. */
  rule(mode: SpaceMode.SpaceMode): void {
    const { timers = -1 } = mode.dropped === this.mode.dropped ? {} : mode.dropped ?? {}
    this.mode = mode
    for (const seq of timers < 0 ? [] : this.waits.delayed()) if (seq <= timers) this.discards.release(seq)
    for (const { seq } of timers < 0 ? [] : this.detained) if (seq <= timers) this.discards.release(seq)
    if (mode.detached === undefined) for (const { seq, urgent } of this.detained.splice(0)) this.classOf({ urgent }).due.push(seq)
    for (const each of this.open(mode)) each.unlock(mode)
  }

  /** Moves held signals from the front of the new ones into a separate list, so that they cause no beat. */
  setAside(resolve: (signal: Signal) => Resolution, revision: number): void {
    if (this.commands.size > 0) return
    this.held.begin(revision)
    const isAside = (seq: number | undefined): seq is number =>
      seq !== undefined && !this.discards.has(seq) && isHeld(this.waiting.at(seq), resolve)
    for (const { fresh } of this.open(this.mode)) {
      for (let seq = fresh.peek(); isAside(seq); fresh.shift(), seq = fresh.peek()) this.held.add(this.waiting.at(seq))
    }
  }

  /** Releases held signals when the enzymes changed. They precede all later signals. */
  reconsider(revision: number): void {
    const released = this.held.release(revision)
    if (released === undefined) return
    for (const seq of released.run) this.resumeRun(this.waiting.at(seq).again?.run?.oid ?? "")
    for (const each of [this.urgent, this.normal]) {
      const mine = (seq: number): boolean => this.classOf(this.waiting.at(seq)) === each
      each.fresh.prepend(released.signal.filter(mine))
      each.retries.prepend(released.attempt.filter(mine))
    }
  }

  classOf({ urgent }: Pick<PendingSignal, "urgent">): PriorityClass { return urgent ? this.urgent : this.normal }

  /** The classes that are captured in this mode. */
  open({ gated }: SpaceMode.SpaceMode): ReadonlyArray<PriorityClass> { return gated ? [this.urgent] : [this.urgent, this.normal] }

  /** Adds a signal from outside, or one that a beat sent. */
  push(pending: PendingSignal): void {
    this.enqueue(pending)
    if (pending.due === undefined) return this.classOf(pending).fresh.push(pending.seq)
    this.waits.add(pending)
    // A release dropped it, and the process ended before a beat took it.
    if (pending.seq <= (this.mode.dropped?.timers ?? -1)) this.discards.release(pending.seq)
  }

  /** Adds a handling for another attempt. */
  repeat(pending: PendingSignal): void {
    const { again, seq } = pending
    this.enqueue(pending)
    if (again?.why === "gate") this.parked++
    if (this.runs.add(pending)) return again?.run?.isHeld === true ? this.held.addRun(seq) : undefined
    if (again?.why !== "conflict") return this.waits.add(pending)
    const queues = this.classOf(pending)
    const { document = "" } = again
    const isLock = SpaceMode.isLock(document)
    // In a paused class a handling stays parked although its lock is gone. The lock may return before the class resumes.
    if (isLock && this.open(this.mode).includes(queues) && !SpaceMode.holds(this.mode, document)) return queues.retries.push(seq)
    queues.lost(seq, again, isLock)
  }

  private enqueue(pending: PendingSignal): void {
    this.waiting.add(pending)
    this.count(pending, 1)
    if (pending.signal.qos === "discard") this.discards.add(pending.seq)
  }

  /** Restores a stored signal or attempt to its queue. */
  restore(pending: PendingSignal): void {
    const { again, signal } = pending
    if (again?.lane !== undefined) this.events.lanes.hold(again.lane)
    if (again !== undefined) return this.repeat(pending)
    this.waiting.restore(signal)
    this.push(pending)
  }

  /** Moves due timers into the queues from which beats take them. */
  ripen(start: Start, limits: Limits): void {
    for (const { again, seq, timer, urgent } of this.waits.take(start.beat, start.clock, looks(limits))) {
      const queues = this.classOf({ urgent })
      if (again && timer !== undefined) this.resumeRun(timer.key, timer)
      else if (timer !== undefined) this.due.add(timer, urgent)
      else if (again) queues.retries.push(seq)
      else if (this.mode.detached === undefined) queues.due.push(seq)
      else this.detained.push({ seq, urgent })
    }
  }

  /** Has the next beat run the next segment of a durable run, if it waits. `fired` is the timer that was due. */
  resumeRun(oid: string, fired?: Timer, isEnd = false): void {
    const run = isEnd ? this.runs.end(oid, (seq) => this.held.has(seq)) : this.runs.take(oid, fired)
    if (run === undefined) return
    this.held.drop(run.seq)
    this.classOf(run).segments.push(run.seq)
  }

  /** Counts a signal that arrives or leaves. */
  count({ again, signal }: PendingSignal, sign: 1 | -1): void {
    // A run that waits has been handled in part, and takes no room of new signals.
    if (again?.why === "segment") return
    const waiting = signal.origin === "run" ? this.backlog : this.volume
    waiting.signals += sign
    waiting.bytes += sign * size(signal)
  }
}
