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
import type { Diagnostic } from "../diagnostic/Diagnostic.ts"
import type { SpaceStore } from "../persistence/Persistence.ts"
import type { Lists } from "../registry/Bindings.ts"
import type { Enzyme } from "../registry/Enzyme.ts"
import type { Timer, TimerChange } from "../stage/CellTimers.ts"
import type { Caller } from "../stage/RunGrant.ts"
import type { Draft } from "../stage/Draft.ts"
import type { Launches } from "../stage/Launches.ts"
import type { Committed, BeatClock } from "../stage/BeatClock.ts"
import type { Stage } from "../stage/Stage.ts"
import type { Command } from "./Command.ts"
import type { ExpiryRule } from "./Expiry.ts"
import type { RefusalClass } from "./LedgerError.ts"

/** The types of one ledger. */
export interface Kinds {
  /** The verbs that runs call: `tx.op`, `tx.rv`. */
  readonly Face: unknown
  /** The requests from outside. */
  readonly Command: Command
  /** The answer to a command that was done. */
  readonly Reply: unknown
  /** The requests that the ledger merges after the writes of a transaction, such as entries that it numbers. */
  readonly Launch: unknown
  /** The ledger's memory of an open space. It follows from the store. */
  readonly State: unknown
  /** The ledger's scratch of one beat. */
  readonly Work: unknown
  /** The input that a beat captures and the journal keeps. */
  readonly Input: unknown
  /** The plain data of a beat that the live half gets once that beat is durable. */
  readonly Output: unknown
  /** The limits of the space that the ledger goes by. */
  readonly Limits: unknown
}

/** The verbs of the commands of a ledger. */
export type Verb<L extends Kinds> = L["Command"]["verb"]

/** How a command of one verb is done. */
export interface CommandRule<L extends Kinds, V extends string = string> {
  /**
   * Does the command in the capture transaction; answers the reply. A refusal takes all of it back.
   *
   * @throws one of the ledger's `refusals`, CellLocked
   */
  execute(draft: Draft, command: L["Command"] & { readonly verb: V }, beat: LedgerBeat<L>): L["Reply"]
  /** False for a command whose effect waits for later beats, which a space that was shut down has none of: it is refused there. */
  readonly runsWhileHalted: boolean
}

/** The state of a space from which a ledger opens. */
export interface Opening {
  readonly store: Pick<SpaceStore, "below" | "head">
  readonly documents: Pick<Committed, "read">
  readonly bindings: Pick<Lists, "cells">
  /** Milliseconds that a beat is meant to take. */
  readonly tempo: number
}

/** The author of launches: a run, or the capture or the commit; and how many signals led to it. */
export interface Launcher {
  readonly run: number
  readonly depth: number
}

/** The circumstances of a capture. */
export interface Capturing<L extends Kinds = Kinds> {
  readonly limits: L["Limits"]
  /** Whether the space is paused: all but control waits. */
  readonly gated: boolean
}

/** Captured input: it stays with the ledger until the beat is committed, so an aborted beat takes the same again. */
export interface InputRule<L extends Kinds> {
  /** The field of a journal entry that holds it. No other field has this name. */
  readonly field: string
  /** Whether input waits for a beat that does not come for another reason. */
  isWaiting(state: L["State"], gated: boolean): boolean
  peek(state: L["State"], capturing: Capturing<L>): L["Input"] | undefined
  /** The beat that took it is committed. */
  drop(state: L["State"], taken: L["Input"]): void
  /** As JSON text; asked only where the beat used the input. */
  encode(input: L["Input"]): string
  /** From the JSON value. */
  decode(value: unknown): L["Input"]
}

/** How timers that also run while the space is paused stand in the journal, in a list of their own. */
export interface UrgentTimers {
  /** The JSON value that stands for a timer's key. */
  encode(key: string): unknown
  decode(value: unknown): string
}

/** The part of a ledger that talks to the world outside the beat. A replay has none. */
export interface LiveLedger<Output = unknown> {
  /** Called once per opening, before the first beat: takes up the work that is outstanding in the newest durable beat. */
  resume(): void
  /** Called after the flush that carries a beat, in the order of beats, with its output. */
  flushed(output: Output): void
  /** The space closes or stopped. */
  stop(): void
}

/**
 * A ledger.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ledger<L extends Kinds = Kinds> {
  /** Names the ledger in the transaction, in the journal's commands, and in the ids of its signals: `<beat>.<name>.<n>`. */
  readonly name: string
  /**
   * The cells below which its documents lie, and others that it watches at the commit. A beat that writes below none of
   * them, and has no timer, command or launch of the ledger, passes it by. Timers are routed by them.
   */
  readonly folders: readonly [string, ...ReadonlyArray<string>]
  readonly refusals: ReadonlyArray<RefusalClass>
  readonly commands: { readonly [V in Verb<L>]: CommandRule<L, V> }
  /** The state as the store holds it. Pure: a replay opens it as well. */
  open(opening: Opening): L["State"]
  /** The timers of a state that was opened just now. */
  timers(state: L["State"]): Iterable<Timer>
  /** Of the ledger with timers that run while the space is paused; the timers of other ledgers wait then. At most one has it. */
  readonly urgentTimers?: UrgentTimers
  readonly input?: InputRule<L>
  /** After the commands of the beat, before its runs: timers that are due, captured input, and documents that the capture wrote. */
  atCapture?(beat: LedgerBeat<L>): void
  /** The ledger's face for one run. */
  transaction(draft: Draft, caller: Caller, beat: LedgerBeat<L>): L["Face"]
  /** Takes in the launches of a transaction, after its writes were merged. */
  merge?(launches: ReadonlyArray<L["Launch"]>, by: Launcher, beat: LedgerBeat<L>): void
  /** When all runs are merged, before nodes run. */
  atCommit(beat: LedgerBeat<L>): void
  /** The beat is in the store: the state follows. Answers the output for the live half. */
  committed(beat: LedgerBeat<L>): L["Output"] | undefined
  readonly expiry?: ExpiryRule
  /** Makes the live half of an open space; `wake` says that input waits. */
  live?(state: L["State"], wake: () => void): LiveLedger<L["Output"]>
}

/** A signal that a ledger sends to a cell, for the next beat. Without a payload it is an impulse. */
export interface LedgerSignal {
  readonly signal: string
  /** The key of the cell. The signal carries its label. */
  readonly target: string
  readonly payload: Document | undefined
  /** How many signals led to it; 0 unless given. */
  readonly depth?: number
  /** The enzyme that awaits it, which takes it though it is bound there no more. */
  readonly awaits?: string
}

/** An enzyme that begins or ends to await signals at a cell. */
export interface Attention {
  readonly cell: string
  readonly enzyme: string
  readonly awaits: boolean
}

/**
 * A beat, as one ledger sees it. It is made on first use.
 *
 * @category models
 * @since 0.1.0
 */
export interface LedgerBeat<L extends Kinds = Kinds> {
  readonly stage: Stage
  readonly moment: BeatClock
  readonly state: L["State"]
  /** The keys of its timers that are due, in the order in which they came to wait. */
  readonly due: ReadonlyArray<string>
  /** The captured input; in a replay, as far as the journal has it. */
  readonly input: L["Input"] | undefined
  /** Scratch of the ledger, which the beat does not touch. */
  work: L["Work"] | undefined
  /** Has the journal keep the input, as a decision followed from it. */
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
  /** The transaction of an earlier run of the beat, where that run succeeded. */
  draftOf(run: number): Draft | undefined
  /** Sends a signal; at the commit only. */
  send(signal: LedgerSignal): void
  /** Has an enzyme take signals at a cell from the next beat on, or no more. */
  bind(attention: Attention): void
  /** Reports a fact. */
  diagnose(fact: Diagnostic): void
  /** Writes to ledgers over the newest state of the beat; at the commit only. */
  amend(change: (draft: Draft) => void): void
  /** Has another ledger merge a launch at once; at the commit only. */
  launch<Name extends keyof Launches>(ledger: Name, launch: Launches[Name]): void
  /** Sets timers in place of others; once the beat is in the store. */
  reschedule(change: TimerChange): void
}
