/**
 * The phases of a beat: the records after its capture and after its runs.
 *
 *     capture(number): Captured  →  execute(captured): Executed  →  commit(executed): Beat
 *
 * Each phase gets the record of the phase before, and adds its own. Steps within a phase take the parts that they need.
 *
 * @module
 */
import type { BeatClock } from "../../stage/BeatClock.ts"
import type { Labels } from "../../stage/Labels.ts"
import type { Stage } from "../../stage/Stage.ts"
import type { BeatStart } from "../model/BeatStart.ts"
import type { QueuedCommand } from "../model/Command.ts"
import type { CapturedSignal, Handling, Outcome, TakenSignal } from "../model/InFlight.ts"
import type { Steps } from "../model/ExternalChange.ts"
import type { ExpiredRecords } from "../journal/RetiredLine.ts"
import type { ParkedNote } from "../model/ParkedSignals.ts"
import type * as Signal from "../model/Signal.ts"
import type { SpaceStopped } from "../model/SpaceError.ts"
import type { BeatTransaction } from "./BeatTransaction.ts"
import type { DueTimers, LedgerBeats } from "./LedgerBeats.ts"

/** Called with the number of a beat when it is durable, or with the failure that prevents this. */
export type BeatAnswer = (answer: number | SpaceStopped) => void

/** A command that was done, and its reply. */
export interface DoneCommand extends QueuedCommand {
  readonly reply: unknown
}

/** The commands of a beat, executed in the capture transaction. */
export interface CapturedCommands {
  /** The number of commands from the queue, refused ones included. */
  readonly count: number
  /** The commands that were done, in order. */
  readonly done: ReadonlyArray<DoneCommand>
  /** The answers to refused commands. */
  readonly answers: ReadonlyArray<BeatAnswer>
  /** Writes under groups. */
  readonly steps: Steps
  /** The keys of the documents that a rollback restored. */
  readonly takenBack: ReadonlyArray<string>
  /** The dead letters that were sent again. */
  readonly redelivered: ReadonlyArray<Signal.PendingSignal>
}

/**
 * A beat after its capture, before the first run.
 */
export interface Captured {
  readonly begun: BeatStart
  readonly stage: Stage
  readonly moment: BeatClock
  readonly labels: Labels | undefined
  readonly transaction: BeatTransaction
  readonly ledgers: LedgerBeats
  readonly commands: CapturedCommands
  /** The signals taken from the inbox, which gets them back if the beat is aborted. */
  readonly taken: ReadonlyArray<TakenSignal>
  /** The timers that are due. */
  readonly timers: DueTimers
  /** Signals that a paused space parked since the previous beat. */
  readonly parked: ParkedNote | undefined
  /** Finished records to delete. */
  readonly retired: ReadonlyArray<ExpiredRecords>
  /** The captured signals, in the order of the agenda. */
  readonly inputs: ReadonlyArray<CapturedSignal>
  /** All runs of the beat, in order. */
  readonly runs: ReadonlyArray<Handling>
}

/** A handling with its outcome. */
export interface ExecutedHandling extends Handling {
  outcome: Outcome
}

/**
 * A beat after its runs, before the merge. Each run has its outcome.
 */
export interface Executed {
  readonly captured: Captured
  readonly runs: ReadonlyArray<ExecutedHandling>
}
