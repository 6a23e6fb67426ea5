/**
 * The inbox: all that is to be captured, in the order in which it will be.
 *
 * Conflict losers come first, one for each document; then retries and delayed
 * signals that are due, events whose lane came free, and new signals, each first
 * in first out. Events of one lane never share a beat. (Architecture, sections
 * 1.1 and 5.)
 *
 * @module
 */
import type { Lane, Resolution } from "../registry/Registry.ts"
import type { Control } from "./Control.ts"
import { Flight } from "./Flight.ts"
import type { Limits } from "./Limits.ts"
import { Queue } from "./Queue.ts"
import type { Pending, Signal } from "./Signal.ts"
import { Waits } from "./Waits.ts"

/** What one beat takes from the inbox. */
export interface Taken {
  readonly pending: Pending
  readonly flight: Flight
}

/** The start of a beat: its number and its captured clock. */
export interface Start {
  readonly beat: number
  readonly clock: number
}

/**
 * What waits in one space.
 *
 * @category models
 * @since 0.1.0
 */
export class Inbox {
  /** Control input from outside, in the order of its arrival; what a beat did leaves with its commit. */
  controls: Array<Control> = []
  readonly waits = new Waits()
  /** Signals that were captured and are not over, by their id. */
  readonly flights = new Map<string, Flight>()
  /** Signals and characters that came from outside and were not captured yet. */
  signals = 0
  bytes = 0
  private readonly fresh = new Queue<Pending>()
  /** Attempts that are due. */
  private readonly retries = new Queue<Pending>()
  /** Signals from outside that are not over, by their id. */
  readonly waiting = new Map<string, Signal>()
  /** Events whose lane came free, with the lane they hold. */
  private readonly heads = new Queue<{ readonly pending: Pending; readonly lane: string }>()
  /** Lanes that are held, with the events that wait behind their holder. */
  private readonly lanes = new Map<string, Queue<Pending> | undefined>()
  /** Runs that lost a conflict, by the document they lost on. */
  private readonly losers = new Map<string, Queue<Pending>>()
  /** What an aborted beat had taken, for the next one to take again. */
  private again: ReadonlyArray<Taken> | undefined

  /** Whether a beat with this start would have something to do. */
  isRunnable(start: Start): boolean {
    return this.controls.length > 0 || this.fresh.size > 0 || this.heads.size > 0 || this.losers.size > 0 || this.retries.size > 0 ||
      this.again !== undefined || this.waits.isDue(start.beat, start.clock)
  }

  /** Takes in what arrived, or what a beat sent. */
  push(pending: Pending): void {
    this.count(pending, 1)
    if (pending.signal.origin !== "run") this.waiting.set(pending.signal.id, pending.signal)
    if (pending.due !== undefined) this.waits.add(pending)
    else this.fresh.push(pending)
  }

  /** Takes in a handling that has to run again. */
  repeat(pending: Pending): void {
    const { again } = pending
    if (again?.why !== "conflict") return this.waits.add(pending)
    const queue = this.losers.get(again.document!)
    if (queue === undefined) this.losers.set(again.document!, single(pending))
    else if (again.losses > 1) queue.unshift(pending)
    else queue.push(pending)
  }

  /** Takes in what a store kept: each where it was. */
  restore(pending: Pending): void {
    const { again, signal } = pending
    if (again === undefined) return this.push(pending)
    let flight = this.flights.get(signal.id)
    if (flight === undefined) {
      flight = new Flight(signal, again.captured, undefined)
      this.flights.set(signal.id, flight)
      if (signal.origin !== "run") this.waiting.set(signal.id, signal)
    }
    flight.open++
    if (!again.loose) flight.strict++
    if (again.lane !== undefined) {
      flight.lane = again.lane
      this.lanes.set(again.lane, undefined)
    }
    this.repeat(pending)
  }

  /** Takes the input of a beat out of the inbox. */
  take(start: Start, limits: Limits, resolve: (signal: Signal) => Resolution): ReadonlyArray<Taken> {
    if (this.again !== undefined) {
      const taken = this.again
      this.again = undefined
      return taken
    }
    const taken: Array<Taken> = []
    for (const [document, queue] of this.losers) {
      taken.push(this.resume(queue.shift()!))
      if (queue.size === 0) this.losers.delete(document)
    }
    const waited = this.waits.take(start.beat, start.clock)
    for (const pending of waited) if (pending.again !== undefined) this.retries.push(pending)
    while (this.retries.size > 0 && taken.length < limits.captureSignals) taken.push(this.resume(this.retries.shift()!))
    this.takeNew(taken, { start, limits, resolve, delayed: waited.filter((pending) => pending.again === undefined) })
    return taken
  }

  private takeNew(taken: Array<Taken>, input: NewInput): void {
    const { delayed, limits: { captureBytes, captureSignals }, resolve, start } = input
    const impulses = new Set<string>()
    let bytes = 0
    const depart = (pending: Pending, lane: string | undefined): void => {
      bytes += size(pending)
      this.count(pending, -1)
      if (lane === undefined) impulses.add(pending.signal.pair)
      taken.push({ pending, flight: new Flight(pending.signal, start.beat, lane) })
    }
    const isFull = () => taken.length >= captureSignals || bytes >= captureBytes
    while (this.heads.size > 0 && !isFull()) {
      const { lane, pending } = this.heads.shift()!
      depart(pending, lane)
    }
    for (const pending of delayed.toReversed()) this.fresh.unshift(pending)
    // Each look moves one signal on, into the beat or behind its lane's holder; the limit keeps a beat from looking at a whole backlog.
    for (let looks = 4 * captureSignals; looks > 0 && this.fresh.size > 0 && !isFull(); looks--) {
      const pending = this.fresh.shift()!
      const lane = pending.signal.event ? laneOf(pending.signal, resolve(pending.signal).lane) : undefined
      if (lane === undefined) depart(pending, lane)
      else if (this.lanes.has(lane)) this.queue(lane, pending)
      else {
        this.lanes.set(lane, undefined)
        // An equal impulse of this beat runs the pair already.
        if (impulses.has(pending.signal.pair)) this.heads.push({ pending, lane })
        else depart(pending, lane)
      }
    }
  }

  /** Puts back what an aborted beat had taken, in the same order. */
  putBack(taken: ReadonlyArray<Taken>): void {
    this.again = taken
  }

  /** Keeps a flight that has handlings to repeat; its lane goes on when all of those let it. */
  stay(flight: Flight): void {
    this.flights.set(flight.signal.id, flight)
    if (flight.lane === undefined || flight.strict > 0) return
    this.release(flight.lane)
    flight.lane = undefined
  }

  /** Ends a flight: its lane goes on with the next event. */
  land(flight: Flight): void {
    this.flights.delete(flight.signal.id)
    if (flight.signal.origin !== "run") this.waiting.delete(flight.signal.id)
    if (flight.lane !== undefined) this.release(flight.lane)
  }

  private release(lane: string): void {
    const pending = this.lanes.get(lane)?.shift()
    if (pending === undefined) this.lanes.delete(lane)
    else this.heads.push({ pending, lane })
  }

  private queue(lane: string, pending: Pending): void {
    const queue = this.lanes.get(lane)
    if (queue === undefined) this.lanes.set(lane, single(pending))
    else queue.push(pending)
  }

  private resume(pending: Pending): Taken {
    return { pending, flight: this.flights.get(pending.signal.id)! }
  }

  private count(pending: Pending, sign: 1 | -1): void {
    if (pending.signal.origin === "run") return
    this.signals += sign
    this.bytes += sign * size(pending)
  }
}

interface NewInput {
  readonly start: Start
  readonly limits: Limits
  readonly resolve: (signal: Signal) => Resolution
  readonly delayed: ReadonlyArray<Pending>
}

const size = (pending: Pending): number => pending.signal.payload?.text.length ?? 0

const single = (pending: Pending): Queue<Pending> => {
  const queue = new Queue<Pending>()
  queue.push(pending)
  return queue
}

/** The lane of an event, by the width that its enzymes ask for. */
const laneOf = (signal: Signal, lane: Lane): string =>
  lane === "pair" ? signal.pair : lane === "target" ? `target ${signal.target ?? ""}` : "space"
