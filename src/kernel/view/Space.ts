/**
 * The face of one space: what the ingress, the command line and tests may do
 * with it.
 *
 * All that comes in here is captured by a beat and journaled before it is used;
 * nothing is answered before it is durable. (Architecture, sections 1.1 and 8.)
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Label } from "../../cell/Label.ts"
import type { Value } from "../../cell/Value.ts"
import type { PersistenceError } from "../../persistence/PersistenceError.ts"
import type { BlobPart, BlobWriter, JournalRow } from "../../persistence/Persistence.ts"
import type { Instance } from "../../flow/Instance.ts"
import type { Entry } from "../../rendezvous/Entry.ts"
import type { Continuation, FlowBudget, FlowRequest, OperationRequest, RendezvousSpec, SignalRequest, StateNote } from "../../stage/Launch.ts"
import type { Finding, GraphView, Stats } from "../../scheduler/Introspection.ts"
import type { Kind, Lines } from "../../scheduler/Trace.ts"
import type { Archive } from "../beat/Archive.ts"
import type { ControlError, ReadError, SignalError } from "./Expected.ts"
import type { Foreign, ForeignChange } from "../model/Foreign.ts"
import type { DeadLetter, DeadPage, OpenLetter } from "../beat/DeadLetter.ts"
import type { OperationDossier, OperationPage, OperationRow } from "../model/Dossiers.ts"
import type { Receipt } from "../beat/Receipts.ts"
import type { Denial, Seen, ShownHandling, ShownPage, ShownReceipt, ShownWaiting } from "./Shown.ts"
import type { BeatAborted, CellHeld, HistoryBusy, SpaceStopped, Withheld } from "../model/SpaceError.ts"
import type { WaitingPage, WaitingRow } from "./WaitingList.ts"

/** A signal from outside. It is always an event, payload or not. */
export interface PostedSignal extends Omit<SignalRequest, "space"> {
  /** The caller's own id: a second delivery with the same one is answered by the first one's receipt. */
  readonly id?: string | undefined
  /** Who sends it; part of what makes a caller's id unique. Default `local`. */
  readonly principal?: string | undefined
  /** What whoever takes it is told by it: atoms that the rules of the space know. */
  readonly label?: ReadonlyArray<string> | undefined
}

/** What is answered once a signal is durable. */
export interface Accepted {
  /** The event's id, under which its receipt is found. */
  readonly id: string
  /** The beat that captured it; `undefined` while it waits. */
  readonly beat: number | undefined
  /** Whether the caller's id was known already, so that nothing new runs. */
  readonly duplicate: boolean
}

/** Who hears what became of a posted signal: each of the two that are given once, in whichever order they come true, or `fail`. */
export interface PostHears {
  /** It is durable. */
  readonly accepted?: (accepted: Accepted) => void
  /** All its handlings are over and durable. */
  readonly settled?: (receipt: Receipt) => void
  readonly fail: (error: SignalError) => void
}

/** A committed and durable value of a watched cell. */
export interface Observation {
  readonly beat: number
  readonly value: Value
  /** Why the watcher may have missed values before this one, where it may have; it then has to begin anew with this one. */
  readonly missed?: string
}

/** For how many milliseconds a caller waits; 10,000 unless it says. */
export interface Waits {
  readonly wait?: number | undefined
}

export type { Denial, Seen, ShownHandling, ShownPage, ShownReceipt, ShownWaiting, WaitingPage, WaitingRow }
export type { Foreign, ForeignChange }
export type { DeadLetter, DeadPage, OpenLetter, OperationDossier, OperationPage, OperationRow }

/**
 * The operations of a space. What is asked of them is done by the next beat, and answered with its number when that is durable.
 *
 * To follow one, watch its cell, `/rt/ops/<oid>`. What is refused changes nothing.
 *
 * @category models
 * @since 0.1.0
 */
export interface SpaceOperations {
  readonly start: (request: OperationRequest) => Effect.Effect<{ readonly oid: string; readonly beat: number }, ControlError>
  readonly setState: (oid: string, state: string, note?: StateNote) => Effect.Effect<number, ControlError>
  /** Sends a signal to the operation's cell, for whoever is bound there, once it is in a state or closed with a status. */
  readonly await: (oid: string, want: string, then: Continuation) => Effect.Effect<number, ControlError>
  /** Closes one with `sts:ok`, `sts:fail` or `sts:cnl`; a second time with the same status changes nothing. */
  readonly close: (oid: string, status: string, summary?: unknown) => Effect.Effect<number, ControlError>
  /** Closes one with `sts:cnl`. */
  readonly cancel: (oid: string, summary?: unknown) => Effect.Effect<number, ControlError>
  /** The operations after a cursor, a page at a time. */
  readonly list: (page: { readonly after?: string | undefined; readonly limit: number }) => Effect.Effect<OperationPage, ReadError>
  /** One with its whole dossier; `undefined` where there is none. */
  readonly get: (oid: string) => Effect.Effect<OperationDossier | undefined, ReadError>
}

/** A control operation that was begun, and the beat that began it. */
export interface Begun {
  readonly oid: string
  readonly beat: number
}

/** How a space stands as a whole. */
export interface SpaceState {
  /** `gated` while a pause or a shutdown has begun and is not over. */
  readonly state: "running" | "gated" | "paused" | "halted"
  /** Whether no beat runs by itself: what comes is taken, and waits. */
  readonly held: boolean
  /** The control operation under way. */
  readonly control: { readonly verb: string; readonly oid: string } | null
  /** How many signals wait for the gate to open. */
  readonly parked: number
  /** The beat that the space was rolled back to, until it is resumed. */
  readonly view_hzn: number | null
  readonly boot_oid: string | null
  readonly shdn_oid: string | null
  readonly locks: ReadonlyArray<{ readonly cell: string; readonly by: string }>
}

/**
 * What can be asked of a space as a whole. Each but the locks and `hold` is an operation with a dossier, which comes through one state
 * in a beat; it is answered when the beat that begins it is durable, and its end can be awaited or watched like any other's.
 *
 * @category models
 * @since 0.1.0
 */
export interface SpaceControl {
  readonly state: Effect.Effect<SpaceState>
  /** Locks `/data` and closes the gate: what has nothing to do with control waits. */
  readonly pause: () => Effect.Effect<Begun, ControlError>
  /** Makes all user data what it was after beat `to`, while the space is paused. */
  readonly rollback: (to: number) => Effect.Effect<Begun, ControlError>
  readonly resume: () => Effect.Effect<Begun, ControlError>
  /** Closes the gate for good; a second time it answers the first one's operation. */
  readonly shutdown: () => Effect.Effect<Begun, ControlError>
  /** Boots a space that was shut down. */
  readonly restart: () => Effect.Effect<Begun, ControlError>
  /**
   * Locks a cell: runs that write there or below wait until it is unlocked, and writes from outside are refused.
   * What the runtime itself notes of time that passes, such as the time-out of a rendezvous and its event, no lock holds up.
   */
  readonly lock: (cell: string) => Effect.Effect<number, ControlError>
  readonly unlock: (cell: string) => Effect.Effect<number, ControlError>
  /** Lets no beat run but by `step`, for as long as the process lives. What comes is taken, and waits. Nothing of it is in the journal. */
  readonly hold: Effect.Effect<SpaceState, ReadError>
  /** Lets beats run by themselves again. */
  readonly release: Effect.Effect<SpaceState, ReadError>
}

/** A graph with what is counted in it and what stands out. */
export interface GraphReport extends GraphView {
  readonly stats: Stats
  readonly findings: ReadonlyArray<Finding>
}

/** What was taken down last of each kind that is traced, oldest first. */
export interface TraceReport {
  readonly kinds: ReadonlyArray<Kind>
  readonly run: ReadonlyArray<Lines["run"]>
  readonly invalid: ReadonlyArray<Lines["invalid"]>
  readonly pass: ReadonlyArray<Lines["pass"]>
}

/**
 * The reactive graph of a space. To look at it or to trace it changes no run and no order.
 *
 * @category models
 * @since 0.1.0
 */
export interface SpaceGraph {
  /** All nodes and who reads whom, as of the newest beat. */
  readonly view: Effect.Effect<GraphReport, ReadError>
  /** Takes down from now on what the scheduler does, by these kinds and no others; in memory, the newest 1,000 lines of each. */
  readonly trace: (kinds: ReadonlyArray<Kind>) => Effect.Effect<void, ReadError>
  readonly traces: Effect.Effect<TraceReport, ReadError>
}

/** How a space is stepped through. */
export interface DebugReport {
  /** The newest durable beat; -1 before the first. */
  readonly beat: number
  /** The nodes before whose runs the attached debugger stops the process. */
  readonly breakpoints: ReadonlyArray<string>
  /** Whether beats run by `step` alone. */
  readonly held: boolean
}

/**
 * How a space is stepped through while it is developed. Nothing of it is in the journal, and nothing outlives the process.
 *
 * @category models
 * @since 0.1.0
 */
export interface SpaceDebug {
  readonly view: Effect.Effect<DebugReport, ReadError>
  /** Has whoever watches runs told before each run of these nodes, and of no others: under `systole dev` the attached debugger stops there. */
  readonly breakAt: (nodes: ReadonlyArray<string>) => Effect.Effect<void, ReadError>
}

/** A rendezvous as it stands: its entry, with its numbers as such. */
export interface RendezvousRow extends Entry {
  readonly key: string
}

/** Rendezvous in the order of their keys, and where to go on; `undefined` at the end. */
export interface RendezvousPage {
  readonly rendezvous: ReadonlyArray<RendezvousRow>
  readonly next: string | undefined
}

/**
 * The rendezvous of a space. What is asked of them is done by the next beat, and answered with its number when that is durable.
 *
 * To follow one, watch its cell, `/data/rv/<key>`. What is refused changes nothing.
 *
 * @category models
 * @since 0.1.0
 */
export interface SpaceRendezvous {
  /** Begins one; answers the token with which a worker reports on it, and on no other. It is told this once, and kept nowhere. */
  readonly spawn: (spec: RendezvousSpec) => Effect.Effect<{ readonly key: string; readonly token: string; readonly beat: number }, ControlError>
  /** Mints another token for one, in place of the one that it had. */
  readonly claim: (key: string) => Effect.Effect<{ readonly key: string; readonly token: string; readonly beat: number }, ControlError>
  readonly resched: (key: string, delta: number) => Effect.Effect<number, ControlError>
  readonly release: (key: string) => Effect.Effect<number, ControlError>
  readonly kill: (key: string, how?: { readonly mode?: string; readonly wait?: number }) => Effect.Effect<number, ControlError>
  /** Takes in a result; with a `token`, only where that is the one of this key. */
  readonly report: (key: string, telemetry?: unknown, by?: { readonly token?: string | undefined }) => Effect.Effect<number, ControlError>
  /** The rendezvous after a cursor, a page at a time. */
  readonly list: (page: { readonly after?: string | undefined; readonly limit: number }) => Effect.Effect<RendezvousPage, ReadError>
  /** `undefined` where there is none. */
  readonly get: (key: string) => Effect.Effect<RendezvousRow | undefined, ReadError>
}

/** An instance of a flow as it stands. */
export interface InstanceRow extends Instance {
  readonly inst: string
}

/** Instances in the order of their ids, and where to go on; `undefined` at the end. */
export interface InstancePage {
  readonly instances: ReadonlyArray<InstanceRow>
  readonly next: string | undefined
}

/**
 * The flows of a space. What is asked of them is done by the next beat, and answered with its number when that is durable.
 *
 * To follow an instance, watch its cell, `/data/flow/inst/<id>`. What is refused changes nothing.
 *
 * @category models
 * @since 0.1.0
 */
export interface SpaceFlows {
  readonly start: (request: FlowRequest) => Effect.Effect<{ readonly inst: string; readonly beat: number }, ControlError>
  readonly pause: (inst: string) => Effect.Effect<number, ControlError>
  readonly resume: (inst: string) => Effect.Effect<number, ControlError>
  readonly cancel: (inst: string) => Effect.Effect<number, ControlError>
  readonly budget: (inst: string, budget: FlowBudget) => Effect.Effect<number, ControlError>
  /** The instances after a cursor, a page at a time. */
  readonly list: (page: { readonly after?: string | undefined; readonly limit: number }) => Effect.Effect<InstancePage, ReadError>
  /** `undefined` where there is none. */
  readonly get: (inst: string) => Effect.Effect<InstanceRow | undefined, ReadError>
}

/** Who reads, and what it may learn. */
export interface Clearance {
  readonly name: string
  readonly atoms: Label
}

/**
 * What a reader is shown of a space, and may do there.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reader {
  /** The value at an address, once all that it is derived from is settled, like `pull`. */
  readonly get: (text: string, options?: Waits) => Effect.Effect<Value, ReadError | Withheld | CellHeld>
  /** The names below a cell, but those that are withheld. */
  readonly list: (id: string) => Effect.Effect<ReadonlyArray<string>, ReadError>
  readonly below: (id: string, page: { readonly after?: string | undefined; readonly limit: number }) => Effect.Effect<ReadonlyArray<string>, ReadError>
  /** Fails where the reader may not know what lies at an address. */
  readonly admit: (text: string) => Effect.Effect<void, ReadError | Withheld>
  /** What lies at an address, from now on or after a cursor. */
  readonly watch: (text: string, last?: string) => Stream.Stream<Seen, ReadError | Withheld>
  /** What became of an event, as far as the reader may learn it; `undefined` for one that it may not know. */
  readonly receipt: (id: string) => Effect.Effect<ShownReceipt | undefined, ReadError>
  /** The same when all handlings of the event are over. */
  readonly settled: (id: string) => Effect.Effect<ShownReceipt | undefined, ReadError>
  /** Takes a signal in the reader's name. */
  readonly signal: (request: PostedSignal) => Effect.Effect<{ readonly id: string; readonly duplicate: boolean }, SignalError>
  readonly blobPart: (hash: string, part: number) => Effect.Effect<BlobPart | undefined, ReadError | Withheld>
  /** The waiting list after a cursor, as far as the reader may learn it. */
  readonly waiting: (page: { readonly after?: string | undefined; readonly limit: number }) => Effect.Effect<ShownPage, ReadError>
}

/**
 * One space: one cell tree, one heartbeat, one journal.
 *
 * @category models
 * @since 0.1.0
 */
export interface Space {
  readonly name: string
  /** Takes a signal; answered when it is durable. */
  readonly signal: (request: PostedSignal) => Effect.Effect<Accepted, SignalError>
  /** The same for hot paths, without Effect's machinery. Answers how to hear no more of it. */
  readonly post: (request: PostedSignal, hears: PostHears) => () => void
  /** Takes a signal; answered when all its handlings are over and durable. */
  readonly handled: (request: PostedSignal) => Effect.Effect<Receipt, SignalError>
  /** The receipt of an event that was accepted; `undefined` for an id that is not known. */
  readonly receipt: (id: string) => Effect.Effect<Receipt | undefined, ReadError>
  /** Waits until all handlings of an event are over and durable. */
  readonly settled: (id: string) => Effect.Effect<Receipt | undefined, ReadError>
  /**
   * Writes a cell from outside, by the next beat; `undefined` deletes. Answers the beat, when durable. Who watches under
   * the same `group` does not hear of it.
   */
  readonly set: (address: string, value: unknown, options?: { readonly group?: string }) => Effect.Effect<number, ControlError>
  /** Takes in what another writer did, by the next beat, all of it or nothing: nobody else writes what the store of a space holds. */
  readonly integrate: (foreign: Foreign) => Effect.Effect<number, ControlError>
  readonly bind: (cell: string, enzyme: string, options?: { readonly propagate?: boolean }) => Effect.Effect<number, ControlError>
  readonly unbind: (cell: string, enzyme: string) => Effect.Effect<number, ControlError>
  /** The dead letters after a cursor, a page at a time. */
  readonly dead: (page: { readonly after?: string | undefined; readonly limit: number }) => Effect.Effect<DeadPage, ReadError>
  /** The waiting list after a number, a page at a time, with reasons. */
  readonly waiting: (page: { readonly after?: number | undefined; readonly limit: number }) => Effect.Effect<WaitingPage, ReadError>
  /** One dead letter with its payload and message; `undefined` where there is none. */
  readonly letter: (id: string, enzyme: string) => Effect.Effect<OpenLetter | undefined, ReadError>
  /** Sends a dead letter again, by the next beat: exactly its enzyme runs anew, or, where its chain was too long, all that take the signal. Answers the beat, when durable. */
  readonly redeliver: (id: string, enzyme: string) => Effect.Effect<number, ControlError>
  readonly ops: SpaceOperations
  readonly rv: SpaceRendezvous
  readonly flow: SpaceFlows
  readonly control: SpaceControl
  readonly graph: SpaceGraph
  readonly debug: SpaceDebug
  /** Starts a piece of a node module, by the next beat, with a value for each of its inputs; answers its name, when durable. The same start twice is one piece. */
  readonly start: (module: string, inputs?: { readonly [name: string]: unknown }) => Effect.Effect<string, ControlError>
  /** Stops a piece, by the next beat; what it derived stays. */
  readonly stop: (piece: string) => Effect.Effect<number, ControlError>
  /** Runs exactly one beat, even an empty one, and answers its number when it is durable. */
  readonly step: Effect.Effect<number, BeatAborted | SpaceStopped>
  /**
   * Waits until nothing is runnable, nothing in flight, and no gate holds back an effect, a materializer, a first run or what a handling reads. What waits for a
   * later beat or moment does not hold it, nor another run of a computation, nor for long what does not come to rest.
   */
  readonly idle: Effect.Effect<void, SpaceStopped>
  /** The newest committed value, durable before it is answered. Ledgers and receipts can be read here too. */
  readonly get: (address: string) => Effect.Effect<Value, ReadError>
  /** The names of the documents directly below a cell. */
  readonly list: (id: string) => Effect.Effect<ReadonlyArray<string>, ReadError>
  /** The keys of all documents below a cell, a page at a time. */
  readonly below: (id: string, page: { readonly after?: string; readonly limit: number }) => Effect.Effect<ReadonlyArray<string>, ReadError>
  /**
   * The value at an address now, and again after each beat that changes it. With `after`, the beat of the last one seen, only what changed
   * since, each value once; what comes from then on and was written under the group `changeGroup` alone is not told.
   */
  readonly watch: (address: string, options?: { readonly after?: number | undefined; readonly changeGroup?: string | undefined }) => Stream.Stream<Observation, ReadError>
  /** The value at an address as of the beat that took this, or a later one, in which all that it is derived from is settled; `CellHeld` where that takes longer than one waits. */
  readonly pull: (address: string, options?: Waits) => Effect.Effect<Value, ReadError | CellHeld>
  /** The space as a reader sees it that may not learn everything. */
  readonly reader: (clearance: Clearance) => Reader
  /** Who was refused what, the newest 1,000 since the space was opened, oldest first. */
  readonly denials: Effect.Effect<ReadonlyArray<Denial>>
  /** The number of the newest beat that is durable; -1 before the first. */
  readonly head: Effect.Effect<number>
  readonly journal: (beat: number) => Effect.Effect<JournalRow | undefined, ReadError>
  /** Looks back at what is durable: to verify, replay or explain it. One at a time, and in turns with the beats. */
  readonly examine: <A>(look: (archive: Archive) => A | Promise<A>) => Effect.Effect<A, ReadError | HistoryBusy>
  /** Beats as they become durable, from now on. */
  readonly beats: Stream.Stream<number>
  /** Receives content for `/cas/<sha256>`; `store` makes it durable. */
  readonly content: Effect.Effect<{ readonly writer: BlobWriter; readonly store: (hash: string) => Effect.Effect<void, SpaceStopped | PersistenceError> }>
  readonly blob: (hash: string) => Effect.Effect<Uint8Array | undefined, ReadError>
  /** A part of content, of at most 1 MiB; `undefined` where there is no such content. */
  readonly blobPart: (hash: string, part: number) => Effect.Effect<BlobPart | undefined, ReadError>
}
