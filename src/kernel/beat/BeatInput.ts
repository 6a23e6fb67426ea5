/**
 * The input of a beat: all that it takes from outside and that is not deterministic.
 *
 * A live space takes it from the host, the registry and the inbox; a replay from the journal. The results of a beat follow
 * from its input and from the state before it.
 *
 * @module
 */
import type { BindingTable } from "../../registry/Bindings.ts"
import type { Resolution } from "../../registry/Registry.ts"
import type { Timer } from "../../stage/CellTimers.ts"
import type { Begun, Hears, Start } from "../model/Begun.ts"
import type { LiveBody } from "./Body.ts"
import type { Queued } from "../model/Command.ts"
import type { Flight, Outcome, Taken } from "../model/Flight.ts"
import type { Retired } from "../model/Journal.ts"
import * as LabelCheck from "./LabelCheck.ts"
import * as Modules from "../model/Modules.ts"
import * as Titles from "../model/Titles.ts"
import type { ParkedNote } from "../model/Parked.ts"
import * as Regime from "../model/Regime.ts"
import { ExpiryIndex } from "./Expiry.ts"
import { type DueTimers, noTimers } from "./LedgerBeats.ts"
import type { Again, Signal } from "../model/Signal.ts"
import { RollbackPlan } from "./RollbackPlan.ts"

/** A handling that aborted its beat: the next one takes the same input without it. */
export interface Aborted {
  readonly signal: Signal
  readonly key: string
  readonly outcome: Outcome
}

/** The mode of the space, and the enzymes of a signal: they decide which signals a beat takes. */
export interface TakeRules {
  readonly regime: Regime.Regime
  readonly resolve: (signal: Signal) => Resolution
}

/**
 * Where a beat's input comes from.
 *
 * @category models
 * @since 0.1.0
 */
export interface BeatInput {
  /** Steps 1 and 2. */
  readonly begin: (beat: number) => Begun
  /** Step 3: commands, which stay until the beat is committed. */
  readonly commands: () => ReadonlyArray<Queued>
  /** Step 3: what the space asks of itself: to boot when it is new, and how a rollback goes on. */
  readonly own: (regime: Regime.Regime) => ReadonlyArray<Queued>
  /** Steps 5 and 6: signals, in the order of the agenda. */
  readonly take: (start: Start, how: TakeRules) => ReadonlyArray<Taken>
  /** Step 5 for the timers of ledgers: those that are due. */
  readonly timers: (regime: Regime.Regime) => DueTimers
  /** Signals that a closed gate parked since the beat before, told once. */
  readonly parked: (regime: Regime.Regime) => ParkedNote | undefined
  /** What is over for so long that the beat lets go of it. */
  readonly retired: (start: Start, regime: Regime.Regime) => ReadonlyArray<Retired>
  readonly hears: Hears
  /** The outcome of a handling that is not to run, because how it ended is known. */
  readonly settled: (flight: Flight, key: string, again?: Again) => Outcome | undefined
  /** The beat was aborted: its input is taken again. */
  readonly putBack: (taken: ReadonlyArray<Taken>, begun: Begun, aborted: Aborted) => void
  readonly committed: () => void
}

const none: ReadonlyArray<never> = []
const nobody = (): void => {}

/**
 * The input of a live space.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveInput implements BeatInput {
  private readonly body: LiveBody
  private readonly expiry: ExpiryIndex
  /** The version of the registry that the newest beat worked with, and the one that this beat works with. */
  private known = 0
  private version = 0
  /** Whether a beat was committed since the space was opened, before which other modules may have been active. */
  private opened = false
  /** The rollback that is at work. */
  private undo: RollbackPlan | undefined
  /** Handlings that aborted this beat's input before. */
  private aborted: ReadonlyArray<Aborted> = []
  /** The timers that this beat captured. */
  private fired: ReadonlyArray<Timer> = []

  constructor(body: LiveBody) {
    this.body = body
    this.expiry = new ExpiryIndex(body)
  }

  begin(beat: number): Begun {
    const { documents, enzymes, host, ledgers, nodes, regime, seed, settings, states, store } = this.body
    enzymes.activate()
    this.version = enzymes.version + nodes.changes.length
    const activated = this.version - this.known
    return {
      beat,
      clock: Math.max(host.now(), store.head().clock),
      seed: seed(),
      tempo: settings.tempo,
      inputs: ledgers.capture(states, { limits: settings.limits, gated: regime.gated }),
      isolation: settings.isolation ?? "snapshot",
      activated,
      spent: this.body.derivation.spent,
      content: documents.capture(),
      labels: this.opened ? undefined : LabelCheck.change(settings.labels, documents),
      titled: this.opened && activated === 0 ? [] : Titles.activation(enzymes, documents, beat),
      ...this.opened && activated === 0 ? Modules.unchanged : Modules.activation({ enzymes, nodes }, documents)
    }
  }

  commands(): ReadonlyArray<Queued> {
    return this.body.inbox.nextCommands(this.body.settings.limits)
  }

  own(regime: Regime.Regime): ReadonlyArray<Queued> {
    const { documents, inbox, ledgers, settings, store } = this.body
    if (settings.boot && store.head().beat < 0) return [{ command: { kind: "steer", verb: "boot", to: undefined }, answer: nobody }]
    if (!Regime.isPlanning(regime)) {
      this.undo = undefined
      return none
    }
    if (inbox.hasDiscardable) return none
    const { oid, to } = regime.control!
    if (this.undo?.oid !== oid) this.undo = new RollbackPlan(oid, to!, ledgers.configured)
    const done = this.undo.advance(store, documents)
    return done === undefined ? none : [{ command: { kind: "cutover", ...done }, answer: nobody }]
  }

  take(start: Start, how: TakeRules): ReadonlyArray<Taken> {
    const { enzymes, inbox, settings } = this.body
    inbox.reconsider(enzymes.revision)
    return inbox.take(start, settings.limits, how)
  }

  timers(regime: Regime.Regime): DueTimers {
    const { inbox, settings: { limits } } = this.body
    const [due, met] = [inbox.nextDue(limits), inbox.nextMet(limits, regime)]
    this.fired = met.length === 0 ? due : [...due, ...met]
    if (due.length === 0 && met.length === 0) return noTimers
    // A cell that waits for several beats may have reached more than one of them.
    return { due: due.map(({ key }) => key), met: [...new Set(met.map(({ key }) => key))] }
  }

  parked({ gated }: Regime.Regime): ParkedNote | undefined {
    return gated ? this.body.parked.note : undefined
  }

  /** What is held stays as it stands. */
  retired(start: Start, { gated }: Regime.Regime): ReadonlyArray<Retired> {
    return gated ? [] : this.expiry.due(start)
  }

  hears(signal: string, _place: string, table: BindingTable): boolean {
    const { status } = this.body.enzymes.resolve(signal, undefined, table)
    return status === "match" || status === "held"
  }

  settled(flight: Flight, key: string, again?: Again): Outcome | undefined {
    const aborted = this.aborted.find((aborted) => aborted.signal === flight.signal && aborted.key === key)
    return aborted === undefined ? this.body.sentry?.settled(flight.signal.id, key, again) : aborted.outcome
  }

  putBack(taken: ReadonlyArray<Taken>, begun: Begun, aborted: Aborted): void {
    this.aborted = [...this.aborted, aborted]
    this.body.inbox.putBack(taken)
    for (const hash of begun.content) this.body.documents.arrive(hash)
  }

  committed(): void {
    this.known = this.version
    this.opened = true
    this.aborted = []
    // A ledger need not replace them: a timer that stayed would call for a beat after each beat.
    for (const timer of this.fired) timer.gone = true
  }
}
