/**
 * The captured signals of one beat, for durable runs that come to hear them.
 *
 * @module
 */
import type { Pair } from "../../durable/Pairs.ts"
import type { CapturedSignal, InFlight, TakenSignal } from "../model/InFlight.ts"

/** Whether a captured signal is one of this space that arrived in this beat. */
export const mayBeHeard = ({ flight, pending }: TakenSignal): boolean =>
  pending.again === undefined && pending.undelivered === undefined && !pending.leaves && !flight.discarded

/** The captured signals of one beat by their pairs, and their places on the agenda. */
export class BeatSignals {
  private readonly inputs: ReadonlyArray<CapturedSignal>
  private readonly places = new Map<InFlight, number>()
  private byPair: Map<string, ReadonlyArray<CapturedSignal>> | undefined

  constructor(inputs: ReadonlyArray<CapturedSignal>) {
    this.inputs = inputs
  }

  /** The signals of a pair that follow an event on the agenda. */
  after(event: InFlight, [signal, target]: Pair): ReadonlyArray<CapturedSignal> {
    const byPair = this.byPair ??= this.index()
    const place = this.places.get(event) ?? -1
    const found = byPair.get(`${signal} ${target}`) ?? []
    return found.filter(({ flight }) => (this.places.get(flight) ?? -1) > place)
  }

  private index(): Map<string, ReadonlyArray<CapturedSignal>> {
    this.inputs.forEach(({ flight }, i) => this.places.set(flight, i))
    return Map.groupBy(this.inputs.filter(mayBeHeard), ({ flight: { signal: { signal = "", target = "" } } }) => `${signal} ${target}`)
  }
}
