/**
 * The port of ledgers: one subsystem of long-running work, as a plug.
 *
 * Operations, rendezvous and flows are values of `Ledger`. The beat loops over a
 * list of them and names none. Ledgers meet through the stage and through
 * launches, and never import each other. `README.md` in this folder says how
 * to write one.
 *
 * @module
 */
import type { Document } from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"
import type { Diagnostic } from "../diagnostic/Diagnostic.ts"
import type { Told } from "../diagnostic/Reporter.ts"
import type { Telemetry } from "../diagnostic/Telemetry.ts"
import type { Parts } from "../frame/Parts.ts"
import type { SpaceStore } from "../persistence/Persistence.ts"
import type { BindingLists } from "../registry/Bindings.ts"
import type { Enzyme } from "../registry/Enzyme.ts"
import type { Timer, TimerChange } from "../stage/CellTimers.ts"
import type { Caller } from "../stage/RunGrant.ts"
import type { Draft } from "../stage/Draft.ts"
import type { Launches } from "../stage/Launches.ts"
import type { CommittedState, BeatClock } from "../stage/BeatClock.ts"
import type { Stage } from "../stage/Stage.ts"
import type { Command } from "./Command.ts"
import type { ExpiryRule } from "./Expiry.ts"
import type { Refusal, RefusalClass } from "./LedgerError.ts"

/** The types of one ledger. */
export interface Kinds {
  /** The verbs that runs call: `tx.op`, `tx.rv`. */
  readonly Face: unknown
  /** The requests from outside. */
  readonly Command: Command
  /** The reply to an executed command. */
  readonly Reply: unknown
  /** The requests that the ledger merges after the writes of a transaction, such as entries that it numbers. */
  readonly Launch: unknown
  /** The ledger's memory of an open space, derived from the store. */
  readonly State: unknown
  /** The ledger's scratch of one beat. */
  readonly Work: unknown
  /** The input that a beat captures and the journal keeps. */
  readonly Input: unknown
  /** The plain data that the live half receives once its beat is durable. */
  readonly Output: unknown
  /** The limits of the space that the ledger reads. */
  readonly Limits: unknown
}

/** The verbs of the commands of a ledger. */
export type Verb<L extends Kinds> = L["Command"]["verb"]

/** The execution of commands of one verb. */
export interface CommandRule<L extends Kinds, V extends string = string> {
  /**
   * Executes the command in the capture transaction; returns the reply. A refusal reverts all of its writes.
   *
   * @throws one of the ledger's `refusals`, CellLocked
   */
  execute(draft: Draft, command: L["Command"] & { readonly verb: V }, beat: LedgerBeat<L>): L["Reply"]
  /** False for a command with an effect in later beats. A space that was shut down has none, so it refuses the command. */
  readonly runsWhileHalted: boolean
}

/** The state of a space from which a ledger opens. */
export interface Opening {
  readonly store: Pick<SpaceStore, "below" | "head">
  readonly documents: Pick<CommittedState, "read">
  readonly bindings: Pick<BindingLists, "cells">
  /** The nominal length of a beat, in milliseconds. */
  readonly tempo: number
}

/** The author of launches: a run, the capture or the commit; and the length of its signal chain. */
export interface Launcher {
  readonly run: number
  readonly depth: number
}

/** The event that a run handles, and the length of its signal chain, which the journal does not have: it is 0 in a replay. */
export interface HandledEvent {
  readonly id: string
  readonly depth: number
}

/** The conditions of a capture. */
export interface Capturing<L extends Kinds = Kinds> {
  readonly limits: L["Limits"]
  /** Whether the space is paused, so that only control work runs. */
  readonly gated: boolean
}

/** Captured input. It stays with the ledger until the beat is committed, so an aborted beat captures the same input again. */
export interface InputRule<L extends Kinds> {
  /** The field of a journal entry that holds it. No other field has this name. */
  readonly field: string
  /** Whether pending input requires a beat. */
  isWaiting(state: L["State"], gated: boolean): boolean
  /** Whether the next beat waits for input that is on its way. By default it never waits. */
  isAwaited?(state: L["State"]): boolean
  /** Whether the host may bring input at any time, so that a start opens the space to hear of it. By default it does not. */
  isExpected?(state: L["State"]): boolean
  /**
   * The time at which the live half begins delayed work, in milliseconds since 1970. The space is open then, and the live half
   * is called with `elapsed`. By default no work is delayed.
   */
  nextDue?(state: L["State"]): number | undefined
  /** Whether the ledger processes this input at the capture. By default it processes all input, if it has `atCapture`. */
  isTaken?(input: L["Input"]): boolean
  peek(state: L["State"], capturing: Capturing<L>): L["Input"] | undefined
  /** Called when the beat that captured it is committed. */
  drop(state: L["State"], taken: L["Input"]): void
  /** The input as JSON text; called only if the beat used it. */
  encode(input: L["Input"]): string
  /** The input from its JSON value. */
  decode(value: unknown): L["Input"]
}

/** The journal form of timers that also run while the space is paused; they have a list of their own. */
export interface UrgentTimers {
  /** The JSON value of a timer's key. */
  encode(key: string): unknown
  decode(value: unknown): string
}

/** The work of a ledger that a pause and a shutdown await. */
export interface Quiescence<L extends Kinds> {
  /** Whether no work is in progress outside the beat. */
  isQuiet(state: L["State"]): boolean
  /** Ends the work in progress without its results; at the capture only. */
  abandon(beat: LedgerBeat<L>): void
}

/** Work that waits to leave a detached space. */
export interface OutwardWork {
  readonly id: string
  readonly name: string
  /** Its date, in milliseconds since 1970. */
  readonly date: number
}

/** The work of a ledger that leaves the space. A detached space keeps it back. */
export interface OutwardRule<L extends Kinds> {
  /** All work that waits. */
  waiting(state: L["State"], documents: Pick<CommittedState, "read">): Iterable<OutwardWork>
  /** Ends all of it without its results; at the capture only. `since` is the newest beat that ran before the space was detached. */
  drop(beat: LedgerBeat<L>, since: number): void
}

/** The consequences of a rollback for the records of a ledger, which stay as they are. */
export interface RollbackRule<L extends Kinds> {
  /** The cell of the rollback's dossier that lists what was taken back, and the field with its lines. */
  readonly listed: readonly [cell: string, field: string]
  /** The name of the record that a document belongs to; `undefined` for a document that a rollback does not concern. */
  nameOf(key: string): string | undefined
  /**
   * Ends the work that the rollback takes back: of the records that changed after the beat `to`, and of open ones. Returns
   * lines for the dossier of the rollback. At the capture only.
   */
  takeBack(beat: LedgerBeat<L>, changed: ReadonlyArray<string>, to: number): ReadonlyArray<Value>
}

/** The notes on durable runs that go on, which their ledger keeps. At most one ledger has the rule. */
export interface ResumptionRule<L extends Kinds> {
  /** A request or an event of a run has its result. A beat that is dropped may have told it, so the cells decide. */
  resumed(state: L["State"], oid: string, id: string): void
  /** Called at the end of the commit with the runs that go on in the next beat. */
  atEnd(stage: Stage, oids: ReadonlyArray<string>): void
}

/** The state of a space as of its newest beat, for the views of live halves. */
export interface SpaceMoment {
  readonly beat: number
  /** `gated` while a pause or a shutdown is in progress. */
  readonly state: "running" | "gated" | "paused" | "halted"
  /** The operation that changes the state; `undefined` if none is in progress. */
  readonly control: string | undefined
}

/** The release of a detached space. */
export interface Release {
  /** No work that a later beat ordered has begun. */
  readonly since: number
  /** The newest durable beat. */
  readonly until: number
}

/** The part of a ledger that works outside the beat. A replay has none. A failure of a call is reported, and the space continues. */
export interface LiveLedger<Output = unknown> {
  /** Whether no work is in progress. A space with work in progress is not closed. */
  readonly isQuiet: boolean
  /** Whether its work is in the world: a detached space has it resume, and do all else, once it is released. */
  readonly isOutside?: boolean
  /**
   * Called once per opening, before the first beat, or at the release of a detached space. Resumes the work in progress as of the
   * newest durable beat.
   */
  resume(release?: Release): void
  /** Called with the output of a beat after its flush, in the order of beats. */
  flushed(output: Output): void
  /** Called before each group of beats: begins the work that was delayed until now. */
  elapsed?(): void
  /** The value of a view by its id; `undefined` for a view of others. Runs never see it, and no journal has it. */
  view?(id: string, moment: SpaceMoment): Value
  /** Called when the space closes or stops. */
  stop(): void
}

/** Content in the store of a space. */
export interface StoredContent {
  /** Its address, `/cas/<sha256>`. */
  readonly address: string
  /** Its size in bytes. */
  readonly bytes: number
}

/** A command of a ledger, by the name of the ledger. */
export interface LedgerCommand {
  readonly ledger: string
  readonly command: Command
}

/** An open space, as the live half of a ledger uses it. */
export interface LiveHost {
  readonly space: string
  /** Announces pending input. */
  readonly wake: () => void
  /** Hands a command of a ledger to the next beat. A refusal is dropped. */
  readonly submit: (command: LedgerCommand) => void
  /** The time of the host, in milliseconds since 1970. */
  readonly now: () => number
  /** The number of the newest beat. */
  readonly beat: () => number
  /** Whether the space is paused or shut down, or about to be, so that no work begins outside the beat. */
  readonly isGated: () => boolean
  /** Reports a failure outside the beat. */
  readonly report: (told: Told) => void
  /** Receives spans and metrics. */
  readonly telemetry: Telemetry
  /** The documents of the newest beat. */
  readonly documents: Pick<CommittedState, "read">
  /** Stores content; at most `limit` bytes, until `signal` is aborted. */
  readonly keep: (bytes: Uint8Array | AsyncIterable<Uint8Array>, limit: number, signal?: AbortSignal) => Promise<StoredContent>
  /** Reads content by its address; `undefined` if the space does not have it. */
  readonly content: (address: string) => Uint8Array | undefined
  /** The space at its newest durable beat as a frame, in pieces; absent in a runtime without exports. */
  readonly frame?: ((parts: Parts) => AsyncGenerator<Uint8Array>) | undefined
}

/**
 * A ledger.
 */
export interface Ledger<L extends Kinds = Kinds> {
  /** Names the ledger in the transaction, in the journal's commands, and in the ids of its signals: `<beat>.<name>.<n>`. */
  readonly name: string
  /**
   * The cell below which its documents lie, and others that it watches at the commit. A beat that writes below none of
   * them, and has no timer, command or launch of the ledger, passes it by. Timers are routed by the first, which no other
   * ledger has. Each has at least 7 characters.
   */
  readonly folders: readonly [string, ...ReadonlyArray<string>]
  /** The cell below which users configure the ledger. A rollback leaves it as it is. */
  readonly configuration?: string
  readonly refusals: ReadonlyArray<RefusalClass>
  readonly commands: { readonly [V in Verb<L>]: CommandRule<L, V> }
  /** The state from the store. Pure, because a replay opens it too. */
  open(opening: Opening): L["State"]
  /** The timers of a newly opened state. */
  timers(state: L["State"]): Iterable<Timer>
  /** Declares that the ledger's timers run while the space is paused; those of other ledgers wait. At most one ledger has it. */
  readonly urgentTimers?: UrgentTimers
  readonly input?: InputRule<L>
  /** Called after the commands of the beat and before its runs, for due timers, captured input, and documents that the capture wrote. */
  atCapture?(beat: LedgerBeat<L>): void
  /** The ledger's verbs for one run. */
  transaction(draft: Draft, caller: Caller, beat: LedgerBeat<L>): L["Face"]
  /** The refusal of a command whose launches, with those before it in the capture, exceed a limit. */
  admits?(draft: Draft, beat: LedgerBeat<L>): Refusal | undefined
  /** Merges the launches of a transaction, after its writes. */
  merge?(launches: ReadonlyArray<L["Launch"]>, by: Launcher, beat: LedgerBeat<L>): void
  /** Called when all runs are merged, before nodes run. */
  atCommit(beat: LedgerBeat<L>): void
  /** Called when the beat is in the store: updates the state. Returns the output for the live half. */
  committed(beat: LedgerBeat<L>): L["Output"] | undefined
  readonly expiry?: ExpiryRule
  /** Whether work in progress belongs to a record of any ledger, by the key of its cell, so that the record does not expire. */
  holds?(state: L["State"], key: string): boolean
  readonly quiescence?: Quiescence<L>
  readonly outward?: OutwardRule<L>
  readonly rollback?: RollbackRule<L>
  readonly resumption?: ResumptionRule<L>
  /** Makes the live half of an open space. */
  live?(state: L["State"], host: LiveHost): LiveLedger<L["Output"]>
}

/** A signal that a ledger sends to a cell, for the next beat. Without a payload it is an impulse. */
export interface LedgerSignal {
  readonly signal: string
  /** The key of the cell. The signal carries its label. */
  readonly target: string
  readonly payload: Document | undefined
  /** The length of the signal chain; default 0. */
  readonly depth?: number
  /** The awaiting enzyme, which receives it even if its binding has ended. */
  readonly awaits?: string
}

/** An enzyme that starts or stops awaiting signals at a cell. */
export interface Attention {
  readonly cell: string
  readonly enzyme: string
  readonly awaits: boolean
}

/**
 * A beat, as one ledger sees it; made on first use.
 */
export interface LedgerBeat<L extends Kinds = Kinds> {
  /** The name of the space with its incarnation, for ids that no other space may repeat. */
  readonly origin: string
  readonly stage: Stage
  readonly moment: BeatClock
  readonly state: L["State"]
  /** The keys of its due timers, in the order in which they were queued. Each timer is due in one committed beat. */
  readonly due: ReadonlyArray<string>
  /** The captured input; in a replay, only the part in the journal. */
  readonly input: L["Input"] | undefined
  /** Scratch memory of the ledger, opaque to the beat. */
  work: L["Work"] | undefined
  /** Records the input in the journal, because a decision depended on it. */
  useInput(): void
  /** The hexadecimal digest of a text. */
  hash(text: string): string
  /** A secret of this beat for one purpose: it repeats in every replay, and runs can neither see nor derive it. */
  secret(purpose: string): string
  /** Whether all readers of one document, by its key, may read another. */
  tells(from: string, to: string): boolean
  /** @throws CellLocked, where a cell or one above it is locked. */
  checkLock(cell: string): void
  /** Whether an enzyme takes a signal at a cell, with `awaiting` bound there. */
  hears(signal: string, target: string, awaiting?: string): boolean
  /** The enzymes that take a signal at a cell. */
  takers(signal: string, target: string): ReadonlyArray<Enzyme>
  /** The event that a run of the beat handles. */
  eventOf(run: number): HandledEvent | undefined
  /** The transaction of an earlier run of the beat, if that run succeeded. */
  draftOf(run: number): Draft | undefined
  /**
   * Resumes a durable run, by its operation: in this beat if it is still captured, otherwise in the next one. `rid` is the
   * request whose result it takes.
   */
  resume(oid: string, rid?: string): void
  /** Sends a signal; at the commit only. */
  send(signal: LedgerSignal): void
  /** Binds or unbinds an enzyme at a cell from the next beat on. */
  bind(attention: Attention): void
  /** Reports a diagnostic. */
  diagnose(fact: Diagnostic): void
  /** Writes to ledgers over the newest state of the beat; at the commit only. */
  amend(change: (draft: Draft) => void): void
  /** Has another ledger merge a launch at once; at the commit only. */
  launch<Name extends keyof Launches>(ledger: Name, launch: Launches[Name]): void
  /** Replaces timers by others; only once the beat is in the store. */
  reschedule(change: TimerChange): void
}
