/**
 * The input of a beat: all nondeterministic facts that it uses.
 *
 * A live space takes it from the host, the registry and the inbox; a replay from the journal. The results of a beat follow
 * from its input and from the state before it.
 *
 * @module
 */
import type { ResumeRules } from "../../inbox/Capture.ts"
import type { BindingTable } from "../../../registry/Bindings.ts"
import type { ByPlace, LedgerList } from "../../../ledger/LedgerList.ts"
import type { SpaceStore } from "../../../persistence/Persistence.ts"
import type { Enzymes, Resolution } from "../../../registry/Registry.ts"
import type { Modules as NodeModules } from "../../../scheduler/definition/Modules.ts"
import type { Timer } from "../../../stage/CellTimers.ts"
import * as Semantics from "../../../stage/Semantics.ts"
import type { Inbox } from "../../inbox/Inbox.ts"
import type { RunHost } from "../../watchdog/RunHost.ts"
import type { SpaceWatchdog } from "../../watchdog/SpaceWatchdog.ts"
import type { Documents } from "../../model/Documents.ts"
import type { Settings } from "../../model/Limits.ts"
import type { BeatStart, Hears, EffectTime, Start } from "../../model/BeatStart.ts"
import type { BeatTransaction } from "../BeatTransaction.ts"
import type { CommittedSignals, Schedules } from "../command/Schedules.ts"
import type { QueuedCommand } from "../../model/Command.ts"
import type { InFlight, Outcome, TakenSignal } from "../../model/InFlight.ts"
import type { ExpiredRecords } from "../../journal/RetiredLine.ts"
import * as ClockChange from "../command/ClockChange.ts"
import * as LabelCheck from "./LabelCheck.ts"
import * as LostBeats from "../../journal/LostBeats.ts"
import * as Modules from "../../model/Modules.ts"
import * as SpaceSchema from "../../model/SpaceSchema.ts"
import * as Titles from "../../model/Titles.ts"
import type { ParkedSignals, ParkedNote } from "../../model/ParkedSignals.ts"
import * as SpaceMode from "../../model/SpaceMode.ts"
import { ExpiryIndex } from "./Expiry.ts"
import type { Arrived } from "../../model/Arrived.ts"
import { type DueTimers, noTimers } from "../LedgerBeats.ts"
import type { Again, Heard, Signal } from "../../model/Signal.ts"
import { RollbackPlan } from "../command/RollbackPlan.ts"

/** A handling that aborted its beat. The next beat takes the same input and does not run the handling. */
export interface Aborted {
  readonly signal: Signal
  readonly key: string
  readonly outcome: Outcome
}

/** The rules by which a beat takes signals: the mode of the space, and the enzymes of a signal. */
export interface TakeRules {
  readonly mode: SpaceMode.SpaceMode
  readonly resolve: (signal: Signal) => Resolution
}

/** The rules by which a beat deletes finished records: the mode and the clock of the space, after the commands of the beat. */
export type ExpiryRules = Pick<BeatTransaction, "clock" | "mode">

/**
 * The source of the input of beats.
 */
export interface BeatInput {
  /** Steps 1 and 2. */
  readonly begin: (beat: number) => BeatStart
  /** Step 3: commands from outside. They stay queued until the beat is committed. */
  readonly commands: () => ReadonlyArray<QueuedCommand>
  /**
   * Step 3: commands of the space itself: a note of lost beats, one of its clock, the boot of a new space, the cutover of a
   * planned rollback, and its schedules.
   */
  readonly own: (mode: SpaceMode.SpaceMode, start: Start) => ReadonlyArray<QueuedCommand>
  /** Steps 5 and 6: signals, in the order of the agenda. */
  readonly take: (start: Start, how: TakeRules) => ReadonlyArray<TakenSignal>
  /** Step 5: the due timers of ledgers. */
  readonly timers: (mode: SpaceMode.SpaceMode) => DueTimers
  /** The signals parked by a pause since the previous beat, reported once. */
  readonly parked: (mode: SpaceMode.SpaceMode) => ParkedNote | undefined
  /** The finished records that the beat deletes. */
  readonly retired: (start: Start, how: ExpiryRules) => ReadonlyArray<ExpiredRecords>
  /** Step 4: the durable runs that hear a captured signal. `countOf` tells how many signals of a pair a run has heard. */
  readonly hearers: (flight: InFlight, countOf: (oid: string, pair: number) => number) => ReadonlyArray<Heard>
  /** Step 4: takes the next segment of a durable run that waits, by its operation. */
  readonly resume: (oid: string, how: ResumeRules) => ReadonlyArray<TakenSignal>
  readonly hears: Hears
  /** The known outcome of a handling, which is not run again; `undefined` if it has to run. */
  readonly settled: (flight: InFlight, key: string, again?: Again) => Outcome | undefined
  /** Returns the input of an aborted beat to the queues. */
  readonly putBack: (taken: ReadonlyArray<TakenSignal>, begun: BeatStart, aborted: Aborted) => void
  /** The beat is committed. */
  readonly committed: (beat: CommittedSignals) => void
}

/** The state of a space from which its beats take their input. */
export interface InputSpace extends ClockChange.ClockSpace {
  /** The source of an imported space, before its first beat. */
  readonly arrived: Arrived | undefined
  readonly derivation: { readonly spent: ReadonlyArray<EffectTime> }
  readonly documents: Documents
  readonly enzymes: Enzymes
  readonly hash: (data: string | Uint8Array) => string
  readonly host: Pick<RunHost, "now">
  readonly inbox: Inbox
  readonly ledgers: LedgerList
  readonly lostBeats: LostBeats.LostBeats
  readonly mode: SpaceMode.SpaceMode
  /** Draws the number of a queued signal. */
  readonly number: () => number
  readonly nodes: NodeModules
  readonly parked: ParkedSignals
  readonly schedules: Schedules
  /** Draws the seed of a beat. */
  readonly seed: () => string
  readonly watchdog?: Pick<SpaceWatchdog, "outcomeOf"> | undefined
  readonly settings: Settings
  readonly space: string
  readonly states: ByPlace
  readonly store: SpaceStore
}

/** Counts of the changes of enzymes and of nodes. */
interface Versions {
  readonly enzymes: number
  readonly nodes: number
}

const none: ReadonlyArray<never> = []
const ignored = (): void => {}

/**
 * The input of a live space.
 */
export class LiveInput implements BeatInput {
  readonly resume: BeatInput["resume"]
  private readonly state: InputSpace
  private readonly expiry: ExpiryIndex
  /** The versions of the enzymes and of the nodes in the newest committed beat and in the current one. */
  private known: Versions = { enzymes: 0, nodes: 0 }
  private version = this.known
  /** Whether a beat was committed since the space was opened. Before that, the active modules are unknown. */
  private opened = false
  /** The rollback in progress. */
  private undo: RollbackPlan | undefined
  /** The handlings that aborted earlier attempts of this beat. */
  private aborted: ReadonlyArray<Aborted> = []
  /** The timers that this beat captured. */
  private fired: ReadonlyArray<Timer> = []

  constructor(state: InputSpace) {
    this.state = state
    this.resume = state.inbox.capture.run
    this.expiry = new ExpiryIndex(state)
  }

  begin(beat: number): BeatStart {
    const { documents, enzymes, host, ledgers, liveClock, nodes, mode, seed, settings, states } = this.state
    enzymes.activate()
    const { known, opened } = this
    const version = this.version = { enzymes: enzymes.version, nodes: nodes.changes.length }
    const changed = {
      enzymes: opened && version.enzymes === known.enzymes ? undefined : enzymes,
      nodes: opened && version.nodes === known.nodes ? undefined : nodes
    }
    return {
      beat,
      semantics: Semantics.NEWEST,
      clock: Math.max(host.now(), liveClock.newest),
      seed: seed(),
      tempo: settings.tempo,
      inputs: ledgers.capture(states, { limits: settings.limits, gated: mode.gated }),
      isolation: settings.isolation ?? "snapshot",
      activated: version.enzymes + version.nodes - known.enzymes - known.nodes,
      spent: this.state.derivation.spent,
      content: documents.capture(),
      labels: this.opened ? undefined : LabelCheck.change(settings.labels, documents),
      titled: this.titled(changed, beat),
      ...changed.enzymes === undefined && changed.nodes === undefined ? Modules.noChange : Modules.activation(changed, documents)
    }
  }

  /** The titles of enzymes and the schema of the space, as far as they change with the modules. */
  private titled(changed: { readonly enzymes: unknown; readonly nodes: unknown }, beat: number): ReadonlyArray<Titles.TitleCell> {
    if (changed.enzymes === undefined && changed.nodes === undefined) return none
    const { documents, enzymes, hash } = this.state
    const titles = changed.enzymes === undefined ? none : Titles.activation(enzymes, documents, beat)
    return [...titles, ...SpaceSchema.activation(this.state, documents, hash)]
  }

  commands(): ReadonlyArray<QueuedCommand> {
    return this.state.inbox.commands.next(this.state.settings.limits)
  }

  own(mode: SpaceMode.SpaceMode, { clock }: Start): ReadonlyArray<QueuedCommand> {
    const lost = this.opened ? undefined : this.lost()
    const noted = ClockChange.changeAt(this.state, clock)
    const steering = this.steering(mode)
    const scheduled = this.state.schedules.commands(this.state, clock)
    const arrival = this.arrival()
    if (arrival !== undefined) return [arrival, lost, noted, ...steering, ...scheduled].filter((queued) => queued !== undefined)
    if (lost === undefined && noted === undefined && scheduled.length === 0) return steering
    return [lost, noted, ...steering, ...scheduled].filter((queued) => queued !== undefined)
  }

  /** The arrival of an imported space, which comes before all else. */
  private arrival(): QueuedCommand | undefined {
    const { arrived, number, seed, store } = this.state
    if (arrived === undefined || arrived.beat !== store.head().beat) return undefined
    const { absent, ...source } = arrived
    return { command: { kind: "arrive", born: seed(), detached: { ...source, last: number() }, absent }, answer: ignored }
  }

  private lost(): QueuedCommand | undefined {
    const { lostBeats, space, store } = this.state
    return LostBeats.note({ lost: lostBeats, space, store })
  }

  /** The boot of a new space, and the cutover of a planned rollback. */
  private steering(mode: SpaceMode.SpaceMode): ReadonlyArray<QueuedCommand> {
    const { documents, inbox, ledgers, settings, store } = this.state
    if (settings.boot && store.head().beat < 0) {
      return [{ command: { kind: "steer", verb: "boot", to: undefined, born: this.state.seed() }, answer: ignored }]
    }
    const { control } = mode
    if (control === undefined || !SpaceMode.isPlanning(mode)) {
      this.undo = undefined
      return none
    }
    if (inbox.discards.hasPending) return none
    const { oid, to } = control
    if (this.undo?.oid !== oid) this.undo = new RollbackPlan(oid, to!, ledgers)
    const done = this.undo.advance(store, documents)
    return done === undefined ? none : [{ command: { kind: "cutover", ...done }, answer: ignored }]
  }

  take(start: Start, how: TakeRules): ReadonlyArray<TakenSignal> {
    const { enzymes, inbox, settings } = this.state
    inbox.reconsider(enzymes.revision)
    return inbox.capture.take(start, settings.limits, how)
  }

  hearers({ signal }: InFlight, countOf: (oid: string, pair: number) => number): ReadonlyArray<Heard> {
    return this.state.inbox.runs.hearersOf(signal, countOf)
  }

  timers(mode: SpaceMode.SpaceMode): DueTimers {
    const { inbox, settings: { limits } } = this.state
    const [urgent, normal] = [inbox.due.nextUrgent(limits), inbox.due.nextNormal(limits, mode)]
    this.fired = normal.length === 0 ? urgent : [...urgent, ...normal]
    if (urgent.length === 0 && normal.length === 0) return noTimers
    // A cell may have several due timers.
    return { due: urgent.map(({ key }) => key), met: [...new Set(normal.map(({ key }) => key))] }
  }

  parked({ gated }: SpaceMode.SpaceMode): ParkedNote | undefined {
    return gated ? this.state.parked.note : undefined
  }

  /** The records to delete; none while the space is paused. */
  retired(start: Start, { clock, mode: { gated } }: ExpiryRules): ReadonlyArray<ExpiredRecords> {
    return gated ? [] : this.expiry.due(start, clock)
  }

  hears(signal: string, _place: string, table: BindingTable): boolean {
    const { status } = this.state.enzymes.resolve(signal, undefined, table)
    return status === "match" || status === "held"
  }

  settled(flight: InFlight, key: string, again?: Again): Outcome | undefined {
    const aborted = this.aborted.find((aborted) => aborted.signal === flight.signal && aborted.key === key)
    return aborted === undefined ? this.state.watchdog?.outcomeOf(flight.signal.id, key, again) : aborted.outcome
  }

  putBack(taken: ReadonlyArray<TakenSignal>, begun: BeatStart, aborted: Aborted): void {
    this.aborted = [...this.aborted, aborted]
    this.state.inbox.capture.putBack(taken)
    for (const hash of begun.content) this.state.documents.arrive(hash)
  }

  committed(beat: CommittedSignals): void {
    this.state.schedules.committed(beat)
    this.known = this.version
    this.opened = true
    this.aborted = []
    // Fired timers are removed even if no ledger replaces them; a remaining one would trigger a beat after each beat.
    for (const timer of this.fired) timer.gone = true
  }
}
