/**
 * The agenda of one beat: signal by signal, and for each signal enzyme by enzyme.
 *
 * @module
 */
import * as Label from "../../../cell/Label.ts"
import type { Entry, Resolution } from "../../../registry/Registry.ts"
import type { CapturedSignal, InFlight, Handling, Outcome, TakenSignal } from "../../model/InFlight.ts"
import type { Again } from "../../model/Signal.ts"
import * as Signal from "../../model/Signal.ts"
import type { BeatInput } from "./BeatInput.ts"
import type { HeardBy } from "../RunExecutor.ts"
import * as DeadLetter from "../command/DeadLetter.ts"

/** A run to put on the agenda: an enzyme, or an outcome that is known already. */
interface Assignment {
  readonly key: string
  readonly entry?: Entry | undefined
  readonly again?: Again | undefined
  readonly outcome?: Outcome | undefined
}

/** The source of known outcomes, and the limit on chains of signals. */
export interface AgendaRules {
  readonly input: Pick<BeatInput, "settled">
  readonly hops: number
  /** The outcome of a durable run without its enzyme, if it is cancelled at once. */
  readonly ended: (event: string, key: string) => Outcome | undefined
  /** The durable runs that heard a captured signal. */
  readonly heard: HeardBy
}

/**
 * The captured signals of a beat, and their runs.
 */
export class Agenda {
  readonly inputs: Array<CapturedSignal> = []
  readonly runs: Array<Handling> = []
  private readonly beat: number

  constructor(beat: number) {
    this.beat = beat
  }

  /** Step 6: adds the runs of these signals, in order. Equal impulses share their runs. */
  arrange(taken: ReadonlyArray<TakenSignal>, resolve: (signal: Signal.Signal) => Resolution, rules: AgendaRules): void {
    const firsts = new Map<string, CapturedSignal>()
    for (const { flight, pending } of taken) {
      const { signal } = flight
      const captured: CapturedSignal = { pending, flight, resolution: resolve(signal), handlings: [] }
      this.inputs.push(captured)
      if (captured.resolution.status === "cycle") flight.cycle = true
      if (flight.discarded) continue
      const single = this.single(captured, rules)
      if (single !== undefined) {
        captured.handlings.push(single)
        continue
      }
      const first = signal.event ? undefined : firsts.get(signal.pair)
      if (!signal.event && first === undefined) firsts.set(signal.pair, captured)
      this.assignAll(captured, first, rules)
      for (const heard of rules.heard.get(flight) ?? none) {
        captured.handlings.push(this.assign(flight, { key: heard.oid, outcome: { kind: "ok", result: Signal.resultOfHeard(heard) } }))
      }
    }
  }

  /** The only run of a signal that does not go to all enzymes that take it: a repeated, undelivered or stormy one. */
  private single({ flight, pending, resolution }: CapturedSignal, { ended, hops, input }: AgendaRules): Handling | undefined {
    const { signal } = flight
    const { again, undelivered } = pending
    if (again !== undefined) {
      const key = again.enzyme
      const entry = resolution.entries.find((entry) => entry.key === key)
      const end = entry === undefined && again.segment !== undefined ? ended(signal.id, key) : undefined
      const outcome = entry === undefined ? end ?? gone(key) : input.settled(flight, key, again)
      return this.assign(flight, { key, entry, again, outcome })
    }
    if (undelivered !== undefined && signal.to !== undefined) {
      return this.assign(flight, { key: `space:${signal.to.space}`, outcome: { kind: "dead", ...undelivered } })
    }
    return signal.depth > hops ? this.assign(flight, { key: DeadLetter.STORM.key, outcome: storm(signal.depth) }) : undefined
  }

  private assignAll({ flight, handlings, resolution }: CapturedSignal, first: CapturedSignal | undefined, { input }: AgendaRules): void {
    let i = 0
    for (const entry of resolution.entries) {
      const shared = entry.enzyme.repeatable ? undefined : first?.handlings[i]
      handlings.push(shared ?? this.assign(flight, { key: entry.key, entry, outcome: input.settled(flight, entry.key) }))
      i++
    }
  }

  private assign(flight: InFlight, { again, entry, key, outcome }: Assignment): Handling {
    const told = Signal.toldBy({ again, signal: flight.signal })
    const hasLabel = outcome !== undefined && "code" in outcome
    const handling: Handling = {
      flight,
      key,
      entry,
      attempt: again?.attempt ?? 1,
      why: again?.why,
      losses: again?.losses ?? 0,
      timeouts: again?.timeouts ?? 0,
      segment: again?.segment ?? 0,
      waiting: again?.run,
      headOf: again?.document,
      beat: this.beat,
      run: this.runs.length,
      draft: undefined,
      outcome,
      label: hasLabel ? Label.join(told, outcome.label ?? Label.none) : told
    }
    this.runs.push(handling)
    return handling
  }
}

const none: ReadonlyArray<never> = []

const gone = (key: string): Outcome => ({
  kind: "dead",
  tag: "EnzymeGone",
  code: "enzyme/gone",
  message: `Enzyme "${key}" does not take this signal any more. Bring it back and send the signal again`
})

const storm = (depth: number): Outcome => ({
  kind: "dead",
  tag: "SignalStorm",
  code: DeadLetter.STORM.code,
  message: `The signal is number ${depth} in a chain of signals. Let the chain end, or raise the limit on hops, and send it again`
})
