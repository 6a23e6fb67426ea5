/**
 * The output barrier of a space: holds answers, receipts and observations back until the flush that carries them is done.
 *
 * @module
 */
import { Queue } from "../../../registry/Queue.ts"
import type { PendingSignal } from "../../model/Signal.ts"
import { asStopped, type SpaceStopped } from "../../model/SpaceError.ts"
import type { Beat } from "../step/Commit.ts"
import type { CommitHandshake, FlushEnd } from "./CommitHandshake.ts"
import type { FlushWaiter, GroupObserver } from "./GroupObserver.ts"
import type { LiveState } from "./LiveState.ts"
import * as WakeTime from "./WakeTime.ts"

/** The loop of the space. */
interface Loop {
  /** The time of the next work, in milliseconds since 1970. */
  readonly due: number | undefined
  readonly wake: () => void
  readonly stop: (error: SpaceStopped) => void
}

/**
 * The output barrier of one open space.
 */
export class OutputBarrier {
  /** The newest durable beat. */
  durable: number
  /** The failure that stopped the space, if any. */
  error: SpaceStopped | undefined
  private readonly state: LiveState
  private readonly observer: Pick<GroupObserver, "flushed" | "published">
  private readonly loop: Loop
  private readonly handshake: CommitHandshake
  /** The newest durable beat when the space was opened. */
  private readonly recovered: number
  /** Waiters of the next flush. */
  private waiters: Array<FlushWaiter> = []
  /** Beats of the next flush. */
  private beats: Array<Beat> = []
  /** Admitted signals that are neither captured nor stored. */
  private unsaved: Array<PendingSignal> = []
  /** Waiters of the running flush, in order: beats first, then callers. */
  private readonly leaving = new Queue<FlushWaiter>()
  /** The continuation of the running flush. */
  private then: (() => void) | undefined

  constructor(state: LiveState, observer: Pick<GroupObserver, "flushed" | "published">, loop: Loop) {
    this.state = state
    this.observer = observer
    this.loop = loop
    this.handshake = state.handshake
    this.durable = this.recovered = state.store.head().beat
  }

  /** Whether a beat became durable since the space was opened. */
  get hasAdvanced(): boolean { return this.durable > this.recovered }

  /** Whether a flush runs. */
  get isFlushing(): boolean { return this.handshake.isRunning }

  /** Whether a flush has waiters, or signals to store. */
  get isAwaited(): boolean { return this.hasNext || this.leaving.size > 0 }

  /** Whether the next flush has waiters, or signals to store. */
  get hasNext(): boolean { return this.waiters.length > 0 || this.unsaved.length > 0 }

  /** Begins a group. */
  open(): void { this.handshake.take("open") }

  /** Counts a group that begins after the running flush. */
  queue(): void { this.handshake.queue() }

  /** Adds a beat to the next flush. */
  add(beat: Beat): void {
    this.beats.push(beat)
    this.handshake.take("append")
  }

  /** Adds an admitted signal to the inbox. The waiter opens when the signal is durable. */
  accept(pending: PendingSignal, waiter: FlushWaiter): void {
    this.unsaved.push(pending)
    this.state.inbox.push(pending)
    if (this.state.mode.gated && !pending.urgent) this.state.parked.add(pending.signal)
    this.await(waiter)
  }

  /** Adds a waiter to the next flush, which is certain to come. */
  enlist(waiter: FlushWaiter): void {
    this.waiters.push(waiter)
  }

  /** Opens the waiter when the present state is durable. */
  await(waiter: FlushWaiter): void {
    if (this.error !== undefined) return waiter.fail(this.error)
    this.waiters.push(waiter)
    this.loop.wake()
  }

  /** Calls `look` when the present state is durable: at once, or after the flush that carries it. */
  whenDurable(look: () => void, fail: (error: SpaceStopped) => void): void {
    if (this.error !== undefined) return fail(this.error)
    if (this.isDurable) {
      try {
        return look()
      } catch (error) {
        const failure = asStopped(this.state.space, error)
        this.loop.stop(failure)
        return fail(failure)
      }
    }
    // A beat that ended while the flush was under way is not in it.
    this.await({ open: () => this.isFlushed ? look() : this.whenDurable(look, fail), fail })
  }

  /** Ends the barrier: no flush follows. {@link fail} fails its waiters. */
  stop(error: SpaceStopped): void {
    const { lostBeats, space, store } = this.state
    this.error = error
    this.handshake.abort()
    lostBeats.add(space, this.handshake.lossOf(error, { durable: this.durable, newest: store.head().beat }))
  }

  /** Fails every waiter, in order. */
  fail(error: SpaceStopped): void {
    for (let waiter = this.leaving.shift(); waiter !== undefined; waiter = this.leaving.shift()) waiter.fail(error)
    const waiters = [...this.beats.map((beat) => this.published(beat)), ...this.waiters]
    this.beats = []
    this.waiters = []
    for (const waiter of waiters) waiter.fail(error)
  }

  /** Whether the present state is durable and every waiter has been opened. */
  get isDurable(): boolean {
    return this.isFlushed && this.unsaved.length === 0 && this.waiters.length === 0 && !this.handshake.isRunning && this.leaving.size === 0
  }

  /** Whether the newest beat is durable. The store has a committed beat before `beats` does. */
  private get isFlushed(): boolean {
    return this.state.store.head().beat === this.durable
  }

  /** Stores uncaptured signals, flushes the store, and opens the waiters. Flushes do not overlap. */
  flush(then: () => void): void {
    if (this.handshake.isRunning) {
      this.handshake.queue()
      this.then = () => this.flush(then)
      return
    }
    const unsaved = this.unsaved.filter((pending) => pending.beat === undefined)
    this.unsaved = []
    const isSending = this.state.mode.detached === undefined && this.beats.some(({ outgoing }) => outgoing.length > 0)
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
      WakeTime.keep(this.state, isSending ? WakeTime.SENDING : this.loop.due)
    } catch (error) {
      return this.loop.stop(asStopped(this.state.space, error))
    }
    this.handshake.flush(this.flushed)
  }

  private save(unsaved: ReadonlyArray<PendingSignal>): void {
    if (unsaved.length === 0) return
    this.state.store.append({ entry: undefined, cells: [], receipts: [], queued: unsaved, dequeued: [], blobs: [], observations: [] })
    this.handshake.take("append")
    for (const pending of unsaved) pending.stored = true
    this.state.inbox.waiting.saved(unsaved)
  }

  /** Flush ended: opens the waiters in order, then starts the continuation requested meanwhile. */
  private readonly flushed: FlushEnd = (failed) => {
    if (this.error !== undefined) return
    let waiter: FlushWaiter | undefined
    try {
      if (failed !== undefined) throw failed.error
      for (waiter = this.leaving.shift(); waiter !== undefined; waiter = this.leaving.shift()) waiter.open()
      // A waiter may have stopped the space.
      if (this.error !== undefined) return
      this.handshake.take("end")
      this.observer.flushed()
      const { then } = this
      this.then = undefined
      then?.()
    } catch (error) {
      const failure = asStopped(this.state.space, error)
      this.loop.stop(failure)
      // The waiter that threw is no longer in `leaving`.
      waiter?.fail(failure)
    }
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
}
