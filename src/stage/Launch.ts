/**
 * Launches: requests of a run other than its writes.
 *
 * Launches are plain data inside the run's transaction. They are dropped or applied with it, at the commit of the beat
 * [S2 §7.6].
 *
 * @module
 */
import * as Data from "effect/Data"
import type { Address } from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"
import type { Severity } from "../cell/Severity.ts"
import type { Value } from "../cell/Value.ts"

/**
 * The time of a delayed signal: a beat number, or a delay in beats or in milliseconds, or as a duration such as `"10s"`.
 *
 * @category models
 * @since 0.1.0
 */
export type At = DueAt | string

/** The time of a delayed signal, without durations as texts. */
export type DueAt = { readonly beat: number } | { readonly beats: number } | { readonly ms: number }

/**
 * How a pause and a rollback treat a signal.
 *
 * `control` runs even while the space is paused. `retain`, the default, waits until the space is resumed. `discard`
 * waits as well, and a rollback drops it.
 *
 * @category models
 * @since 0.1.0
 */
export type Qos = "control" | "retain" | "discard"

/**
 * A request to act: `signal` names the action, `target` the cell. At least one of them is required.
 *
 * Without a payload the signal is an impulse, merged with equal impulses of its beat. With a payload it is an event,
 * handled exactly once.
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
   * The destination space; by default the sender's own. A signal to another space leaves once the sending beat is durable.
   * It arrives as an event, is handled once, and a delay counts from its arrival.
   */
  readonly space?: string | undefined
  readonly qos?: Qos | undefined
}

/** A validated signal of a run, without its number. */
export interface OutgoingSignal {
  readonly id: string
  readonly signal: string | undefined
  readonly target: string | undefined
  readonly payload: Document | undefined
  readonly at: DueAt | undefined
  /** The destination space, if the request names one. */
  readonly space?: string | undefined
  readonly qos?: Qos | undefined
  /** The operation of the durable run that waits for its end. */
  readonly tells?: string | undefined
}

/** A binding or its withdrawal, requested by a run. */
export interface BindingChange {
  readonly cell: string
  readonly enzyme: string
  readonly propagate: boolean
  /** Withdraws the name here and masks inherited bindings. */
  readonly tombstone: boolean
}

/**
 * A run made a call for which this runtime has no service. The services that an enzyme takes are checked when it is loaded
 * (`service/absent`).
 */
export class NotProvided extends Data.TaggedError("NotProvided")<{ readonly verb: string; readonly service: string }> {
  readonly code = "transaction/unsupported"
  override get message() {
    return `${this.verb} needs the service ${this.service}, and this runtime is composed without it. Add its layer, or do without the call`
  }
}

/** The description of a new operation. */
export interface OperationRequest {
  /** The action: a name such as `op/render`. */
  readonly verb: string
  /** The object of the action, as text. */
  readonly target: string
  /** `opm:direct` for work that only starts and closes, `opm:states` for work with intermediate states to observe or await. */
  readonly mode: "opm:direct" | "opm:states"
  readonly payload?: unknown
  /** The expected duration in beats, or as a time such as `"10s"`. It is recorded in beats and not enforced. */
  readonly ttl?: number | string
  /** The pipeline run of the operation. Enzymes that handle its continuations and timeouts read it as `event.pipeline`. */
  readonly pipeline?: Pipeline
}

/** The ids of a pipeline run, such as `{ pipeline_id, stage_id, dag_run_id, hop_index }`. */
export type Pipeline = Readonly<Record<string, string | number>>

/** The details of a state. */
export interface StateNote {
  /** An integer; the default is 0. */
  readonly code?: number
  readonly note?: string
}

/** The continuation of an awaited operation. */
export interface Continuation {
  /** The signal that is sent to the operation's cell. */
  readonly signal: string
  /** The timeout in beats, or as a time such as `"10s"`, after which `/op/tmo` is sent instead. The default, 0, means no timeout. */
  readonly ttl?: number | string
  readonly payload?: unknown
}

/**
 * Long-running operations, each with a dossier under `/rt/ops` [S0 §OPS/STATES Operations].
 *
 * Calls take effect with the transaction of their run or not at all. The run's own reads see them at once.
 *
 * @example Starting and awaiting an operation
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
   * Starts an operation in the state `ist:run`. Returns its id.
   *
   * @throws InvalidOperation
   */
  readonly start: (request: OperationRequest) => string
  /**
   * Sets the state of an open operation. Returns false, without a change, if the operation is unknown or closed, or the
   * state is invalid.
   */
  readonly setState: (oid: string, state: string, note?: StateNote) => boolean
  /**
   * Sends a signal once the operation reaches a state, or closes with a status. Until then the calling enzyme is bound
   * to the operation's cell.
   *
   * @throws InvalidOperation, OperationAbsent, AwaitUnheard
   */
  readonly await: (oid: string, want: string, then: Continuation) => void
  /**
   * Closes an operation permanently. Returns true if it is already closed with this status. Returns false if it is
   * unknown, closed with another status, or the status is invalid.
   */
  readonly close: (oid: string, status: "sts:ok" | "sts:fail" | "sts:cnl", summary?: unknown) => boolean
  /** Returns `oid=… state=… closed=0|1 status=… watchers=<n>`; `undefined` if the operation is unknown. */
  readonly get: (oid: string) => string | undefined
}

/**
 * A failure reported by a run.
 *
 * @category models
 * @since 0.1.0
 */
export interface Report {
  /** The severity; `sev:fatal` shuts the space down. */
  readonly severity: Severity
  /** The kind of failure: a name such as `order/stuck`. */
  readonly topic: string
  /** The description, at most 2000 characters. */
  readonly note: string
  /** A stable code; the default is the topic. */
  readonly code?: string
  /** The address of the affected cell. */
  readonly subject?: string
  readonly payload?: unknown
  /** The id of the affected operation: `sev:fatal`, `sev:crit` and `sev:usage` close it with `sts:fail`. */
  readonly attach?: string
  /** Whether `/CEP:sig_cei/<severity>` is always sent. By default it is sent only if an enzyme accepts it. */
  readonly signal?: boolean
}

/** A validated report of a run. */
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
 * The description of a new rendezvous.
 *
 * Beats are integers or their decimal texts. A relative wait also takes its nominal duration by the tempo of the space,
 * even if beats run faster. Omitted fields are those of the cell `/defaults/<prof>`, or the defaults below.
 */
export interface RendezvousSpec {
  /** A name such as `job17` or `app:job17`. An existing entry of the same key is replaced, but not in the beat of its completion. */
  readonly key: string
  /**
   * The profile.
   *
   * - `rv-fixed` (default) is due once.
   * - `rv-epoch` is due again `epoch_k` beats after each completion.
   * - `rv-cas` is reported with content.
   * - `observer` is only observed, and never late or complete.
   * - `spec` entries with one `inst_id` are alternatives: the first applied one ends the others.
   */
  readonly prof?: "rv-fixed" | "rv-epoch" | "rv-cas" | "observer" | "spec"
  /** The beat from which the result is expected; `due_off` counts from now instead, in beats or as a time such as `"10s"`. Default: now. */
  readonly due?: number | string
  readonly due_off?: number | string
  /** The beat at which it ends, reported or not; `deadl_off` counts from `due` instead, as `due_off` does. The default, 0, means never. */
  readonly deadline?: number | string
  readonly deadl_off?: number | string
  /**
   * The maximum number of postponements of a late entry (at most 1000); `grace_delta` is the length of each in beats or as a time.
   * By default it waits for its deadline.
   */
  readonly max_grace?: number | string
  readonly grace_delta?: number | string
  /** The action once all grace is used. Default: `timeout`. */
  readonly on_miss?: "timeout" | "kill" | "grace" | "ignore" | "quarantine"
  readonly epoch_k?: number | string
  readonly kill_mode?: string
  readonly kill_wait?: number | string
  readonly cas_hash?: string
  /** The signal of its completion. Default: `CEP:sig_rv/<tag of the key>`. */
  readonly signal_path?: string
  /** The flow instance to notify: a name such as `order:17`. */
  readonly inst_id?: string
  /** The input of the work, stored only as a fingerprint; `input_fp` is that fingerprint. */
  readonly input?: unknown
  readonly input_fp?: number | string
  /** The initial telemetry: fields. */
  readonly telemetry?: Readonly<Record<string, unknown>>
}

/**
 * Rendezvous with work outside the beat, under `/data/rv` [S1 §Technical Details].
 *
 * Calls take effect with the transaction of their run or not at all. Each completion (`applied`, `timeout` or `killed`)
 * writes one event to `/data/inbox/flow/inst_event/<key>`. It also sends the entry's signal to that cell for the next
 * beat, for enzymes bound to it or to an ancestor.
 *
 * @example Work for an external worker, with two graces of ten beats
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
   * Starts a rendezvous in the state `pending`. Returns the token with which an external worker reports on this
   * rendezvous only.
   *
   * All writes, signals and results of a run are journaled. To keep a token out of the journal, mint a new one for the
   * worker over HTTP.
   *
   * @throws NoSpec, InvalidRendezvous, LedgerMissing, RendezvousFull, RendezvousUntold
   */
  readonly spawn: (spec: RendezvousSpec) => string
  /**
   * Postpones the due beat by `delta` beats, or by a time such as `"10s"`; a negative one advances it, as `"-10s"` does. Returns
   * false if the key is unknown or complete; a `delta` of 0 always returns true.
   */
  readonly resched: (key: string, delta: number | string) => boolean
  /**
   * Kills a rendezvous at its next scan, or `wait` scans later (at most 1000, one nominal beat each). Returns false if
   * the key is unknown or complete.
   */
  readonly kill: (key: string, how?: { readonly mode?: string; readonly wait?: number }) => boolean
  /**
   * Applies the result: fields. Returns false if the key is unknown or complete. With `rv-cas`, the field `cas_hash`
   * names stored content.
   */
  readonly report: (key: string, telemetry?: Readonly<Record<string, unknown>>) => boolean
  /**
   * Returns the key of the entry for a signal path: its last name if an entry has that key, else the only open entry
   * with that completion signal. Returns `undefined` if no entry or several entries match.
   */
  readonly keyOf: (signal: string) => string | undefined
}

/**
 * The limits of a flow instance: total steps, and beats from now (at most 2^43), also as a time such as `"10s"`. The default, 0,
 * means unlimited.
 */
export interface FlowBudget {
  readonly steps?: number | undefined
  readonly beats?: number | string | undefined
}

/** The description of a new flow instance. */
export interface FlowRequest extends FlowBudget {
  readonly flow: string
  readonly input?: unknown
  /** The id of the instance: a name such as `order17`. By default one is minted. */
  readonly inst?: string | undefined
}

/** The id of the started instance, or the code of the refusal. */
export type FlowAnswer = { readonly inst: string } | { readonly refused: string }

/**
 * Flow instances, under `/data/flow/inst` [S1 §Technical Details].
 *
 * Calls take effect with the transaction of their run or not at all. A finished instance sends `/CEP:sig_inst/<state>`
 * to its cell, for enzymes bound to it or to an ancestor. It also ends the rendezvous that it spawned.
 */
export interface Flows {
  /**
   * Starts an instance of a flow. Returns its id.
   *
   * The input and the later steps share one cell of 1,048,576 characters, of which 2,048 are reserved for the end of
   * the instance.
   *
   * @throws InvalidFlowRequest, FlowUnknown, FlowsFull, InstanceExists, InvalidValue
   */
  readonly start: (flow: string, input?: unknown, options?: FlowBudget & Pick<FlowRequest, "inst">) => string
  /** Starts an instance on behalf of a caller. A refusal starts no instance and does not abort the run. */
  readonly request: (request: FlowRequest) => FlowAnswer
  /** Suspends the steps of an instance; it queues events meanwhile. Returns false if the instance is unknown, finished or paused. */
  readonly pause: (inst: string) => boolean
  /** Resumes a paused instance. Returns false for any other. */
  readonly resume: (inst: string) => boolean
  /** Cancels an instance. Returns false if it is unknown or finished. */
  readonly cancel: (inst: string) => boolean
  /**
   * Replaces the limits of an instance. An instance over its new limits ends, even while it waits; a paused one ends
   * when it is resumed. Returns false if the instance is unknown or finished, or the limits are invalid.
   */
  readonly budget: (inst: string, budget: FlowBudget) => boolean
}

/**
 * A result that a durable run awaits. `cancel` ends the wait: the promise rejects at once, a request is cancelled with its
 * record, and a signal is left to the next wait for it. It returns false if the result is there already.
 *
 * @category models
 * @since 0.1.0
 */
export interface PendingResult<A> extends Promise<A> {
  readonly cancel: () => boolean
}

/** The length of a sleep: milliseconds, a duration such as `"10s"`, or a number of beats. */
export type Delay = number | string | { readonly beats: number }

/** A signal that a durable run heard. */
export interface HeardSignal {
  readonly id: string
  readonly signal: string
  readonly target: string
  /** `undefined` for an impulse. */
  readonly payload: Value
}
