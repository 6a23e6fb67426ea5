/**
 * The ledgers of a space within one beat.
 *
 * The beat calls its ledgers in the order of the list, and names none. An idle ledger costs no object and no call: a
 * ledger is active if a document of the beat lies in its folders, which is one bit, or if it got a timer, an input, a
 * command or a launch.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import * as Label from "../../cell/Label.ts"
import type { Value } from "../../cell/Value.ts"
import type { ChangedRecords } from "../model/Command.ts"
import type { Diagnostic } from "../../diagnostic/Diagnostic.ts"
import type { Attention, HandledEvent, Launcher, Ledger, LedgerBeat, LedgerSignal } from "../../ledger/Ledger.ts"
import { CellLocked, type Refusal } from "../../ledger/LedgerError.ts"
import type { ByPlace, LedgerList, Placed } from "../../ledger/LedgerList.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { Enzyme } from "../../registry/Enzyme.ts"
import type { Enzymes } from "../../registry/Registry.ts"
import type { TimerChange } from "../../stage/CellTimers.ts"
import type { Caller, Faces } from "../../stage/RunGrant.ts"
import { Draft } from "../../stage/Draft.ts"
import * as Envelope from "../../stage/Envelope.ts"
import { NotProvided } from "../../stage/Launch.ts"
import type { Launches } from "../../stage/Launches.ts"
import type { BeatClock, View } from "../../stage/BeatClock.ts"
import { COMMIT, type Stage } from "../../stage/Stage.ts"
import type { Inbox } from "../inbox/Inbox.ts"
import type { BeatStart } from "../model/BeatStart.ts"
import * as SliceTable from "../../ledger/SliceTable.ts"
import { type Handling, isMerged } from "../model/InFlight.ts"
import { lockOver, origin } from "../model/SpaceMode.ts"
import * as Signal from "../model/Signal.ts"
import * as Awaited from "../model/Awaited.ts"
import type { BeatTransaction } from "./BeatTransaction.ts"

/** The keys of due timers: urgent ones, which also fire while the space is paused, and the others. */
export interface DueTimers {
  readonly due: ReadonlyArray<string>
  readonly met: ReadonlyArray<string>
}

const noKeys: ReadonlyArray<string> = []

export const noTimers: DueTimers = { due: noKeys, met: noKeys }

/** The parts of a space that its ledgers need. */
export interface LedgerSpace {
  readonly space: string
  readonly store: Pick<SpaceStore, "head">
  readonly inbox: Pick<Inbox, "waits">
  readonly enzymes: Pick<Enzymes, "resolve">
  readonly ledgers: LedgerList
  /** The states of the ledgers, by their places in the list. */
  readonly states: ByPlace
  readonly hash: (data: string | Uint8Array) => string
  /** Draws the next queue number, for a signal or a timer. */
  readonly number: () => number
}

/** The captured parts of a beat that its ledgers need. */
export interface LedgerInput {
  readonly begun: Pick<BeatStart, "seed" | "inputs">
  /** All runs of the beat, in the order of the agenda; empty until it is arranged. */
  readonly runs: ReadonlyArray<Handling>
}

/** The work of one ledger that a rollback takes back: its place in the dossier, and its lines. */
export interface TakenBack {
  readonly listed: readonly [cell: string, field: string]
  readonly lines: ReadonlyArray<Value>
}

/** The output of a ledger for its live half, by its place in the list. */
export type Output = readonly [place: number, output: unknown]

/** The envelope of a draft at the commit, which writes through ledgers only. */
const nothing = Envelope.make([], false)

/**
 * The ledgers of one beat.
 */
export class LedgerBeats implements Faces<Draft> {
  readonly transaction: BeatTransaction
  readonly captured: LedgerInput
  readonly space: LedgerSpace
  /** The active ledgers, by their places; `undefined` before the first. */
  private beats: Array<OneLedgerBeat | undefined> | undefined

  constructor(transaction: BeatTransaction, captured: LedgerInput, space: LedgerSpace) {
    this.transaction = transaction
    this.captured = captured
    this.space = space
  }

  /** The beat of a ledger. */
  of(placed: Placed): OneLedgerBeat {
    const beats = this.beats ??= []
    return beats[placed.place] ??= new OneLedgerBeat(this, placed)
  }

  /** The beat of an active ledger: it was called before, or a document of the beat lies in its folders. */
  private active(placed: Placed): OneLedgerBeat | undefined {
    return (this.transaction.stage.touched & 1 << placed.place) === 0 ? this.beats?.[placed.place] : this.of(placed)
  }

  private get isQuiet(): boolean {
    return this.beats === undefined && this.transaction.stage.touched === 0
  }

  /** Step 5: routes the due timers and the inputs, and calls `atCapture` of each active ledger. */
  capture({ due, met }: DueTimers): void {
    const { ledgers } = this.space
    for (const key of due) this.wake(key)
    for (const key of met) this.wake(key)
    for (const { isTaken, place } of ledgers.inputs) {
      const input = this.captured.begun.inputs[place]
      const placed = input !== undefined && isTaken(input) ? ledgers.all[place] : undefined
      if (placed !== undefined) this.of(placed)
    }
    if (this.isQuiet) return
    for (const placed of ledgers.all) {
      const beat = this.active(placed)
      if (beat !== undefined) placed.ledger.atCapture?.(beat)
    }
  }

  private wake(timer: string): void {
    const owner = this.space.ledgers.owner(timer)
    if (owner !== undefined) this.of(owner).due.push(timer)
  }

  face(name: string, draft: Draft, caller: Caller): unknown {
    const placed = this.space.ledgers.named(name)
    if (placed === undefined) {
      const slice = SliceTable.ofLedger(name)
      throw slice === undefined ? new NotProvided({ verb: `tx.${name}`, service: "Ledger" }) : new SliceTable.SliceAbsent({ slice })
    }
    return placed.ledger.transaction(draft, caller, this.of(placed))
  }

  /** The refusal of a command whose launches exceed a limit of their ledger. */
  refusal(draft: Draft): Refusal | undefined {
    if (draft.launches.length === 0) return undefined
    for (const placed of this.space.ledgers.all) {
      const refused = placed.ledger.admits?.(draft, this.of(placed))
      if (refused !== undefined) return refused
    }
    return undefined
  }

  /** Passes the launches of a transaction to their ledgers, after its writes were merged. */
  merge({ launches }: Draft, by: Launcher): void {
    if (launches.length === 0) return
    for (const placed of this.space.ledgers.all) {
      const own = launches.filter(({ ledger }) => ledger === placed.ledger.name).map(({ launch }) => launch)
      if (own.length > 0) placed.ledger.merge?.(own, by, this.of(placed))
    }
  }

  /** Whether no ledger has work in progress outside the beat. */
  get isResting(): boolean {
    const { ledgers, states } = this.space
    return ledgers.isResting(states)
  }

  /** Ends the work in progress of all ledgers. */
  abandon(): void {
    for (const placed of this.space.ledgers.all) placed.ledger.quiescence?.abandon(this.of(placed))
  }

  /** Ends the work that waits to leave the space, at the release of one that arrived with a beat. */
  drop(since: number): void {
    for (const placed of this.space.ledgers.all) placed.ledger.outward?.drop(this.of(placed), since)
  }

  /** Ends the work that a rollback takes back. Returns the lists for its dossier. */
  takeBack(changed: ChangedRecords, to: number): ReadonlyArray<TakenBack> {
    return this.space.ledgers.rolledBack.map(({ placed, rule }) =>
      ({ listed: rule.listed, lines: rule.takeBack(this.of(placed), changed[placed.ledger.name] ?? none, to) }))
  }

  /** Step 10: calls `atCommit` of each active ledger, and has the runs noted that go on. */
  commit(): void {
    const { space: { ledgers }, transaction: { resumed, stage } } = this
    if (!this.isQuiet) {
      for (const placed of ledgers.all) {
        const beat = this.active(placed)
        if (beat !== undefined) placed.ledger.atCommit(beat)
      }
    }
    if (resumed.length > 0) ledgers.resumption?.rule.atEnd(stage, resumed)
  }

  /** Called when the beat is in the store: updates the ledgers. Returns the outputs for their live halves. */
  committed(): ReadonlyArray<Output> {
    const { ledgers, states } = this.space
    const { inputs } = this.captured.begun
    for (const { place, rule } of ledgers.inputs) if (inputs[place] !== undefined) rule.drop(states[place], inputs[place])
    if (this.isQuiet) return none
    const outputs: Array<Output> = []
    for (const placed of ledgers.all) {
      const beat = this.active(placed)
      const output = beat === undefined ? undefined : placed.ledger.committed(beat)
      if (output !== undefined) outputs.push([placed.place, output])
    }
    return outputs
  }

  /** The captured inputs that the beat used, as JSON text, by their fields. */
  inputs(): ReadonlyArray<readonly [field: string, text: string]> {
    const { captured: { begun: { inputs } }, transaction } = this
    if (!transaction.usesInput) return none
    return this.space.ledgers.inputs.flatMap(({ place, rule }) =>
      !transaction.isUsed(place) ? [] : [[rule.field, rule.encode(inputs[place])] as const])
  }

  /** The urgent timers, as their ledger encodes them. */
  dueLines({ due }: DueTimers): ReadonlyArray<unknown> {
    return due.length === 0 ? none : due.map((key) => this.space.ledgers.urgentTimers?.encode(key))
  }

  /** Writes to ledgers at the commit, on top of the merged runs. */
  amend(change: (draft: Draft) => void): void {
    const { moment, stage } = this.transaction
    const newest: View = {
      committed: stage.committed,
      visible: (key) => stage.newest(key),
      children: (scope, id) => stage.merged(scope, id)
    }
    const draft = new Draft(newest, moment, { run: COMMIT, envelope: nothing, serializable: false })
    change(draft)
    const { own } = draft
    own?.keys.forEach((key, i) => stage.put(Address.ofValidKey(key), own.documents[i], COMMIT))
    this.merge(draft, { run: COMMIT, depth: 0 })
  }
}

const none: ReadonlyArray<never> = []

/** A beat, as one of its ledgers sees it. */
class OneLedgerBeat implements LedgerBeat {
  readonly stage: Stage
  readonly moment: BeatClock
  readonly state: unknown
  readonly due: Array<string> = []
  work: unknown
  private readonly ledger: Ledger
  private readonly place: number
  private readonly ledgers: LedgerBeats
  /** The number of signals that the ledger sent. */
  private sent = 0

  constructor(ledgers: LedgerBeats, { ledger, place }: Placed) {
    this.ledgers = ledgers
    this.place = place
    this.ledger = ledger
    this.state = ledgers.space.states[place]
    this.stage = ledgers.transaction.stage
    this.moment = ledgers.transaction.moment
  }

  get origin(): string {
    return origin(this.ledgers.transaction.mode, this.ledgers.space.space)
  }

  get input(): unknown {
    return this.ledgers.captured.begun.inputs[this.place]
  }

  useInput(): void {
    this.ledgers.transaction.useInput(this.place)
  }

  hash(text: string): string {
    return this.ledgers.space.hash(text)
  }

  secret(purpose: string): string {
    const { hash, space, store } = this.ledgers.space
    // The digest of the previous entry and the seed: the journal has them, and no run sees them.
    return hash(`${store.head().hash} ${this.ledgers.captured.begun.seed} ${space} ${purpose}`)
  }

  tells(from: string, to: string): boolean {
    const { labels } = this.ledgers.transaction
    return labels === undefined || Label.isWithin(labels.of(Address.ofKey(from)), labels.of(Address.ofKey(to)))
  }

  checkLock(cell: string): void {
    const lock = lockOver(this.ledgers.transaction.mode, cell)
    if (lock !== undefined) throw new CellLocked({ address: cell, lock })
  }

  hears(signal: string, target: string, awaiting?: string): boolean {
    const { space: { enzymes }, transaction: { bindings: { table } } } = this.ledgers
    const bindings = awaiting === undefined ? table : Awaited.tableWith(table, target, awaiting)
    return enzymes.resolve(signal, target, bindings).status === "match"
  }

  takers(signal: string, target: string): ReadonlyArray<Enzyme> {
    const { space: { enzymes }, transaction: { bindings: { table } } } = this.ledgers
    return enzymes.resolve(signal, target, table).entries.map(({ enzyme }) => enzyme)
  }

  eventOf(run: number): HandledEvent | undefined {
    return this.ledgers.captured.runs[run]?.flight.signal
  }

  draftOf(run: number): Draft | undefined {
    const handling = this.ledgers.captured.runs[run]
    return handling?.outcome !== undefined && isMerged(handling.outcome) ? handling.draft : undefined
  }

  resume(oid: string, rid?: string): void {
    const { space: { ledgers: { resumption }, states }, transaction } = this.ledgers
    transaction.resumed.push(oid)
    if (rid !== undefined) resumption?.rule.resumed(states[resumption.place], oid, rid)
  }

  send({ awaits, depth = 0, payload, signal, target }: LedgerSignal): void {
    const { moment: { beat } } = this
    const { space, transaction: { labels }, transaction } = this.ledgers
    const sent = { id: `${beat}.${this.ledger.name}.${this.sent++}`, signal, target, payload }
    const label = labels === undefined ? undefined : Signal.labelOrNone(labels.of(Address.ofKey(target)))
    const waiting = Signal.make({ ...sent, at: undefined }, { origin: "run", depth, expected: beat + 1, to: undefined, awaits, label })
    transaction.send({ ...sent, enzyme: awaits }, new Signal.PendingSignal(space.number(), waiting))
  }

  bind({ awaits, cell, enzyme }: Attention): void {
    const { bindings } = this.ledgers.transaction
    bindings.put(cell, Awaited.listOf(bindings.get(cell), { awaits, beat: this.moment.beat, enzyme }), COMMIT)
  }

  diagnose(fact: Diagnostic): void {
    this.ledgers.transaction.diagnostics.push(fact)
  }

  amend(change: (draft: Draft) => void): void {
    this.ledgers.amend(change)
  }

  launch<Name extends keyof Launches>(name: Name, launch: Launches[Name]): void {
    const owner = this.ledgers.space.ledgers.named(name)
    if (owner?.ledger.merge === undefined) throw new Error(`ledger ${this.ledger.name} launches to "${name}", which takes no launches`)
    owner.ledger.merge([launch], { run: COMMIT, depth: 0 }, this.ledgers.of(owner))
  }

  reschedule(change: TimerChange): void {
    const { inbox, number } = this.ledgers.space
    inbox.waits.rebook(change, { number, urgent: this.ledger.urgentTimers !== undefined })
  }
}
