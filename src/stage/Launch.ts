/**
 * Launches: what a run asks for beside its writes.
 *
 * They are plain data inside the run's transaction: they live and die with it,
 * and the beat applies them at its commit. (Architecture, section 11; seed 002,
 * section 7.6.)
 *
 * @module
 */
import * as Schema from "effect/Schema"
import type { Address } from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"
import type { Severity } from "../cell/Severity.ts"

/**
 * When a delayed signal is due: at a beat's number, a number of beats from now,
 * or a number of milliseconds from now.
 *
 * @category models
 * @since 0.1.0
 */
export type At = { readonly beat: number } | { readonly beats: number } | { readonly ms: number }

/**
 * How a pause and a rollback take a signal: `control` runs even while the space is paused; `retain`, as unless given, waits
 * until it is resumed; `discard` waits as well, and is dropped where the space is rolled back.
 *
 * @category models
 * @since 0.1.0
 */
export type Qos = "control" | "retain" | "discard"

/**
 * A request to act: `signal` says what is asked, `target` says where. One of the two must be there.
 *
 * Without a payload it is an impulse, which coalesces with equal ones of its
 * beat; with one it is an event, which is handled exactly once.
 *
 * @category models
 * @since 0.1.0
 */
export interface SignalRequest {
  /** A path such as `/signals/image/thumbnail`. */
  readonly signal?: string | undefined
  /** The address of a cell such as `/data/assets/img123`. */
  readonly target?: string | undefined
  readonly payload?: unknown
  readonly at?: At | undefined
  /**
   * The space that it goes to; its own unless given. To another one it leaves when the beat that sent it is durable,
   * arrives there as an event, and is handled once. A wait counts from its arrival.
   */
  readonly space?: string | undefined
  readonly qos?: Qos | undefined
}

/** A signal that a run sends, checked and ready for the beat to number. */
export interface Emission {
  readonly id: string
  readonly signal: string | undefined
  readonly target: string | undefined
  readonly payload: Document | undefined
  readonly at: At | undefined
  /** The space that it goes to, where it names one. */
  readonly space?: string | undefined
  readonly qos?: Qos | undefined
}

/** A binding or its withdrawal, asked for by a run. */
export interface BindingChange {
  readonly cell: string
  readonly enzyme: string
  readonly propagate: boolean
  /** Withdraws the name here and masks what ancestors give. */
  readonly tombstone: boolean
}

/**
 * A run asked for something that this runtime is composed without.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotProvided extends Schema.TaggedError<NotProvided>()("NotProvided", { verb: Schema.String, service: Schema.String }) {
  readonly code = "service/absent"
  override get message() {
    return `${this.verb} needs the service ${this.service}, and this runtime is composed without it. Add its layer, or do without the call`
  }
}

/** What an operation is to do. */
export interface OperationRequest {
  /** What is done: names such as `op/render`. */
  readonly verb: string
  /** What it is done to, as text. */
  readonly target: string
  /** `opm:direct` for work that starts and closes, `opm:states` where the states between are of interest. */
  readonly mode: "opm:direct" | "opm:states"
  readonly payload?: unknown
  /** Beats that it is meant to take. It is written down, and nothing ends it. */
  readonly ttl?: number
  /** The run of a pipeline that it belongs to: ids by their names. Whoever it continues or times out for finds them as `event.pipeline`. */
  readonly pipeline?: Pipeline
}

/** The ids of a run of a pipeline, such as `{ pipeline_id, stage_id, dag_run_id, hop_index }`. */
export type Pipeline = Readonly<Record<string, string | number>>

/** What goes with a state. */
export interface StateNote {
  /** A whole number; 0 unless given. */
  readonly code?: number
  readonly note?: string
}

/** What follows once an operation is where it is awaited. */
export interface Continuation {
  /** The signal that is sent to the operation's cell. */
  readonly signal: string
  /** Beats after which `/op/tmo` is sent in its place; 0, as unless given, for never. */
  readonly ttl?: number
  readonly payload?: unknown
}

/**
 * Long-running work with a dossier under `/rt/ops`. (Seed 000, "OPS/STATES".)
 *
 * What is asked here takes effect with the run that asks it, or not at all, and
 * the run's own reads see it at once.
 *
 * @example An operation that is started, and awaited
 * ```ts
 * import { Enzyme } from "systole"
 *
 * export default Enzyme.make({
 *   name: "render",
 *   query: "/signals/render/*",
 *   run: (tx, event) => {
 *     if (event.signal === "/signals/render/done") return tx.set("/data/rendered", tx.beat)
 *     const oid = tx.op.start({ verb: "op/render", target: "/data/scene", mode: "opm:states" })
 *     tx.op.await(oid, "sts:ok", { signal: "/signals/render/done", ttl: 100 })
 *     return oid
 *   }
 * })
 * ```
 */
export interface Operations {
  /**
   * Starts one, in the state `ist:run`; answers its id.
   *
   * @throws InvalidOperation
   */
  readonly start: (request: OperationRequest) => string
  /** Sets the state of one that is open. False for one that is unknown or closed, and for what is no state: nothing changes. */
  readonly setState: (oid: string, state: string, note?: StateNote) => boolean
  /**
   * Sends a signal once the operation is in a state, or closed with a status. The enzyme that asks takes signals at the operation's cell meanwhile.
   *
   * @throws InvalidOperation, OperationAbsent, AwaitUnheard
   */
  readonly await: (oid: string, want: string, then: Continuation) => void
  /** Closes one for good. True where it is closed so already; false for one that is unknown or closed otherwise, and for what is no status. */
  readonly close: (oid: string, status: "sts:ok" | "sts:fail" | "sts:cnl", summary?: unknown) => boolean
  /** `oid=… state=… closed=0|1 status=… watchers=<n>`; `undefined` for one that is unknown. */
  readonly get: (oid: string) => string | undefined
}

/** What a run asks of an operation beside the writes to its dossier: entries that are numbered when the run is merged. */
export type OperationLaunch =
  | { readonly kind: "state"; readonly oid: string; readonly state: string; readonly code: number; readonly note: string | undefined }
  | {
    readonly kind: "close"
    readonly oid: string
    readonly state: string
    readonly code: number
    readonly note: string | undefined
    readonly status: string
    /** Whether it makes an entry in the history: the state may be the newest one already. */
    readonly entry: boolean
  }
  | {
    readonly kind: "await"
    readonly oid: string
    readonly want: string
    readonly ttl: number
    readonly signal: string
    readonly payload: Document | undefined
    /** The enzyme that awaits. */
    readonly enzyme: string
  }

/**
 * What went wrong, as a run tells of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Report {
  /** `sev:fatal` shuts the space down. */
  readonly severity: Severity
  /** What kind of thing: names such as `order/stuck`. */
  readonly topic: string
  /** What happened, in at most 2000 characters. */
  readonly note: string
  /** A stable code; the topic unless given. */
  readonly code?: string
  /** The address of the cell that it is about. */
  readonly subject?: string
  readonly payload?: unknown
  /** The id of an operation that this is about: `sev:fatal`, `sev:crit` and `sev:usage` close it with `sts:fail`. */
  readonly attach?: string
  /** Whether `/CEP:sig_cei/<severity>` is sent whoever listens; else it is where an enzyme takes it. */
  readonly signal?: boolean
}

/** A report, checked and ready for the beat to take in. */
export interface ReportLaunch {
  readonly severity: Severity
  readonly topic: string
  readonly note: string
  readonly code: string
  readonly subject: Address | undefined
  readonly payload: Document | undefined
  readonly attach: string | undefined
  readonly signal: boolean
}

/**
 * What a rendezvous is to be. Beats are whole numbers, or their decimal texts; those that are counted from another one
 * take their time by the tempo of the space, too, however fast it beats. What is left out is taken from the cell
 * `/defaults/<prof>`, and else as said here.
 */
export interface RendezvousSpec {
  /** One name, such as `job17` or `app:job17`. An entry of the same key is replaced, but not in the beat in which it completes. */
  readonly key: string
  /**
   * `rv-fixed` (default) is due once; `rv-epoch` again `epoch_k` beats after each completion; `rv-cas` is reported with content;
   * `observer` is only looked at, and never late or over; of several `spec` with one `inst_id` the first that is applied ends the others.
   */
  readonly prof?: "rv-fixed" | "rv-epoch" | "rv-cas" | "observer" | "spec"
  /** The beat from which the result is expected; or that many beats from now. Default: now. */
  readonly due?: number | string
  readonly due_off?: number | string
  /** The beat at which it ends, reported or not; or that many beats after `due`. 0, the default, for never. */
  readonly deadline?: number | string
  readonly deadl_off?: number | string
  /** How often it is put off when it is late, at most 1000 times, and by how many beats each time. Without, it waits for its deadline. */
  readonly max_grace?: number | string
  readonly grace_delta?: number | string
  /** What follows when its grace is used up. Default `timeout`. */
  readonly on_miss?: "timeout" | "kill" | "grace" | "ignore" | "quarantine"
  readonly epoch_k?: number | string
  readonly kill_mode?: string
  readonly kill_wait?: number | string
  readonly cas_hash?: string
  /** The signal that its completion sends. Default `CEP:sig_rv/<tag of the key>`. */
  readonly signal_path?: string
  /** Who is to hear of it: one name such as `order:17`. */
  readonly inst_id?: string
  /** What the work begins with, of which a fingerprint is kept; or that fingerprint. */
  readonly input?: unknown
  readonly input_fp?: number | string
  /** What is known of it so far: fields. */
  readonly telemetry?: Readonly<Record<string, unknown>>
}

/**
 * Meetings with work outside the beat, under `/data/rv`. (Seed 001.)
 *
 * What is asked here takes effect with the run that asks it, or not at all. Each completion (`applied`, `timeout` or
 * `killed`) writes one event to `/data/inbox/flow/inst_event/<key>` and sends the entry's signal there for the next beat,
 * where enzymes that are bound at that cell or above it take it.
 *
 * @example Work for somebody outside, with two graces of ten beats
 * ```ts
 * import { Enzyme } from "systole"
 *
 * export default [
 *   Enzyme.make({
 *     name: "ask",
 *     query: "/signals/ask/:job",
 *     run: (tx, event) => void tx.rv.spawn({ key: event.params["job"]!, due_off: 100, max_grace: 2, grace_delta: 10 })
 *   }),
 *   Enzyme.make({
 *     name: "answered",
 *     query: "/CEP:sig_rv/:job",
 *     bind: ["/data/inbox/flow/inst_event"],
 *     run: (tx, event) => tx.set(`/data/answers/${event.params["job"]}`, event.payload)
 *   })
 * ]
 * ```
 */
export interface Rendezvous {
  /**
   * Begins one, in the state `pending`; answers the token with which a worker outside reports on it, and on no other.
   * What a run writes, sends or returns is in the journal; a token that is not to be there is minted anew for its worker, over HTTP.
   *
   * @throws NoSpec, InvalidRendezvous, LedgerMissing, RendezvousFull, RendezvousUntold
   */
  readonly spawn: (spec: RendezvousSpec) => string
  /** Puts one off by so many beats, or brings it forward. False for one that is unknown or over; true for 0, whatever the key. */
  readonly resched: (key: string, delta: number) => boolean
  /** Ends one: at its next scan, or `wait` scans on, a beat's time each, at most 1000. False for one that is unknown or over. */
  readonly kill: (key: string, how?: { readonly mode?: string; readonly wait?: number }) => boolean
  /** Takes in its result: fields. False for one that is unknown or over. With `rv-cas`, the field `cas_hash` names content that is kept. */
  readonly report: (key: string, telemetry?: Readonly<Record<string, unknown>>) => boolean
  /**
   * The key of the entry that a signal path stands for: its last name where an entry has that key, else the key of the
   * one open entry whose completion sends that signal. `undefined` where there is none, and where there are several.
   */
  readonly keyOf: (signal: string) => string | undefined
}

/** What an instance of a flow may spend: steps in all, and beats from now on, at most 2^43; 0, as unless given, for any. */
export interface FlowBudget {
  readonly steps?: number | undefined
  readonly beats?: number | undefined
}

/** What is started. */
export interface FlowRequest extends FlowBudget {
  readonly flow: string
  readonly input?: unknown
  /** The id of the instance: one name such as `order17`. One is minted unless given. */
  readonly inst?: string | undefined
}

/** The id of an instance that was started, or the code of why not. */
export type FlowAnswer = { readonly inst: string } | { readonly refused: string }

/**
 * Flows under way, under `/data/flow/inst`. (Seed 001, "Pipeline integration".)
 *
 * What is asked here takes effect with the run that asks it, or not at all. An instance that is over sends
 * `/CEP:sig_inst/<state>` to its cell, for enzymes that are bound there or above, and the rendezvous that it spawned are ended with it.
 */
export interface Flows {
  /**
   * Starts an instance of a flow; answers its id. Its input has to leave room for its steps in a cell of 1,048,576 characters, of which 2,048 are kept for how it ends.
   *
   * @throws InvalidFlowRequest, FlowUnknown, FlowsFull, InstanceExists, InvalidValue
   */
  readonly start: (flow: string, input?: unknown, options?: FlowBudget & Pick<FlowRequest, "inst">) => string
  /** Starts an instance as somebody else asks for it. What is refused starts nothing, and does not abort the run. */
  readonly request: (request: FlowRequest) => FlowAnswer
  /** Has an instance take no more steps. What it hears meanwhile is kept. False for one that is unknown, over or paused. */
  readonly pause: (inst: string) => boolean
  /** Has a paused instance go on. False for any other. */
  readonly resume: (inst: string) => boolean
  /** Ends an instance. False for one that is unknown or over. */
  readonly cancel: (inst: string) => boolean
  /** Gives an instance another budget, which ends it where that is spent, also while it waits; one that is paused, when it is resumed. False for one that is unknown or over, and for what is no budget. */
  readonly budget: (inst: string, budget: FlowBudget) => boolean
}

/** What the ledgers of the runtime are to a run. */
export interface Ledgers {
  readonly op: Operations
  readonly rv: Rendezvous
  readonly flow: Flows
}

/** Requests to the outside world, submitted once the beat is durable. (Seed 003.) */
export interface Io {
  readonly request: (channel: string, opcode: string, payload: unknown) => string
}
