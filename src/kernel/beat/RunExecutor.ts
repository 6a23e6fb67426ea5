/**
 * The port of durable runs: the executor of their handlings within a beat.
 *
 * The slice `durable` brings it, with the ledger of runs. In a runtime without it, no enzyme is durable, and a space with durable
 * runs is not opened.
 *
 * @module
 */
import type { SpaceStore } from "../../persistence/Persistence.ts"
import type { Reporter } from "../../diagnostic/Reporter.ts"
import type { RunScope } from "../../registry/RunScope.ts"
import type { BeatClock } from "../../stage/BeatClock.ts"
import type { Draft } from "../../stage/Draft.ts"
import type { Stage } from "../../stage/Stage.ts"
import type { ByPlace, LedgerList } from "../../ledger/LedgerList.ts"
import type { ResumeRules } from "../inbox/Capture.ts"
import type { SpaceMode } from "../model/SpaceMode.ts"
import type { WaitingRuns } from "../inbox/WaitingRuns.ts"
import type { Documents } from "../model/Documents.ts"
import type { CapturedSignal, Handling, InFlight, Outcome, TakenSignal, Waits } from "../model/InFlight.ts"
import type { ModuleRestore } from "../model/ModuleRestore.ts"
import type { Again, Heard, PendingSignal, WaitingRun } from "../model/Signal.ts"
import type { RunAbsent, RunState } from "../../durable/RunError.ts"
import type { SliceAbsent } from "../../ledger/SliceTable.ts"
import type { Enzyme } from "../../registry/Enzyme.ts"
import type { BeatTransaction } from "./BeatTransaction.ts"
import type { Receipt } from "../model/Receipt.ts"
import type { RunHost } from "../watchdog/RunHost.ts"

/** The runs that heard a captured signal. */
export type HeardBy = ReadonlyMap<InFlight, ReadonlyArray<Heard>>

/** The part of a beat in which runs go on. */
export interface ResumePhase {
  readonly mode: SpaceMode
  readonly stage: Stage
  /** The runs with a captured result, by the ids of their operations. */
  resumed: Array<string>
}

/** The runs that hear a signal, and the segments that the space takes. */
export interface RunInput {
  /** `countOf` tells how many signals of a pair a run has heard. */
  readonly hearers: (flight: InFlight, countOf: (oid: string, pair: number) => number) => ReadonlyArray<Heard>
  /** Takes the next segment of a run that waits, by its operation. */
  readonly resume: (oid: string, how: ResumeRules) => ReadonlyArray<TakenSignal>
}

/** The captured signals of a beat, with the segments of the runs that go on. */
export interface HeardSignals {
  /** The segments come after further attempts and before new signals. */
  readonly taken: ReadonlyArray<TakenSignal>
  readonly heard: HeardBy
  /** The outcome of a run without its enzyme: its end if it is cancelled at once; `undefined` otherwise. */
  readonly ended: (event: string, key: string) => Outcome | undefined
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
    readonly inputs: ReadonlyArray<CapturedSignal>
    readonly transaction: BeatTransaction
    readonly ledgers: { readonly amend: (change: (draft: Draft) => void) => void }
  }
  readonly state: Pick<DurableState, "hash" | "host" | "inbox">
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

/** The space whose runs are executed. */
export interface RunSpace {
  readonly space: string
  readonly hash: (text: string) => string
  /** The most bodies in memory. */
  readonly resident: number
  readonly ledgers: LedgerList
  readonly states: ByPlace
  /** The place in the code of a module from which an error comes, if the host tells it. */
  readonly placeOf: RunScope["placeOf"]
  /** Receives writes that may become stale; `undefined` outside of development. */
  readonly report: Reporter["report"] | undefined
}

/** The executor of the durable handlings of a space, live or in a replay. */
export interface RunExecutor {
  /** Step 4: keeps the captured signals that runs hear, and takes the segments of runs with a result. */
  readonly hear: (taken: ReadonlyArray<TakenSignal>, transaction: ResumePhase, input: RunInput) => HeardSignals
  /** Step 8: executes the next segment of a handling. */
  readonly run: (handling: Handling, draft: Draft, state: DurableState) => Promise<Outcome>
  /** Step 9: a run waits for results. Puts its segment into the log, and keeps the body. */
  readonly wait: (handling: Handling, waits: Waits, merge: RunMerge) => WaitingRun
  /** Step 9: a handling is attempted again in a later beat. Returns its run, if that is held or hears signals meanwhile. */
  readonly retry: (handling: Handling, merge: RunMerge) => WaitingRun | undefined
  /** Step 9: a handling is over. Closes the operation of its run. */
  readonly finish: (handling: Handling, merge: RunMerge) => void
  /** Step 9: a handling was given up. Marks the operation of its run. */
  readonly die: (handling: Handling, code: string, merge: RunMerge) => void
  /** Step 9: a rollback discarded a handling. Cancels the operation of its run. */
  readonly discard: (captured: CapturedSignal, merge: RunMerge) => void
  /** Step 9: keeps the progress of an event for the run that waits for its end. */
  readonly track: (flight: InFlight, merge: RunMerge) => void
  /** Between beats: drops the bodies in memory, so that each is made again from its log. */
  readonly forget: () => void
  /** Step 3: prepares the operation of a run for its redelivery. */
  readonly prepare: (retry: Retry) => Next | RunAbsent | RunState | SliceAbsent
}

/** Durable runs as a kernel takes them: their executor, and their rows in a store. */
export interface DurableRuns {
  /** @throws InvalidEnzyme, where it takes no durable enzyme */
  readonly check: (enzyme: Enzyme) => void
  /** Makes the executor of a space. */
  readonly executor: (space: RunSpace) => RunExecutor
  /** The receipts of the segments of an event's runs; `undefined` if no handling of the event has several. */
  readonly segments: (
    store: LogStore & Pick<SpaceStore, "waiting">,
    receipt: Receipt,
    hash: (text: string) => string
  ) => SegmentReceipts | undefined
  /**
   * A row of a store. One of a run that hears many signals lists the changed ones alone, and its log has the others.
   *
   * @throws PersistenceError where no run can go on
   */
  readonly whole: (pending: PendingSignal, store: LogStore & Pick<SpaceStore, "space">) => PendingSignal
  /** The runs of a store with a result that no beat has taken, and whether they end at once. */
  readonly noted: (store: Pick<SpaceStore, "below" | "read">) => Iterable<readonly [oid: string, isEnd: boolean]>
}
