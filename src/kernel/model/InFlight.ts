/**
 * Signals in flight, from their capture until all their handlings have ended.
 *
 * @module
 */
import type { Document } from "../../cell/Document.ts"
import type { Label } from "../../cell/Label.ts"
import type { CodePlace } from "../../diagnostic/CodePlace.ts"
import type { HandleResult } from "../../durable/Handle.ts"
import type { StoredStep } from "../../durable/Step.ts"
import type { Continuation } from "../../durable/Continuation.ts"
import type { Note } from "../../durable/Note.ts"
import type { ListedPairs, Pair } from "../../durable/Pairs.ts"
import type { Entry, Resolution } from "../../registry/Registry.ts"
import type { Draft } from "../../stage/Draft.ts"
import type { Due } from "../../stage/Due.ts"
import type { OutgoingSignal } from "../../stage/Launch.ts"
import * as Semantics from "../../stage/Semantics.ts"
import type { Limits } from "./Limits.ts"
import type { Again, Heard, PendingSignal, Signal, WaitingRun } from "./Signal.ts"
import { size } from "./Signal.ts"

/**
 * The outcome of a run. Only `tag` and `code` are hashed, because messages differ between engines.
 */
export type Outcome =
  | { readonly kind: "ok"; readonly result: Document | undefined }
  | {
    readonly kind: "retry" | "dead" | "fatal"
    readonly tag: string
    readonly code: string
    readonly message: string
    /** The thrown value, for the log alone. */
    readonly thrown?: unknown
    /** The place from which it was thrown, on a development host. Like the message it is stored, and not hashed. */
    readonly at?: CodePlace | undefined
    /** The time of the next attempt, in milliseconds since 1970, if a gate delays a node that the run reads. */
    readonly until?: number | undefined
    /** The wait before the next attempt that the run asked for, as it stands. */
    readonly after?: unknown
    /** The date of the next attempt, in milliseconds since 1970, if the merge decided one by the clock. */
    readonly next?: number | undefined
    /** The label of the run, if it is confidential. */
    readonly label?: Label | undefined
    /** The last segment of a run that ended by its cancellation: it is merged although the run failed, or it is tried again. */
    readonly undo?: "merged" | "waits" | undefined
  }
  | Waits
  | {
    readonly kind: "conflict"
    readonly document: string
    /** Whether the run lost because its reads derive from the document. */
    readonly isDerived?: boolean | undefined
    /** The holder of the lock, if the document is one; `undefined` in beats of semantics 1. */
    readonly holder?: string | undefined
  }

/** A failure of a run. */
export type RunFailure = Extract<Outcome, { readonly code: string }>

/** The end of a run by its cancellation, of which the last segment is merged. */
export type Undone = RunFailure & { readonly kind: "dead"; readonly undo: "merged" }

/** An outcome whose writes and launches the beat merges. */
export type MergedOutcome = Extract<Outcome, { readonly kind: "ok" | "waits" }> | Undone

/**
 * Whether the beat merges the writes and launches of a run with this outcome.
 */
export const isMerged = (outcome: Outcome): outcome is MergedOutcome =>
  outcome.kind === "ok" || outcome.kind === "waits" || (outcome.kind === "dead" && outcome.undo === "merged")

/**
 * Whether a handling is one of a durable run: its enzyme is durable, or the run has a log.
 */
export const isDurable = ({ entry, segment }: Pick<Handling, "entry" | "segment">, moment: Semantics.WithSemantics): boolean =>
  entry?.enzyme.durable === true || (segment > 0 && Semantics.follows(moment, "runsStayDurable"))

/** A segment of a durable run that ended with an await. */
export interface Waits {
  readonly kind: "waits"
  /** The operation of the run. */
  readonly oid: string
  /** The number of the segment. */
  readonly segment: number
  readonly step: StoredStep
  readonly continuation: Continuation
  /** The times at which an open sleep may end, the earliest ones only. */
  readonly dues: ReadonlyArray<Due>
  /** The signals that the run hears, for the row of its next segment. */
  readonly listed: ListedPairs
  /** The signals that the run did not hear yet when the beat captured its signals, and the number of those that it did. */
  readonly begun: ReadonlyArray<Pair>
  readonly known: number
  /** Whether earlier attempts at the segment declared signals. The step has them now. */
  readonly isAhead: boolean
  /** The note for the next segment, if it has one. */
  readonly note: Note | undefined
}

/**
 * The pending signals of a space's runs, and the additions of one beat.
 *
 * It derives from earlier beats and the agenda, so a repeated beat admits the same signals.
 */
export class Backlog {
  /** Signals and characters that wait for their capture or for another attempt. */
  signals = 0
  bytes = 0
  private added = { signals: 0, bytes: 0 }
  private begun = 0
  private limits: Limits | undefined
  /** Counts the durable runs that are not over. */
  private readonly runs: () => number

  constructor(runs: () => number = () => 0) {
    this.runs = runs
  }

  /** Begins a beat. */
  begin(limits: Limits): void {
    this.limits = limits
    this.added = { signals: 0, bytes: 0 }
    this.begun = 0
  }

  /** Admits a durable run that begins to wait, or returns the limit that it would exceed. */
  admitRun(): number | undefined {
    const { waitingRuns = Infinity } = this.limits ?? {}
    if (this.runs() + this.begun >= waitingRuns) return waitingRuns
    this.begun++
    return undefined
  }

  /** Admits all signals of a run, or returns the limit that they would exceed. */
  admit(emissions: ReadonlyArray<OutgoingSignal>): string | undefined {
    const { backlogBytes = Infinity, backlogSignals = Infinity } = this.limits ?? {}
    const signals = this.added.signals + emissions.length
    const bytes = emissions.reduce((sum, emission) => sum + size(emission), this.added.bytes)
    if (this.signals + signals > backlogSignals) return `${backlogSignals} signals`
    if (this.bytes + bytes > backlogBytes) return `${backlogBytes} characters`
    this.added = { signals, bytes }
    return undefined
  }
}

/** A captured signal and its remaining handlings. */
export class InFlight {
  readonly signal: Signal
  /** The beat that captured it. */
  readonly captured: number
  /** The lane that an event holds until it ends. */
  lane: string | undefined
  /** Handlings to be repeated, and the number of them that hold the lane meanwhile. */
  open = 0
  strict = 0
  /** The backlog that its runs add to, if it is counted. */
  backlog: Backlog | undefined
  /** Whether no enzyme took it because of a cycle in their order. */
  cycle = false
  /** Whether a rollback discarded it. */
  discarded = false
  /** Whether it was made again from rows, so that `over` lacks the handlings that ended before. */
  isRevived = false
  /** Ended handlings. */
  readonly over: Array<Handling> = []

  constructor(signal: Signal, captured: number, lane: string | undefined) {
    this.signal = signal
    this.captured = captured
    this.lane = lane
  }
}

/** One enzyme handling one signal. */
export interface Handling {
  readonly flight: InFlight
  /** Identifies it in receipts. */
  readonly key: string
  /** `undefined` if the enzyme no longer exists. */
  readonly entry: Entry | undefined
  readonly attempt: number
  /** The reason of a repetition. */
  readonly why: Again["why"] | undefined
  readonly losses: number
  /** The number of earlier attempts that timed out. */
  readonly timeouts: number
  /** The number of the segment that a durable enzyme makes; otherwise 0. A rollback may have taken the run back to an earlier one. */
  segment: number
  /** The durable run of a later segment. */
  readonly waiting: WaitingRun | undefined
  /** The document at whose queue it is the head, if it lost a conflict before. */
  readonly headOf: string | undefined
  /** The beat in which it runs, and its place in that beat's agenda. */
  readonly beat: number
  readonly run: number
  draft: Draft | undefined
  outcome: Outcome | undefined
  /** The results with which a segment began. */
  settled?: ReadonlyArray<HandleResult>
  /** Its label: at first that of its event and the previous attempt, at the end that of its outcome and its launches. */
  label: Label
}

/** The signals that one beat takes from the inbox. */
export interface TakenSignal {
  readonly pending: PendingSignal
  readonly flight: InFlight
}

/** The captured part of one signal. */
export interface CapturedSignal {
  readonly pending: PendingSignal
  readonly flight: InFlight
  readonly resolution: Resolution
  /** Its runs in this beat, in order; if it coalesces, those of an equal impulse. */
  readonly handlings: Array<Handling>
  /** The durable runs that came to hear it in this beat, after its capture. */
  heard?: Array<Heard>
}
