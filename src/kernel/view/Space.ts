/**
 * The API of one space, for the ingress, the command line and tests.
 *
 * All input is captured by a beat and journaled before it is used. No answer precedes
 * its durability.
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { Label } from "../../cell/Label.ts"
import type { Value } from "../../cell/Value.ts"
import type { PersistenceError } from "../../persistence/PersistenceError.ts"
import type { BlobPart, BlobWriter, JournalRow } from "../../persistence/Persistence.ts"
import type {
  SignalRequest
} from "../../stage/Launch.ts"
import type { HistorySource } from "../beat/HistorySource.ts"
import type { ClockStatus } from "./ClockStatus.ts"
import type { ControlError, ReadError, SignalError } from "./Expected.ts"
import type { Pin } from "./Pin.ts"
import type { Command as LedgerCommand } from "../../ledger/Command.ts"
import type { Done } from "../model/Command.ts"
import type { Condition } from "../model/Condition.ts"
import type { ExternalChange, ChangedPlace } from "../model/ExternalChange.ts"
import type { DeadLetter, DeadPage, OpenLetter } from "../beat/command/DeadLetter.ts"
import type * as Control from "../../contract/Control.ts"
import type { AnswerOf } from "../../contract/Endpoint.ts"
import type { Client, Faces } from "../../contract/Face.ts"
import type { DetachedWork } from "./DetachedList.ts"
import type { Drop } from "../model/SpaceMode.ts"
import type { Receipt } from "../model/Receipt.ts"
import type { DebugReport, FailedNode, GraphReport, SpaceDebug, SpaceGraph, TraceReport } from "./Inspection.ts"
import type { Denial, SeenValue, ShownHandling, ShownPage, ShownReceipt } from "./Shown.ts"
import type {
  ChannelRow, Drain, DrainedCompletion, DrainPage, RequestDetails, RequestRow, SpaceIo
} from "./Requests.ts"
import type { BeatAborted, CellHeld, HistoryBusy, SignalBeyond, SignalReserved, SpaceStopped, Withheld } from "../model/SpaceError.ts"
import type { BeatPage, CellPage, CellRequest, KeyPage, ListedCell, NamePage, Page } from "./Pages.ts"
import type { SpaceStorage } from "./StoreView.ts"
import type { ShownWaiting, WaitingPage, WaitingRow } from "./WaitingList.ts"

/** A signal from outside. It is always an event, with or without a payload. */
export interface PostedSignal extends Omit<SignalRequest, "space"> {
  /** The caller's own id, of 1 to 512 characters. A second delivery of the same id gets the receipt of the first. */
  readonly id?: string | undefined
  /** The sender, which is part of the identity of a caller's id. Default `local`. A named sender without an own id gets a random one. */
  readonly principal?: string | undefined
  /** The label of the signal: atoms from the rules of the space. */
  readonly label?: ReadonlyArray<string> | undefined
}

/** The answer once a signal is durable. */
export interface Accepted {
  /** The event's id, which is also that of its receipt. */
  readonly id: string
  /** The beat that captured it; `undefined` while it waits. */
  readonly beat: number | undefined
  /** Whether the caller's id was known, so that no new handling runs. */
  readonly duplicate: boolean
}

/** The callbacks of a posted signal. `accepted` and `settled` are called once each, in either order, or `fail` is. */
export interface PostHears {
  /** The signal is durable. */
  readonly accepted?: (accepted: Accepted) => void
  /** All its handlings are over and durable. */
  readonly settled?: (receipt: Receipt) => void
  readonly fail: (error: SignalError) => void
}

/** The same callbacks for a reader. `settled` has no receipt of an event that its clearance withholds, and comes after `accepted` then. */
export interface ReaderHears {
  readonly accepted?: (accepted: Omit<Accepted, "beat">) => void
  readonly settled?: (receipt: ShownReceipt | undefined) => void
  readonly fail: (error: SignalError | SignalReserved | SignalBeyond) => void
}

/** A committed and durable value of a subscribed cell. */
export interface Observation {
  readonly beat: number
  readonly value: Value
  /** The reason why earlier values may be missing. The subscriber has to start over with this value. */
  readonly missed?: string
}

/** The options of a write from outside. */
export interface WriteOptions {
  /** Subscriptions with the same group do not receive the change. */
  readonly group?: string | undefined
  /** The tags of which the value has one, or `present` or `absent`. A tag is the ETag of HTTP without quotes. */
  readonly condition?: Condition | undefined
}

/** The timeout of a caller in milliseconds; 10,000 by default. */
export interface Waits {
  readonly wait?: number | undefined
}

export type { Denial, SeenValue as Seen, ShownHandling, ShownPage, ShownReceipt, ShownWaiting, WaitingPage, WaitingRow }
export type { BeatPage, CellPage, CellRequest, KeyPage, ListedCell, NamePage, Page }
export type { ClockStatus }
export type { DebugReport, FailedNode, GraphReport, SpaceDebug, SpaceGraph, TraceReport }
export type { ExternalChange, ChangedPlace }
export type { ChannelRow, Drain, DrainPage, DrainedCompletion, RequestDetails, RequestRow, SpaceIo }
export type { DeadLetter, DeadPage, OpenLetter }

/** The API of a ledger in a space. */
export type SpaceFace<F> = Client<F, ControlError, ReadError>

/** A control operation, and the beat that began it. */
export type Begun = AnswerOf<typeof Control.rollback>

/** The state of a whole space. All its locks are in memory, at most 1,001: those from outside, and that of a pause. */
export type SpaceStatus = Omit<AnswerOf<typeof Control.state>, "next">

/**
 * The control operations of a space. All but the locks and `hold` have a dossier and advance by one state per beat. The answer
 * follows once the first beat is durable. The end can be awaited or watched like that of any operation.
 *
 * @category models
 * @since 0.1.0
 */
export interface SpaceControl {
  readonly state: Effect.Effect<SpaceStatus>
  /** Locks `/data` and pauses the space: only control signals are captured. */
  readonly pause: () => Effect.Effect<Begun, ControlError>
  /** Restores all user data to its state after beat `to`, while the space is paused. */
  readonly rollback: (to: number) => Effect.Effect<Begun, ControlError>
  readonly resume: () => Effect.Effect<Begun, ControlError>
  /** Halts the space for good. A second call returns the operation of the first. */
  readonly shutdown: () => Effect.Effect<Begun, ControlError>
  /** Boots a halted space. */
  readonly restart: () => Effect.Effect<Begun, ControlError>
  /** Has a ledger do one of its commands. Returns the beat and the ledger's reply. */
  readonly command: (ledger: string, command: LedgerCommand) => Effect.Effect<Done, ControlError>
  /**
   * Locks a cell. Runs that write at or below it wait until it is unlocked, and writes from outside are refused. Timers of the
   * runtime, such as the time-out of a rendezvous with its event, ignore locks.
   */
  readonly lock: (cell: string) => Effect.Effect<number, ControlError>
  readonly unlock: (cell: string) => Effect.Effect<number, ControlError>
  readonly clock: Effect.Effect<ClockStatus, ReadError>
  /**
   * Takes the offset off the dates of later beats. Waits that began before end after the same time as without the reset.
   * Returns the offset; 0 without one.
   */
  readonly resetClock: () => Effect.Effect<{ readonly offset: number; readonly beat: number }, ControlError>
  /**
   * Runs beats by `step` alone, until `release` or the end of the process. Input is accepted and waits. The journal does not
   * record it.
   */
  readonly hold: Effect.Effect<SpaceStatus, ReadError>
  /** Lets beats run by themselves again. */
  readonly release: Effect.Effect<SpaceStatus, ReadError>
  /**
   * Lets requests, deliveries, timers and signals to other spaces out of a detached space, by the next beat. Returns the beat. A kind
   * that is dropped ends in its place: requests with `io/interrupted`, signals to other spaces as dead letters with `outbox/dropped`,
   * delayed signals as discarded, and due times of schedules without an event.
   */
  readonly releaseDetached: (drop?: ReadonlyArray<Drop>) => Effect.Effect<number, ControlError>
  /** The work that waits in a detached space for its release; `undefined` in any other space. */
  readonly detached: Effect.Effect<DetachedWork | undefined, ReadError>
}

/** A reader with its clearance. */
export interface Clearance {
  readonly name: string
  readonly atoms: Label
}

/** A reader, or another caller with a narrow view of a space. */
export interface Viewer extends Pick<Clearance, "name"> {
  /** The atoms that it may know: some, or all that the rules name. */
  readonly atoms: Label | "all"
  /** The kind of its holder: a reader of the configuration unless given, a token, or everybody without a credential. */
  readonly of?: "everybody" | "reader" | "token" | undefined
  /** The ids of cells at and below which it reads, and to which its signals are sent; all cells if absent. */
  readonly within?: ReadonlyArray<string> | undefined
  /** The scopes of cells that it knows beside what the whole space shares, such as `user:42`; all scopes if absent. */
  readonly scopes?: ReadonlyArray<string> | undefined
}

/**
 * The API of a reader with a clearance.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reader {
  /** The value at an address once its sources are settled, like `pull`. */
  readonly get: (text: string, options?: Waits) => Effect.Effect<Value, ReadError | Withheld | CellHeld>
  /** All names below a cell, except withheld ones. */
  readonly list: (id: string) => Effect.Effect<ReadonlyArray<string>, ReadError>
  /** The names below a cell, except withheld ones, a page at a time. A page can be short before the end. */
  readonly names: (id: string, page: Page) => Effect.Effect<NamePage, ReadError>
  /** The keys of the cells below a cell, except withheld ones. A page can be short before the end. */
  readonly below: (id: string, page: CellRequest) => Effect.Effect<KeyPage, ReadError>
  /** Fails with `Withheld` unless the clearance admits the address. */
  readonly admit: (text: string) => Effect.Effect<void, ReadError | Withheld>
  /** The values at an address, from now on or after a cursor. */
  readonly watch: (text: string, last?: string) => Stream.Stream<SeenValue, ReadError | Withheld>
  /** The receipt of an event, as far as the clearance admits it; `undefined` otherwise. */
  readonly receipt: (id: string) => Effect.Effect<ShownReceipt | undefined, ReadError>
  /**
   * Sends a signal in the reader's name. Fails with `SignalReserved` for a signal of the runtime, or one that a plugin reserves, and with
   * `SignalBeyond` for one that is not within its addresses.
   */
  readonly signal: (request: PostedSignal) => Effect.Effect<Omit<Accepted, "beat">, SignalError | SignalReserved | SignalBeyond>
  /** The same for hot paths, without Effect's overhead. Returns the call that cancels the callbacks. */
  readonly post: (request: PostedSignal, hears: ReaderHears) => () => void
  readonly blobPart: (hash: string, part: number) => Effect.Effect<BlobPart | undefined, ReadError | Withheld>
  /** The waiting list after a cursor, as far as the clearance admits it. */
  readonly waiting: (page: Page) => Effect.Effect<ShownPage, ReadError>
}

/** The parts of the API of a space for its ledgers. */
export type LedgerParts = { readonly [Name in keyof Faces]: SpaceFace<Faces[Name]> }

/** The parts of the API of a space that its slices make. */
export interface SpaceParts extends LedgerParts {
  readonly io: SpaceIo
  readonly graph: SpaceGraph
  readonly debug: SpaceDebug
}

/** The name of such a part. */
export type PartName = keyof SpaceParts

/**
 * One space: one cell tree, one heartbeat, one journal.
 *
 * @category models
 * @since 0.1.0
 */
export interface Space extends SpaceParts {
  readonly name: string
  /** Sends a signal. Returns once it is durable. */
  readonly signal: (request: PostedSignal) => Effect.Effect<Accepted, SignalError>
  /** The same for hot paths, without Effect's overhead. Returns the call that cancels the callbacks. */
  readonly post: (request: PostedSignal, hears: PostHears) => () => void
  /** Sends a signal. Returns once all its handlings are over and durable. */
  readonly handled: (request: PostedSignal) => Effect.Effect<Receipt, SignalError>
  /**
   * The receipt of an accepted event, by its id or by its own id; `undefined` for an unknown one. Fails with `IdAmbiguous` for an
   * own id of several events. So do all methods that take the id of an event.
   */
  readonly receipt: (id: string) => Effect.Effect<Receipt | undefined, ReadError>
  /** The receipts of the events that a text names: of the event with this id, or of the newest 20 with this own id. */
  readonly receipts: (text: string) => Effect.Effect<ReadonlyArray<Receipt>, ReadError>
  /** Waits until all handlings of an event are over and durable. */
  readonly settled: (id: string) => Effect.Effect<Receipt | undefined, ReadError>
  /**
   * Writes a cell from outside, by the next beat; `undefined` deletes it. Returns the beat, once durable. Fails with `CellChanged`
   * if the value at the address does not meet the condition in that beat.
   */
  readonly set: (address: string, value: unknown, options?: WriteOptions) => Effect.Effect<number, ControlError>
  /** Applies changes by another writer, by the next beat, all or none. The store of a space has no other writer. */
  readonly integrate: (change: ExternalChange) => Effect.Effect<number, ControlError>
  readonly bind: (cell: string, enzyme: string, options?: { readonly propagate?: boolean }) => Effect.Effect<number, ControlError>
  readonly unbind: (cell: string, enzyme: string) => Effect.Effect<number, ControlError>
  /** The dead letters after a cursor, a page at a time. */
  readonly dead: (page: Page) => Effect.Effect<DeadPage, ReadError>
  /** The waiting list after a sequence number, a page at a time, with reasons. */
  readonly waiting: (page: Page<number>) => Effect.Effect<WaitingPage, ReadError>
  /** A dead letter with its payload and message; `undefined` if there is none. */
  readonly letter: (id: string, enzyme: string) => Effect.Effect<OpenLetter | undefined, ReadError>
  /**
   * Redelivers a dead letter, by the next beat: to its enzyme alone or, for a chain that was too long, to all matching ones.
   * Returns the beat, once durable.
   */
  readonly redeliver: (id: string, enzyme: string) => Effect.Effect<number, ControlError | ReadError>
  readonly control: SpaceControl
  /** The store: its format, and the upgrade to a newer one. */
  readonly storage: SpaceStorage
  /**
   * Starts a piece of a node module, by the next beat, with a value for each input. Returns its name, once durable. Two equal
   * starts are one piece.
   */
  readonly start: (module: string, inputs?: { readonly [name: string]: unknown }) => Effect.Effect<string, ControlError>
  /** Stops a piece, by the next beat. Its derived cells remain. */
  readonly stop: (piece: string) => Effect.Effect<number, ControlError>
  /** Runs exactly one beat, even an empty one. Returns its number once it is durable. */
  readonly step: Effect.Effect<number, BeatAborted | SpaceStopped>
  /**
   * Waits until no beat is runnable and no work is in flight. It also waits for gates that delay an effect, a materializer, a
   * first run or a read of a handling. It does not wait for later beats or moments, for repeated runs of a computation, or for
   * long on restless nodes.
   */
  readonly idle: Effect.Effect<void, SpaceStopped>
  /** The newest committed value, once it is durable. Beat views and receipts are readable here too. */
  readonly get: (address: string) => Effect.Effect<Value, ReadError>
  /** The names of all documents directly below a cell, read a page at a time. */
  readonly list: (id: string) => Effect.Effect<ReadonlyArray<string>, ReadError>
  /** The names of the documents directly below a cell, a page at a time. A page can be short before the end. */
  readonly names: (id: string, page: Page) => Effect.Effect<NamePage, ReadError>
  /** The keys of the documents below a cell, after one of them, up to a limit, read a page at a time. */
  readonly below: (id: string, page: Page) => Effect.Effect<ReadonlyArray<string>, ReadError>
  /** A page of cells below a cell, at most 400; with `size` also their values up to so many characters, and at most 200. */
  readonly cells: (id: string, page: CellRequest & { readonly size?: number }) => Effect.Effect<CellPage, ReadError>
  /** The beats before one, newest first, a page at a time: at most 400, of the 10,000 numbers before it. */
  readonly beatsBefore: (before: number, limit: number) => Effect.Effect<BeatPage, ReadError>
  /**
   * The value at an address now, and after each beat that changes it. With `after`, the beat of the last value seen, it begins
   * with the missed changes, each once. Later changes made under `changeGroup` alone are left out.
   */
  readonly watch: (address: string, options?: { readonly after?: number | undefined; readonly changeGroup?: string | undefined }) =>
    Stream.Stream<Observation, ReadError>
  /**
   * The value at an address with settled sources, as of the beat that took the request or a later one. Fails with `CellHeld` after
   * the timeout.
   */
  readonly pull: (address: string, options?: Waits) => Effect.Effect<Value, ReadError | CellHeld>
  /** The space as a reader with a clearance sees it. */
  readonly reader: (viewer: Viewer) => Reader
  /** The newest 400 denials since the space was opened, oldest first. */
  readonly denials: Effect.Effect<ReadonlyArray<Denial>>
  /** The number of the newest durable beat; -1 before the first. */
  readonly head: Effect.Effect<number>
  readonly journal: (beat: number) => Effect.Effect<JournalRow | undefined, ReadError>
  /** Verifies, replays or explains the durable history. One session at a time, in turns with the beats. */
  readonly examine: <A>(look: (history: HistorySource) => A | Promise<A>) => Effect.Effect<A, ReadError | HistoryBusy>
  /** Keeps the present state beside later beats, as one durable beat has it, until the scope closes. */
  readonly pin: Effect.Effect<Pin, ReadError, Scope.Scope>
  /** Beats as they become durable, from now on. */
  readonly beats: Stream.Stream<number>
  /** Receives content for `/cas/<sha256>`; `store` makes it durable. */
  readonly content: Effect.Effect<{
    readonly writer: BlobWriter
    readonly store: (hash: string) => Effect.Effect<void, SpaceStopped | PersistenceError>
  }, SpaceStopped>
  /** Receives content of any size into the content store, as `/cas/<sha256>`, and makes it durable. */
  readonly receive: (chunks: AsyncIterable<Uint8Array>) => Effect.Effect<{ readonly hash: string; readonly size: number }, ReadError>
  readonly blob: (hash: string) => Effect.Effect<Uint8Array | undefined, ReadError>
  /** A part of content, of at most 1 MiB; `undefined` if the content is absent. */
  readonly blobPart: (hash: string, part: number) => Effect.Effect<BlobPart | undefined, ReadError>
}
