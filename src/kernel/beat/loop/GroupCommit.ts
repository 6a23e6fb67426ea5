/**
 * The group-commit loop of a space, and its output barrier.
 *
 * Beats run one after another while input is runnable. One flush then makes the group durable. The output barrier holds
 * answers, receipts and observations back until that flush is done. A group begins at the host's next macrotask, and is
 * deferred a few times while the inbox grows. `CommitHandshake` flushes it. A failed flush is final: the space stops, and
 * reopens from its durable state.
 *
 * @module
 */
import type { LiveState } from "./LiveState.ts"
import type { Beat } from "../step/Commit.ts"
import type { CommitHandshake, FlushEnd } from "./CommitHandshake.ts"
import * as WakeTime from "./WakeTime.ts"
import { Heartbeat } from "../step/Heartbeat.ts"
import { LiveInput } from "../step/BeatInput.ts"
import type { GroupObserver, FlushWaiter } from "./GroupObserver.ts"
import { GroupStart, PendingFlush } from "./GroupTiming.ts"
import type { Turn } from "../../model/Pacemaker.ts"
import { Queue } from "../../../registry/Queue.ts"
import type { Pending } from "../../model/Signal.ts"
import { asStopped, BeatAborted, type SpaceStopped } from "../../model/SpaceError.ts"

/**
 * Runs the beats of one space.
 */
export class GroupCommit {
  /** The newest durable beat. */
  durable: number
  /** Whether only `step` runs beats. */
  held: boolean
  private readonly state: LiveState
  private readonly heartbeat: Heartbeat
  private readonly observer: GroupObserver
  private readonly start: GroupStart
  private readonly pending: PendingFlush
  private readonly opened: number
  /** The newest durable beat when the space was opened. */
  private readonly recovered: number
  /** Waiters of the next flush. */
  private waiters: Array<FlushWaiter> = []
  /** Beats of the next flush. */
  private beats: Array<Beat> = []
  /** Admitted signals that are neither captured nor stored. */
  private unsaved: Array<Pending> = []
  /** Waiters of the running flush, in order: beats first, then callers. */
  private readonly leaving = new Queue<FlushWaiter>()
  private readonly handshake: CommitHandshake
  /** The numbers up to this one are lost, and not used again. */
  private readonly lost: number
  /** The continuation of the running flush. */
  private then: (() => void) | undefined
  private idlers: Array<FlushWaiter> = []
  private steppers: Array<{ readonly done: (beat: number) => void; readonly fail: (error: BeatAborted | SpaceStopped) => void }> = []
  /** State of the loop; `unopened` until its space is complete, and `waiting` while an asynchronous run is pending. */
  private loop: "unopened" | "still" | "busy" | "waiting" | "stopped" = "unopened"
  private disarm: (() => void) | undefined
  private failure: SpaceStopped | undefined

  constructor(state: LiveState, turn: Turn, observer: GroupObserver) {
    this.state = state
    this.start = new GroupStart(turn, state.settings.limits.groupTurns, () => this.begin())
    this.observer = observer
    this.heartbeat = new Heartbeat(state, new LiveInput(state))
    const runs = { isPending: () => this.loop === "waiting", ended: () => this.heartbeat.ended, flush: () => this.flush(nothing) }
    this.pending = new PendingFlush(runs, { now: state.host.now, turn, millis: state.settings.limits.groupMillis })
    this.held = state.settings.pace === "manual" || state.held.has(state.space)
    this.durable = this.recovered = state.store.head().beat
    this.handshake = state.handshake
    this.lost = state.lostBeats.newest(state.space)
    this.opened = state.host.now()
  }

  /** Begins the first group. A space that fails to open has none. */
  open(): void {
    if (this.loop === "unopened") this.loop = "still"
    this.start.schedule()
  }

  /** The failure that stopped the space, if any. */
  get error(): SpaceStopped | undefined { return this.failure }

  /** Whether a beat became durable since the space was opened. */
  get hasAdvanced(): boolean { return this.durable > this.recovered }

  /** Adds an admitted signal to the inbox. The waiter opens when the signal is durable. */
  accept(pending: Pending, waiter: FlushWaiter): void {
    this.unsaved.push(pending)
    this.state.inbox.push(pending)
    if (this.state.mode.gated && !pending.urgent) this.state.parked.add(pending.signal)
    this.await(waiter)
  }

  /** Opens the waiter when the present state is durable. */
  await(waiter: FlushWaiter): void {
    if (this.failure !== undefined) return waiter.fail(this.failure)
    this.waiters.push(waiter)
    this.wake()
  }

  /** Calls `look` when the present state is durable: at once, or after the flush that carries it. */
  whenDurable(look: () => void, fail: (error: SpaceStopped) => void): void {
    if (this.failure !== undefined) return fail(this.failure)
    if (this.isDurable) {
      try {
        return look()
      } catch (error) {
        const failure = asStopped(this.state.space, error)
        this.stop(failure)
        return fail(failure)
      }
    }
    // A beat that ended while the flush was under way is not in it.
    this.await({ open: () => this.isFlushed ? look() : this.whenDurable(look, fail), fail })
  }

  /** Switches between manual and automatic beats. */
  hold(isHeld: boolean): void {
    this.held = isHeld
    // The set belongs to the kernel, so the mode survives closing and reopening the space.
    if (isHeld) this.state.held.add(this.state.space)
    else this.state.held.delete(this.state.space)
    this.wake()
  }

  /** Reports new work, and schedules a group. */
  wake(): void {
    this.start.grow()
    this.start.schedule()
  }

  /** Whether the present state is durable and every waiter has been opened. */
  get isDurable(): boolean {
    return this.isFlushed && this.unsaved.length === 0 && this.waiters.length === 0 && !this.handshake.isRunning && this.leaving.size === 0
  }

  /** Whether the newest beat is durable. The store has a committed beat before `beats` does. */
  private get isFlushed(): boolean {
    return this.state.store.head().beat === this.durable
  }

  /** The time of the space's next work, as {@link WakeTime.next} defines it. */
  get due(): number | undefined {
    return WakeTime.next(this.state, { opened: this.opened, byHand: this.held, isRunning: this.loop === "waiting" })
  }

  /** Whether a beat has captured its input and waits for a run. */
  get isInBeat(): boolean { return this.loop === "waiting" }

  /** Whether the loop is idle, with no waiter and no command. */
  get isResting(): boolean {
    const waiters = this.waiters.length + this.unsaved.length + this.leaving.size + this.idlers.length + this.steppers.length
    const isStill = this.loop === "still" && !this.start.isScheduled && !this.handshake.isRunning
    return isStill && waiters === 0 && this.state.inbox.commands.size === 0
  }

  /** Runs one beat, in manual mode too. */
  step(done: (beat: number) => void, fail: (error: BeatAborted | SpaceStopped) => void): void {
    if (this.failure !== undefined) return fail(this.failure)
    this.steppers.push({ done, fail })
    this.begin()
  }

  /** Opens the waiter when no input is runnable and no run is pending. */
  idle(waiter: FlushWaiter): void {
    if (this.failure !== undefined) return waiter.fail(this.failure)
    this.idlers.push(waiter)
    this.start.schedule()
  }

  /** Stops the space, and fails every waiter with the error. */
  stop(error: SpaceStopped): void {
    if (this.failure !== undefined) return
    this.failure = error
    const { lostBeats, space, store } = this.state
    this.handshake.abort()
    lostBeats.add(space, this.handshake.lossOf(error, { durable: this.durable, newest: store.head().beat }))
    const isWaiting = this.loop === "waiting"
    this.loop = "stopped"
    this.disarm?.()
    // A failed waiter may reopen the space at once, so the registry drops this one first.
    this.observer.stopped(error)
    for (let waiter = this.leaving.shift(); waiter !== undefined; waiter = this.leaving.shift()) waiter.fail(error)
    // A pending run cannot be cancelled, so idlers fail when it ends.
    const idlers = isWaiting ? [] : this.idlers
    const waiters = [...this.beats.map((beat) => this.published(beat)), ...this.waiters, ...idlers, ...this.steppers]
    this.beats = []
    this.waiters = []
    if (!isWaiting) this.idlers = []
    this.steppers = []
    for (const waiter of waiters) waiter.fail(error)
    for (const { answer } of this.state.inbox.commands.all()) answer(error)
  }

  private begin(): void {
    // Signals that arrive while a run is pending are made durable meanwhile.
    if (this.loop === "waiting") return this.flush(nothing)
    if (this.loop === "busy" && this.handshake.isRunning) return this.handshake.queue()
    if (this.loop !== "still") return
    this.loop = "busy"
    this.handshake.take("open")
    this.disarm?.()
    this.disarm = undefined
    this.observer.begins()
    const begin = (): void => this.beat({ since: this.state.host.now(), count: 0, size: 0 })
    // A beat on probation may end the process, so its input is flushed before.
    if (this.isOnProbation) this.flush(begin)
    else begin()
  }

  /** Whether the next beat runs alone, over input that is durable. */
  private get isOnProbation(): boolean {
    return this.state.sentry?.isOnProbation(this.number) === true
  }

  /** Runs beats until no input is runnable or the group is full, then flushes. */
  private beat(spent: Spent): void {
    try {
      for (let number = this.next(); number !== undefined && !this.isFull(spent); number = this.next()) {
        this.state.sentry?.begins(number, this.durable)
        const beat = this.heartbeat.step(number)
        if (beat instanceof Promise) {
          this.loop = "waiting"
          beat.then((beat) => this.took(beat, spent), (error: unknown) => this.threw(error, spent))
          return this.pending.schedule()
        }
        this.keep(beat, spent)
      }
    } catch (error) {
      return this.threw(error, spent)
    }
    // An observer of an appended beat may have stopped the space.
    if (this.failure === undefined) this.flush(() => this.rest())
  }

  private isFull({ count, since, size }: Spent): boolean {
    const { groupBeats, groupBytes, groupMillis } = this.state.settings.limits
    if (count >= groupBeats || size >= groupBytes) return true
    return count > 0 && (this.isOnProbation || this.state.host.now() - since >= groupMillis)
  }

  private took(beat: Beat, spent: Spent): void {
    if (this.failure !== undefined) {
      for (const answer of beat.answers) answer(this.failure)
      return this.ended(this.failure)
    }
    this.loop = "busy"
    this.keep(beat, spent)
    this.beat(spent)
  }

  private keep(beat: Beat, spent: Spent): void {
    this.beats.push(beat)
    this.handshake.take("append")
    this.observer.appended(beat)
    spent.count++
    spent.size += beat.size
    const stepper = this.steppers.shift()
    if (stepper !== undefined) this.waiters.push({ open: () => stepper.done(beat.number), fail: stepper.fail })
  }

  /** Handles a failed beat: an aborted one leaves its input to the next, any other failure stops the space. */
  private threw(error: unknown, spent: Spent): void {
    if (this.failure !== undefined) return this.ended(this.failure)
    if (!(error instanceof BeatAborted)) return this.stop(asStopped(this.state.space, error))
    this.loop = "busy"
    spent.count++
    const stepper = this.steppers.shift()
    if (stepper !== undefined) this.waiters.push({ open: () => stepper.fail(error), fail: stepper.fail })
    this.beat(spent)
  }

  /** Fails the idlers, once the run that was pending when the space stopped is over. */
  private ended(error: SpaceStopped): void {
    for (const idler of this.idlers) idler.fail(error)
    this.idlers = []
  }

  /** Whether a ledger has input on its way, for which the next beat waits. */
  private get isAwaiting(): boolean {
    return this.state.ledgers.isAwaited(this.state.states)
  }

  /** The number that follows the newest beat. */
  private get number(): number {
    return Math.max(this.state.store.head().beat, this.lost) + 1
  }

  /** The number of the beat to run now; `undefined` if no input is runnable. */
  private next(): number | undefined {
    const { number } = this
    if (this.failure !== undefined || this.isAwaiting) return undefined
    if (this.steppers.length > 0) return number
    if (this.held) return undefined
    if (WakeTime.isNow(this.state)) return number
    const due = WakeTime.wait(this.state, this.opened)
    return due !== undefined && due.moment <= this.state.host.now() ? Math.max(number, due.beat ?? 0) : undefined
  }

  /** Stores uncaptured signals, flushes the store, and opens the waiters. Flushes do not overlap. */
  private flush(then: () => void): void {
    if (this.handshake.isRunning) {
      this.handshake.queue()
      this.then = () => this.flush(then)
      return
    }
    const unsaved = this.unsaved.filter((pending) => pending.beat === undefined)
    this.unsaved = []
    const isSending = this.beats.some(({ outgoing }) => outgoing.length > 0)
    for (const beat of this.beats) this.leaving.push(this.published(beat))
    for (const waiter of this.waiters) this.leaving.push(waiter)
    this.beats = []
    this.waiters = []
    if (unsaved.length === 0 && this.leaving.size === 0) {
      this.handshake.take("end")
      return then()
    }
    this.then = then
    try {
      this.save(unsaved)
      WakeTime.keep(this.state, isSending ? WakeTime.SENDING : this.due)
    } catch (error) {
      return this.stop(asStopped(this.state.space, error))
    }
    this.handshake.flush(this.flushed)
  }

  private save(unsaved: ReadonlyArray<Pending>): void {
    if (unsaved.length === 0) return
    this.state.store.append({ entry: undefined, cells: [], receipts: [], queued: unsaved, dequeued: [], blobs: [], observations: [] })
    this.handshake.take("append")
    for (const pending of unsaved) pending.stored = true
    this.state.inbox.waiting.saved(unsaved)
  }

  /** Flush ended: opens the waiters in order, then starts the continuation requested meanwhile. */
  private readonly flushed: FlushEnd = (failed) => {
    if (this.failure !== undefined) return
    let waiter: FlushWaiter | undefined
    try {
      if (failed !== undefined) throw failed.error
      for (waiter = this.leaving.shift(); waiter !== undefined; waiter = this.leaving.shift()) waiter.open()
    } catch (error) {
      const failure = asStopped(this.state.space, error)
      this.stop(failure)
      // The waiter that threw is no longer in `leaving`.
      return waiter?.fail(failure)
    }
    // A waiter may have stopped the space.
    if (this.failure !== undefined) return
    this.handshake.take("end")
    const { then } = this
    this.then = undefined
    then?.()
  }

  /** A beat as a waiter of the flush: publishes it, and answers its commands. */
  private published(beat: Beat): FlushWaiter {
    return {
      open: () => {
        this.durable = beat.number
        this.observer.published(beat)
        for (const answer of beat.answers) answer(beat.number)
      },
      fail: (error) => {
        for (const answer of beat.answers) answer(error)
      }
    }
  }

  /** After a group: schedules the next, or opens the idlers and arms the wake timer: in manual mode for ledgers alone. */
  private rest(): void {
    if (this.failure !== undefined) return
    this.loop = "still"
    if (this.next() !== undefined || this.waiters.length > 0 || this.unsaved.length > 0) return this.start.schedule()
    const busy = this.held && WakeTime.hasInput(this.state)
    if (!busy && this.state.inbox.parked === 0 && !this.state.derivation.isAwaited && !this.isAwaiting) {
      const { idlers } = this
      this.idlers = []
      for (const idler of idlers) idler.open()
    }
    this.observer.rested()
    const moment = this.held ? this.state.ledgers.nextDue(this.state.states) : WakeTime.timed(this.state, this.opened)
    if (moment !== undefined) this.disarm = this.state.host.wake(moment, () => this.begin())
  }
}

/** The share of its limits that a group has used. */
interface Spent {
  readonly since: number
  count: number
  size: number
}

const nothing = (): void => {}
