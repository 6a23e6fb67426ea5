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
import type { Entry } from "../../registry/Registry.ts"
import * as Diagnostic from "../../diagnostic/Diagnostic.ts"
import type { Draft } from "../../stage/Draft.ts"
import type { BeatClock } from "../../stage/BeatClock.ts"
import type { Labels } from "../../stage/Labels.ts"
import type { BindingChange } from "../../stage/Launch.ts"
import { COMMIT, type Stage } from "../../stage/Stage.ts"
import type { Begun, Hears } from "../model/Begun.ts"
import type { Queued } from "../model/Command.ts"
import type { Captured, Flight, Handling, Outcome, Taken } from "../model/Flight.ts"
import type { Steps } from "../model/Foreign.ts"
import type { Retired, Sent } from "../model/Journal.ts"
import type { ParkedNote } from "../model/Parked.ts"
import type { Regime } from "../model/Regime.ts"
import * as Signal from "../model/Signal.ts"
import { type SpaceStopped, WriteRefused } from "../model/SpaceError.ts"
import { type DueTimers, LedgerBeats, type LedgerSpace, noTimers } from "./LedgerBeats.ts"

/** Who is to take a signal: an enzyme, or nobody where the outcome is settled already. */
export interface Assignment {
  readonly key: string
  readonly entry?: Entry | undefined
  readonly again?: Signal.Again | undefined
  readonly outcome?: Outcome | undefined
}

/** The bit of `asked` that says that something was timed by the tempo; those above it stand for the inputs of ledgers. */
export const TEMPO = 1

/** Tells whoever waits for a beat that it is durable, by its number, or that it never will be. */
export type BeatAnswer = (answer: number | SpaceStopped) => void

/** What a beat works with of its space. */
interface Around {
  readonly body: LedgerSpace & { readonly bindings: BindingTable; readonly regime: Regime }
  readonly intake: { readonly hears: Hears }
}

/**
 * The moment of a beat; a read of the tempo has it journaled. A class, as an object with a getter of its own costs the
 * engine a shape for each beat.
 */
class BeatMoment implements BeatClock {
  readonly beat: number
  readonly now: number
  readonly seed: string
  readonly hash: BeatClock["hash"]
  private readonly work: BeatWork

  constructor(work: BeatWork, hash: BeatClock["hash"]) {
    const { beat, clock, seed } = work.begun
    this.beat = beat
    this.now = clock
    this.seed = seed
    this.hash = hash
    this.work = work
  }

  get tempo(): number {
    this.work.asked |= TEMPO
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
  readonly moment: BeatClock
  readonly begun: Begun
  /** The commands that the beat saw. */
  commands: ReadonlyArray<Queued> = []
  /** What the space lets happen, from the capture on. */
  regime: Regime
  /** The parts of the beginning that something followed from, as bits: the journal keeps those. */
  asked = 0
  /** Whether something was fatal, so that the space shuts down. */
  falls = false
  /** The documents that a rollback took back. */
  readonly takenBack: Array<string> = []
  /** What was written under groups. */
  readonly steps: Steps = new Map()
  /** What the beat took from the inbox, to be put back where the beat is aborted. */
  taken: ReadonlyArray<Taken> = []
  /** Commands that were done, in order, each with its reply. */
  readonly done: Array<Queued & { readonly reply: unknown }> = []
  readonly captured: Array<Captured> = []
  /** The agenda: all runs of the beat, in order. */
  readonly runs: Array<Handling> = []
  readonly diagnostics: Array<Diagnostic.Diagnostic> = []
  /** The facts that have their cells. */
  readonly facts: Array<{ readonly fact: Diagnostic.Diagnostic; readonly place: Address }> = []
  /** The labels of the space, where it has any. */
  labels: Labels | undefined
  /** The signals that the beat itself sent, and how many of them no enzyme awaits. */
  readonly told: Array<Sent> = []
  unawaited = 0
  /** The signals that wait from this beat on. */
  readonly queued: Array<Signal.Pending> = []
  /** The transactions of nodes that a replay ran, by their lines. */
  readonly nodeDrafts: Array<Draft> = []
  /** The ledgers, as this beat drives them. */
  readonly ledgers: LedgerBeats
  /** The keys of timers that are due: of those that run while the space is paused, and of the others. */
  timers: DueTimers = noTimers
  /** Signals that a closed gate parked since the beat before. */
  parked: ParkedNote | undefined
  /** What is let go of, since it is over for long. */
  retired: ReadonlyArray<Retired> = []
  /** What was sent again from the dead letters. */
  readonly redelivered: Array<Signal.Pending> = []
  /** What is to be said once the beat is durable. */
  readonly answers: Array<BeatAnswer> = []
  /** The binding lists that this beat changed. */
  readonly bindings = new Map<string, ReadonlyArray<Binding>>()
  private readonly bound: BindingTable
  private readonly intake: Around["intake"]

  constructor(stage: Stage, begun: Begun, { body, intake }: Around) {
    this.stage = stage
    this.begun = begun
    this.moment = new BeatMoment(this, body.hash)
    this.bound = body.bindings
    this.regime = body.regime
    this.intake = intake
    this.ledgers = new LedgerBeats(this, body)
  }

  /** Whether an enzyme takes the signal that tells of the fact at a place. */
  hears(signal: string, place: string): boolean {
    return this.intake.hears(signal, place, this.table)
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
