/**
 * The port of durable runs: the parts of a beat that spaces with durable enzymes alone need.
 *
 * The slice `durable` brings it. In a runtime without it, no enzyme is durable, and a space with durable runs is not opened.
 *
 * @module
 */
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { Reporter } from "../../diagnostic/Reporter.ts"
import type { RunScope } from "../../registry/RunScope.ts"
import type { BeatClock } from "../../stage/BeatClock.ts"
import type { Draft } from "../../stage/Draft.ts"
import type { Stage } from "../../stage/Stage.ts"
import type { WaitingRuns } from "../inbox/WaitingRuns.ts"
import type { Command } from "../model/Command.ts"
import type { Documents } from "../model/Documents.ts"
import type { CapturedSignal, Handling, InFlight, Outcome, Taken, Waits } from "../model/InFlight.ts"
import type { ModuleRestore } from "../model/ModuleRestore.ts"
import type { Again, Heard, Pending, WaitingRun } from "../model/Signal.ts"
import type { RunAbsent, RunState } from "../../durable/RunError.ts"
import type { SliceAbsent } from "../../ledger/SliceTable.ts"
import type { Enzyme } from "../../registry/Enzyme.ts"
import type { BeatSignals } from "./BeatSignals.ts"
import type { Receipt } from "../model/Receipt.ts"
import type { RunHost } from "../watchdog/RunHost.ts"

/** The runs that heard a captured signal. */
export type HeardBy = ReadonlyMap<InFlight, ReadonlyArray<Heard>>

/** The part of a beat in which runs go on. */
export interface Resuming {
  readonly stage: Stage
  /** The runs with a captured result, by the ids of their operations. */
  readonly resumed: Array<string>
}

/** The runs that hear a signal. `countOf` tells how many signals of a pair a run has heard. */
export interface Hearers {
  readonly hearers: (flight: InFlight, countOf: (oid: string, pair: number) => number) => ReadonlyArray<Heard>
}

/** The state of a space, as its durable runs use it. */
export interface DurableState {
  readonly documents: Documents
  readonly hash: (text: string) => string
  readonly host: RunHost
  readonly inbox: { readonly runs: WaitingRuns }
  readonly restore: ModuleRestore
  readonly store: Pick<SpaceStore, "blob">
}

/** The merge of a beat with durable runs. */
export interface RunMerge {
  readonly captured: {
    readonly moment: BeatClock
    readonly stage: Stage
    readonly transaction: Pick<Resuming, "resumed">
    readonly ledgers: { readonly amend: (change: (draft: Draft) => void) => void }
  }
  readonly state: Pick<DurableState, "hash" | "host" | "inbox">
  /** The captured signals of the beat. */
  readonly signals: BeatSignals
}

/** A run between two attempts at a segment, with the signals that it hears and that its log does not have. */
export interface Between extends Pick<Waits, "begun" | "known" | "oid"> {
  /** Whether this attempt is the first one that declares some of them. */
  readonly isNew: boolean
  readonly run: WaitingRun
}

/** A handling to send again. */
export interface Retry {
  /** The operation of its run, if it is a durable one. */
  readonly oid: string
  /** The segment in its letter. */
  readonly segment: number | undefined
  /** Whether it ended by its cancellation, and undid its effects. */
  readonly isUndone: boolean
  /** Whether it starts over, with other idempotency keys. */
  readonly anew: boolean
  readonly draft: Draft
  readonly stage: Stage
}

/** The segment that a run makes next, `undefined` for the first; and the run, if its operation is open. */
export type Next = Pick<Again, "run" | "segment">

/** The receipt of one segment. */
export interface SegmentReceipt {
  readonly outcome: "waits" | "ok" | "dead"
  readonly beat: number
  /** The handles that it made and left open. */
  readonly on?: ReadonlyArray<string>
  /** The number of handles that earlier segments had left open, and that still were. */
  readonly before?: number
}

/** The receipts of segments by the number of the segment and by enzyme. */
export type SegmentReceipts = Readonly<Record<string, Readonly<Record<string, SegmentReceipt>>>>

/** The part of a store that has the logs of durable runs. */
export type LogStore = Pick<SpaceStore, "read">

/** The source of the runs of a space. */
export interface DurableOptions {
  readonly space: string
  /** The most bodies in memory. */
  readonly resident: number
  /** The place in the code of a module from which an error comes, if the host tells it. */
  readonly placeOf: RunScope["placeOf"]
  /** Receives writes that may become stale; `undefined` outside of development. */
  readonly report: Reporter["report"] | undefined
}

/**
 * The durable runs of a space.
 */
export interface DurableRuns {
  /** Called with the command for a body in memory that goes on outside its segments; `undefined` in a replay. */
  strayed: ((command: Command) => void) | undefined
  /** Step 4: keeps the captured signals that runs hear, and has these runs go on. */
  readonly hear: (taken: ReadonlyArray<Taken>, transaction: Resuming, input: Hearers) => HeardBy
  /** The outcome of a run without its enzyme: its end if it is cancelled at once; `undefined` otherwise. */
  readonly endedWithout: (oid: string, stage: Stage) => Outcome | undefined
  /** Notes the runs with a captured result and without a segment in this beat. */
  readonly captured: (stage: Stage, resumed: ReadonlySet<string>, taken: ReadonlyArray<Taken>) => void
  /** Notes the runs with a result of the commit. */
  readonly committed: (stage: Stage, resumed: ReadonlyArray<string>) => void
  /** Step 8: executes the next segment of a handling. */
  readonly run: (handling: Handling, draft: Draft, state: DurableState) => Promise<Outcome>
  /** The run of a handling that is attempted again, if it hears signals that its log does not have. */
  readonly between: (handling: Handling, merge: RunMerge) => Between | undefined
  /** Has a run hear signals until its next attempt, with the ones of this beat. */
  readonly hearBetween: (handling: Handling, between: Between, merge: RunMerge) => void
  /** Puts a step into the log, and keeps the body. Returns whether the run goes on at once. */
  readonly wait: (handling: Handling, waits: Waits, merge: RunMerge) => boolean
  /** The handling is over: closes its operation. */
  readonly finish: (handling: Handling, merge: RunMerge) => void
  /** Puts the module by which a letter goes on into the log. */
  readonly adopt: (handling: Handling, merge: RunMerge) => void
  /** Marks the operation of a run that was given up. */
  readonly die: (handling: Handling, code: string, merge: RunMerge) => void
  /** Cancels the operation of a run that a rollback discarded. */
  readonly discard: (captured: CapturedSignal, merge: RunMerge) => void
  /** Keeps the progress of an event of this beat for the run that waits for its end. */
  readonly tell: (flight: InFlight, merge: RunMerge) => void
  /** Prepares the operation of a run for its redelivery. */
  readonly prepare: (retry: Retry) => Next | RunAbsent | RunState | SliceAbsent
  /** The receipts of the segments of an event's runs; `undefined` if no handling of the event has several. */
  readonly segments: (store: LogStore & Pick<SpaceStore, "waiting">, receipt: Receipt) => SegmentReceipts | undefined
  /**
   * A row of a store. One of a run that hears many signals lists the changed ones alone, and its log has the others.
   *
   * @throws PersistenceError where no run can go on
   */
  readonly whole: (pending: Pending, store: LogStore & Pick<SpaceStore, "space">) => Pending
  /** The runs of a store with a result that no beat has taken, and whether they end at once. */
  readonly noted: (store: Pick<SpaceStore, "below" | "read">) => Iterable<readonly [oid: string, isEnd: boolean]>
  /** Notes that a request or an event of a run may have a result. */
  readonly note: (oid: string, id: string) => void
  /** The runs of an earlier state of the space, none of which is in memory. */
  readonly fresh: () => DurableRuns
}

/** The durable runs of a runtime. */
export interface RunsOfSpaces {
  /** @throws InvalidEnzyme, where it takes no durable enzyme */
  readonly check: (enzyme: Enzyme) => void
  /** Makes the durable runs of a space. `hash` is the one of the space. */
  readonly make: (options: DurableOptions, hash: (text: string) => string) => DurableRuns
}
