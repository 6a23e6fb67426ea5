/**
 * The work of one beat, from its capture to its commit.
 *
 * @module
 */
import type { Binding, BindingTable } from "../../registry/Bindings.ts"
import type { Address } from "../../cell/Address.ts"
import * as Document from "../../cell/Document.ts"
import * as Label from "../../cell/Label.ts"
import * as Bindings from "../../registry/Bindings.ts"
import type { Isolation } from "../../registry/Enzyme.ts"
import type { Entry } from "../../registry/Registry.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import { Advance, type Advanced } from "../../operation/Advance.ts"
import type { Watches } from "../../operation/Watches.ts"
import type { Draft } from "../../stage/Draft.ts"
import type { Moment } from "../../stage/Moment.ts"
import type { Labels } from "../../stage/Labels.ts"
import type { BindingChange } from "../../stage/Launch.ts"
import { COMMIT, type Stage } from "../../stage/Stage.ts"
import type { Answer, Control } from "./Control.ts"
import type { Captured, Flight, Handling, Outcome, Taken } from "./Flight.ts"
import type { Steps } from "./Foreign.ts"
import type { Retired, Sent, Spent } from "./Journal.ts"
import type { Activation } from "./Modules.ts"
import type { ParkedNote } from "./Parked.ts"
import type { Regime } from "./Regime.ts"
import * as Signal from "./Signal.ts"
import { WriteRefused } from "./SpaceError.ts"
import type { Titled } from "./Titles.ts"

/** The start of a beat: its number and its captured clock. */
export interface Start {
  readonly beat: number
  readonly clock: number
}

/** Rules that become active with a beat: their document, or none where there are none any more. */
export interface LabelChange {
  readonly document: Document.Document | undefined
}

/** What a beat begins with. */
export interface Begun extends Start, Activation {
  /** 32 hexadecimal digits. */
  readonly seed: string
  /** Milliseconds that a beat is meant to take. */
  readonly tempo: number
  /** The limit on instances of flows; in a replay, where one was refused for it. */
  readonly full: number | undefined
  /** The isolation of enzymes that do not say. */
  readonly isolation: Isolation
  /** How long runs of effects took in the beat before, where that was a millisecond or more. */
  readonly spent: ReadonlyArray<Spent>
  /** How many registrations and withdrawals took effect since the beat before. */
  readonly activated: number
  /** Content that runs can see for the first time. */
  readonly content: ReadonlyArray<string>
  /** The titles of enzymes in ledgers from this beat on, where they change. */
  readonly titled: ReadonlyArray<Titled>
  /** Rules on labels that become active. */
  readonly labels?: LabelChange | undefined
}

/** Who is to take a signal: an enzyme, or nobody where the outcome is settled already. */
export interface Assignment {
  readonly key: string
  readonly entry?: Entry | undefined
  readonly again?: Signal.Again | undefined
  readonly outcome?: Outcome | undefined
}

/** Whether an enzyme takes the signal that tells of the fact at a place. */
export type Hears = (signal: string, place: string, table: BindingTable) => boolean

/** What a journal has of the beginning of a beat only where something came of it: the tempo by which something was timed, and the limit by which an instance of a flow was refused. */
export interface Asked {
  readonly tempo: boolean
  readonly full: boolean
}

const nothing: Asked = { tempo: false, full: false }

/** What a beat works with of its space. */
interface Around {
  readonly bound: BindingTable
  readonly watches: Watches
  readonly regime: Regime
  readonly hash: Moment["hash"]
  readonly intake: { readonly hears: Hears }
}

/** What a beat gives to its runs; whoever asks for the tempo has it journaled. A class, as an object with a getter of its own costs the engine a shape for each beat. */
class BeatMoment implements Moment {
  readonly beat: number
  readonly now: number
  readonly seed: string
  readonly hash: Moment["hash"]
  private readonly work: BeatWork

  constructor(work: BeatWork, hash: Moment["hash"]) {
    const { beat, clock, seed } = work.begun
    this.beat = beat
    this.now = clock
    this.seed = seed
    this.hash = hash
    this.work = work
  }

  get tempo(): number {
    if (!this.work.asked.tempo) this.work.asked = { ...this.work.asked, tempo: true }
    return this.work.begun.tempo
  }
}

/** A cell's list with changes that are not kept yet. */
interface List {
  readonly cell: string
  readonly bindings: ReadonlyArray<Binding>
  readonly address: Address
  readonly document: Document.Document
  /** Characters that it adds to the journal. */
  readonly size: number
}

/**
 * What a beat gathers while it runs.
 *
 * @category models
 * @since 0.1.0
 */
export class BeatWork {
  readonly stage: Stage
  readonly moment: Moment
  readonly begun: Begun
  /** The control input that the beat saw. */
  controls: ReadonlyArray<Control> = []
  /** What the space lets happen, from the capture on. */
  regime: Regime
  /** What was asked of the beginning of the beat, which is journaled then. */
  asked: Asked = nothing
  /** How many instances of flows were started by the capture and by so many of the first runs; -1 while the capture is not counted. */
  readonly started = { runs: -1, instances: 0 }
  /** Whether something was fatal, so that the space shuts down. */
  falls = false
  /** The documents that a rollback took back. */
  readonly takenBack: Array<string> = []
  /** What was written under groups. */
  readonly steps: Steps = new Map()
  /** What the beat took from the inbox, to be put back where the beat is aborted. */
  taken: ReadonlyArray<Taken> = []
  /** Control input that was done, in order. */
  readonly done: Array<Control> = []
  readonly captured: Array<Captured> = []
  /** The agenda: all runs of the beat, in order. */
  readonly runs: Array<Handling> = []
  readonly diagnostics: Array<Diagnostic.Diagnostic> = []
  /** The facts that have their cells. */
  readonly facts: Array<{ readonly fact: Diagnostic.Diagnostic; readonly place: Address }> = []
  /** The labels of the space, where it has any. */
  labels: Labels | undefined
  /** What the beat itself sent, but to those who await operations. */
  readonly told: Array<Sent> = []
  /** The transactions of nodes that a replay ran, by their lines. */
  readonly nodeDrafts: Array<Draft> = []
  /** The watchers of operations whose time is over, each by its operation and number. */
  due: ReadonlyArray<readonly [oid: string, number: number]> = []
  /** The keys of the cells of rendezvous and flows whose time has come. */
  met: ReadonlyArray<string> = []
  /** Signals that a closed gate parked since the beat before. */
  parked: ParkedNote | undefined
  /** What is let go of, since it is over for long. */
  retired: ReadonlyArray<Retired> = []
  /** The events of the rendezvous that were completed, by their cells. */
  readonly completions: Array<readonly [cell: string, event: Document.Document]> = []
  /** What became of operations, once all runs are merged. */
  advanced: Advanced | undefined
  /** What was sent again from the dead letters. */
  readonly redelivered: Array<Signal.Pending> = []
  /** What is to be said once the beat is durable. */
  readonly answers: Array<Answer> = []
  /** The binding lists that this beat changed. */
  readonly bindings = new Map<string, ReadonlyArray<Binding>>()
  private readonly bound: BindingTable
  private readonly watches: Watches
  private readonly intake: Around["intake"]
  private advance: Advance | undefined

  constructor(stage: Stage, begun: Begun, { bound, hash, intake, regime, watches }: Around) {
    this.stage = stage
    this.begun = begun
    this.moment = new BeatMoment(this, hash)
    this.bound = bound
    this.watches = watches
    this.regime = regime
    this.intake = intake
  }

  /** Whether an enzyme takes the signal that tells of the fact at a place. */
  hears(signal: string, place: string): boolean {
    return this.intake.hears(signal, place, this.table)
  }

  /** What the beat makes of operations, from the first that is asked of them. */
  get operations(): Advance {
    return this.advance ??= new Advance(this.stage, this.moment, this.watches)
  }

  /** Whether the beat has anything to do with operations. */
  get operates(): boolean {
    return this.advance !== undefined || this.due.length > 0
  }

  /** The bindings as this beat sees them. */
  get table(): BindingTable {
    return this.bindings.size === 0 ? this.bound : { get: (cell) => this.bindings.get(cell) ?? this.bound.get(cell) }
  }

  /** Puts a binding or a tombstone from outside into its cell's list; answers why not, where the cell is full. */
  bind(change: BindingChange, writer: number): WriteRefused | undefined {
    const lists = this.lists([change])
    if (typeof lists === "string") return new WriteRefused({ address: change.cell, reason: lists })
    this.keep(lists, writer)
    return undefined
  }

  /** The lists that these changes make, or why one of them is refused. */
  lists(changes: ReadonlyArray<BindingChange>): ReadonlyArray<List> | string {
    const made = new Map<string, ReadonlyArray<Binding>>()
    for (const change of changes) {
      const list = made.get(change.cell) ?? this.table.get(change.cell) ?? []
      const refusal = Bindings.refusal(list, change)
      if (refusal !== undefined) return refusal
      made.set(change.cell, Bindings.put(list, change, this.moment.beat))
    }
    return [...made].map(([cell, bindings]) => {
      const address = Bindings.address(cell)
      const document = Document.encode(bindings)
      const before = this.stage.committed.read(address.key)
      return { cell, bindings, address, document, size: address.key.length + (before?.text.length ?? 0) + document.text.length }
    })
  }

  /** Keeps lists for the beats that follow. */
  keep(lists: ReadonlyArray<List>, writer: number): void {
    for (const { address, bindings, cell, document } of lists) {
      this.bindings.set(cell, bindings)
      this.stage.put(address, document, writer)
    }
  }

  /** Tells of a fact that went wrong, in a cell of its own. */
  diagnose(fact: Diagnostic.Diagnostic): void {
    const place = Diagnostic.address(this.moment.beat, this.facts.length)
    this.facts.push({ fact, place })
    this.stage.put(place, Diagnostic.toDocument(fact, this.moment, place), COMMIT)
    if (fact.payload !== undefined) this.stage.put(Diagnostic.payloadOf(place), fact.payload, COMMIT)
  }

  /** Puts a list in the place of a cell's; an empty one takes it away. */
  put(cell: string, bindings: ReadonlyArray<Binding>, writer: number): void {
    this.bindings.set(cell, bindings)
    this.stage.put(Bindings.address(cell), bindings.length === 0 ? undefined : Document.encode(bindings), writer)
  }

  /** Puts a run on the agenda. */
  assign(flight: Flight, { again, entry, key, outcome }: Assignment): Handling {
    const told = Signal.toldBy({ again, signal: flight.signal })
    const handling: Handling = {
      flight,
      key,
      entry,
      attempt: again?.attempt ?? 1,
      why: again?.why,
      losses: again?.losses ?? 0,
      timeouts: again?.timeouts ?? 0,
      headOf: again?.document,
      beat: this.moment.beat,
      run: this.runs.length,
      draft: undefined,
      outcome,
      label: outcome !== undefined && outcome.kind !== "ok" && outcome.kind !== "conflict" ? Label.join(told, outcome.label ?? Label.none) : told
    }
    this.runs.push(handling)
    return handling
  }
}
