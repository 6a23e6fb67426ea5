/**
 * Captured events with open handlings, and the lanes that they hold.
 *
 * @module
 */
import type { Lane } from "../../registry/Registry.ts"
import { type Backlog, InFlight } from "../model/InFlight.ts"
import type { PendingSignal, Signal } from "../model/Signal.ts"
import { attemptOf, laneOf } from "./Capture.ts"
import { ChurnMap } from "./ChurnMap.ts"
import type { Discards } from "./Discards.ts"
import { Lanes } from "./Lanes.ts"
import type { PriorityClass } from "./PriorityClass.ts"
import type { SignalBuffer } from "./SignalBuffer.ts"

/** The queues of an inbox. */
interface Queues {
  readonly backlog: Backlog
  readonly discards: Discards
  readonly waiting: SignalBuffer
  readonly classOf: (pending: Pick<PendingSignal, "urgent">) => PriorityClass
}

/**
 * The open events of one space.
 */
export class OpenEvents {
  readonly lanes = new Lanes()
  /** By id. As many as one beat can take are in memory; the others have rows. */
  private readonly flights = new ChurnMap<string, InFlight>()
  private readonly queues: Queues
  private readonly captureSignals: number

  constructor(queues: Queues, captureSignals: number) {
    this.queues = queues
    this.captureSignals = captureSignals
  }

  /** The number of events in memory. */
  get size(): number {
    return this.flights.size
  }

  /** The open event of an id, if it is in memory. */
  get(id: string): InFlight | undefined {
    return this.flights.get(id)
  }

  /** The in-flight event of another attempt: from memory, or from the rows of its signal. */
  of(pending: PendingSignal): InFlight {
    const { signal } = pending
    const known = this.flights.get(signal.id)
    if (known !== undefined) return known
    const flight = this.begin(signal, attemptOf(pending).captured, undefined)
    flight.isRevived = true
    for (const other of this.queues.waiting.named(signal.id)) {
      const { lane, loose } = attemptOf(other)
      flight.open++
      if (!loose) flight.strict++
      flight.lane ??= lane
    }
    this.flights.set(signal.id, flight)
    return flight
  }

  /** Begins an event that a beat captures. */
  begin(signal: Signal, captured: number, lane: string | undefined): InFlight {
    const flight = new InFlight(signal, captured, lane)
    flight.backlog = this.queues.backlog
    return flight
  }

  /** Keeps an event with further attempts. Its lane advances when none of them holds it. */
  keep(flight: InFlight): void {
    const { signal } = flight
    this.queues.waiting.done(signal)
    if (this.flights.size < this.captureSignals) this.flights.set(signal.id, flight)
    else if (this.flights.size > this.captureSignals) this.flights.delete(signal.id)
    if (flight.lane === undefined || flight.strict > 0) return
    this.release(flight.lane)
    flight.lane = undefined
  }

  /** Completes an event. Its lane advances to the next event. */
  complete(flight: InFlight): void {
    this.flights.delete(flight.signal.id)
    this.queues.waiting.done(flight.signal)
    if (flight.lane !== undefined) this.release(flight.lane)
  }

  /** Releases a lane. Its next event becomes a head. */
  release(lane: string): void {
    const seq = this.lanes.release(lane, (seq) => this.queues.discards.drop(seq))
    if (seq !== undefined) this.queues.classOf(this.queues.waiting.at(seq)).heads.push({ seq, lane })
  }

  /** Whether an event has to wait for another one of its lane. */
  isBehind(signal: Signal, lane: Lane): boolean { return this.lanes.has(laneOf(signal, lane)) }
}
