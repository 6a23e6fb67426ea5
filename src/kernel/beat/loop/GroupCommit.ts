/**
 * The group-commit loop of a space.
 *
 * Beats run one after another while input is runnable. One flush then makes the group durable, and opens the output barrier.
 * A group begins at the host's next macrotask, and is deferred a few times while the inbox grows. A failed flush is final: the
 * space stops, and reopens from its durable state.
 *
 * @module
 */
import type { LiveState } from "./LiveState.ts"
import type { Beat } from "../step/Commit.ts"
import { OutputBarrier } from "./OutputBarrier.ts"
import * as WakeTime from "./WakeTime.ts"
import { Heartbeat } from "../step/Heartbeat.ts"
import { LiveInput } from "../step/BeatInput.ts"
import type { GroupObserver, FlushWaiter } from "./GroupObserver.ts"
import { GroupStart, PendingFlush } from "./GroupTiming.ts"
import type { Turn } from "../../model/Pacemaker.ts"
import { asStopped, BeatAborted, type SpaceStopped } from "../../model/SpaceError.ts"

/**
 * Runs the beats of one space.
 */
export class GroupCommit {
  /** Whether only `step` runs beats. */
  held: boolean
  readonly barrier: OutputBarrier
  /** Reports new work, and schedules a group. */
  readonly wake: () => void
  private readonly state: LiveState
  private readonly heartbeat: Heartbeat
  private readonly observer: GroupObserver
  private readonly start: GroupStart
  private readonly pending: PendingFlush
  private readonly opened: number
  /** The numbers up to this one are lost, and not used again. */
  private readonly lost: number
  private idlers: Array<FlushWaiter> = []
  private steppers: Array<{ readonly done: (beat: number) => void; readonly fail: (error: BeatAborted | SpaceStopped) => void }> = []
  /** State of the loop; `unopened` until its space is complete, and `waiting` while an asynchronous run is pending. */
  private loop: "unopened" | "still" | "busy" | "waiting" | "stopped" = "unopened"
  private disarm: (() => void) | undefined
  /** The calls at the end of the beat in progress. */
  private afterwards: Array<() => void> = []

  constructor(state: LiveState, turn: Turn, observer: GroupObserver) {
    this.state = state
    this.start = new GroupStart(turn, state.settings.limits.groupTurns, this.begin)
    this.wake = this.start.wake
    this.observer = observer
    this.barrier = new OutputBarrier(state, observer, this)
    this.heartbeat = new Heartbeat(state, new LiveInput(state))
    const flush = (): void => this.safely(() => this.barrier.flush(nothing))
    const runs = { isPending: () => this.loop === "waiting", ended: () => this.heartbeat.ended, flush }
    this.pending = new PendingFlush(runs, { now: state.host.now, turn, millis: state.settings.limits.groupMillis })
    this.held = state.settings.pace === "manual" || state.held.has(state.space)
    this.lost = state.lostBeats.newest(state.space)
    this.opened = state.host.now()
  }

  /** Begins the first group. A space that fails to open has none. */
  open(): void {
    if (this.loop === "unopened") this.loop = "still"
    this.start.schedule()
  }

  /** Switches between manual and automatic beats. */
  hold(isHeld: boolean): void {
    this.held = isHeld
    // The set belongs to the kernel, so the mode survives closing and reopening the space.
    if (isHeld) this.state.held.add(this.state.space)
    else this.state.held.delete(this.state.space)
    this.wake()
  }

  /** The time of the space's next work, as {@link WakeTime.next} defines it. */
  get due(): number | undefined {
    return WakeTime.next(this.state, { opened: this.opened, byHand: this.held, isRunning: this.loop === "waiting" })
  }

  /**
   * Calls a function once no beat is in progress: at once, after a run for which the beat waits, or after the group. It runs within
   * the loop, so it changes memory alone, and leaves all other work to a turn of its own.
   */
  afterBeat(run: () => void): void {
    if (this.loop === "waiting" || this.loop === "busy") this.afterwards.push(run)
    else run()
  }

  /** Whether a beat has captured its input and waits for a run. */
  get isInBeat(): boolean { return this.loop === "waiting" }

  /** Whether the loop is idle, with no waiter and no command. */
  get isResting(): boolean {
    const isAwaited = this.barrier.isAwaited || this.idlers.length + this.steppers.length > 0
    const isStill = this.loop === "still" && !this.start.isScheduled && !this.barrier.isFlushing
    return isStill && !isAwaited && this.state.inbox.commands.size === 0
  }

  /** Runs one beat, in manual mode too. */
  step(done: (beat: number) => void, fail: (error: BeatAborted | SpaceStopped) => void): void {
    if (this.barrier.error !== undefined) return fail(this.barrier.error)
    this.steppers.push({ done, fail })
    this.begin()
  }

  /** Opens the waiter when no input is runnable and no run is pending. */
  idle(waiter: FlushWaiter): void {
    if (this.barrier.error !== undefined) return waiter.fail(this.barrier.error)
    this.idlers.push(waiter)
    this.start.schedule()
  }

  /** Stops the space, and fails every waiter with the error. */
  stop(error: SpaceStopped): void {
    if (this.barrier.error !== undefined) return
    this.barrier.stop(error)
    const isWaiting = this.loop === "waiting"
    this.loop = "stopped"
    this.disarm?.()
    if (!isWaiting) this.over()
    // A failed waiter may reopen the space at once, so the registry drops this one first.
    this.observer.stopped(error)
    this.barrier.fail(error)
    // A pending run cannot be cancelled, so idlers fail when it ends.
    const waiters = [...isWaiting ? [] : this.idlers, ...this.steppers]
    if (!isWaiting) this.idlers = []
    this.steppers = []
    for (const waiter of waiters) waiter.fail(error)
    for (const { answer } of this.state.inbox.commands.all()) answer(error)
  }

  /** Runs a call of the host. An error beside the beats stops the space, which then opens again: its loop alone arms the next call. */
  private safely(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.stop(asStopped(this.state.space, error))
    }
  }

  private readonly begin = (): void => this.safely(() => this.beginGroup())

  private beginGroup(): void {
    // Signals that arrive while a run is pending are made durable meanwhile.
    if (this.loop === "waiting") return this.barrier.flush(nothing)
    if (this.loop === "busy" && this.barrier.isFlushing) return this.barrier.queue()
    if (this.loop !== "still") return
    this.loop = "busy"
    this.barrier.open()
    this.disarm?.()
    this.disarm = undefined
    this.observer.begins()
    const begin = (): void => this.beat({ since: this.state.host.now(), count: 0, size: 0 })
    // A beat on probation may end the process, so its input is flushed before.
    if (this.isOnProbation) this.barrier.flush(begin)
    else begin()
  }

  /** Whether the next beat runs alone, over input that is durable. */
  private get isOnProbation(): boolean {
    return this.state.watchdog?.isOnProbation(this.number) === true
  }

  /** Runs beats until no input is runnable or the group is full, then flushes. */
  private beat(spent: Spent): void {
    try {
      for (let number = this.next(); number !== undefined && !this.isFull(spent); number = this.next()) {
        this.state.watchdog?.beginBeat(number, this.barrier.durable)
        const beat = this.heartbeat.step(number)
        if (beat instanceof Promise) {
          this.loop = "waiting"
          beat.then((beat) => this.safely(() => this.took(beat, spent)), (error: unknown) => this.safely(() => this.threw(error, spent)))
          return this.pending.schedule()
        }
        this.keep(beat, spent)
      }
    } catch (error) {
      return this.threw(error, spent)
    }
    // An observer of an appended beat may have stopped the space.
    if (this.barrier.error === undefined) this.barrier.flush(() => this.rest())
  }

  private isFull({ count, since, size }: Spent): boolean {
    const { groupBeats, groupBytes, groupMillis } = this.state.settings.limits
    if (count >= groupBeats || size >= groupBytes) return true
    return count > 0 && (this.isOnProbation || this.state.host.now() - since >= groupMillis)
  }

  private took(beat: Beat, spent: Spent): void {
    if (this.barrier.error !== undefined) {
      for (const answer of beat.answers) answer(this.barrier.error)
      return this.ended(this.barrier.error)
    }
    this.loop = "busy"
    this.keep(beat, spent)
    this.over()
    this.beat(spent)
  }

  private keep(beat: Beat, spent: Spent): void {
    this.barrier.add(beat)
    this.observer.appended(beat)
    spent.count++
    spent.size += beat.size
    const stepper = this.steppers.shift()
    if (stepper !== undefined) this.barrier.enlist({ open: () => stepper.done(beat.number), fail: stepper.fail })
  }

  /** Handles a failed beat: an aborted one leaves its input to the next, any other failure stops the space. */
  private threw(error: unknown, spent: Spent): void {
    if (this.barrier.error !== undefined) return this.ended(this.barrier.error)
    this.loop = "busy"
    if (!(error instanceof BeatAborted)) return this.stop(asStopped(this.state.space, error))
    this.over()
    spent.count++
    const stepper = this.steppers.shift()
    if (stepper !== undefined) this.barrier.enlist({ open: () => stepper.fail(error), fail: stepper.fail })
    this.beat(spent)
  }

  /** Makes the calls that waited for the end of the beat. */
  private over(): void {
    if (this.afterwards.length > 0) for (const run of this.afterwards.splice(0)) run()
  }

  /** Fails the idlers, once the run that was pending when the space stopped is over. */
  private ended(error: SpaceStopped): void {
    this.over()
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
    if (this.barrier.error !== undefined || this.isAwaiting) return undefined
    if (this.steppers.length > 0) return number
    if (this.held) return undefined
    if (WakeTime.isNow(this.state)) return number
    const due = WakeTime.wait(this.state, this.opened)
    return due !== undefined && due.moment <= this.state.host.now() ? Math.max(number, due.beat ?? 0) : undefined
  }

  /** After a group: schedules the next, or opens the idlers and arms the wake timer: in manual mode for ledgers alone. */
  private rest(): void {
    if (this.barrier.error !== undefined) return
    this.loop = "still"
    this.over()
    if (this.next() !== undefined || this.barrier.hasNext) return this.start.schedule()
    const busy = this.held && WakeTime.hasInput(this.state)
    if (!busy && this.state.inbox.parked === 0 && !this.state.derivation.isAwaited && !this.isAwaiting) {
      const { idlers } = this
      this.idlers = []
      for (const idler of idlers) idler.open()
    }
    this.observer.rested()
    const moment = this.held ? WakeTime.delayed(this.state) : WakeTime.nextTime(this.state, this.opened)
    if (moment !== undefined) this.disarm = this.state.host.wake(moment, this.begin)
  }
}

/** The share of its limits that a group has used. */
interface Spent {
  readonly since: number
  count: number
  size: number
}

const nothing = (): void => {}
