/**
 * Enzymes: modules that react to signals.
 *
 * The descriptor of an enzyme declares its signals, bindings, writable addresses and order [S0 §Registering Enzymes].
 * It is decoded when the module is loaded, so that mistakes are reported before the first signal.
 *
 * @module
 */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Address from "../cell/Address.ts"
import * as Name from "../cell/Name.ts"
import * as Pattern from "../cell/Pattern.ts"
import * as Envelope from "../stage/Envelope.ts"
import type { Pipeline } from "../stage/Launch.ts"
import * as Signals from "../stage/OutgoingSignal.ts"
import type { Transaction } from "../stage/Transaction.ts"
import * as Descriptor from "./Descriptor.ts"

/**
 * The signal that an enzyme handles.
 *
 * @category models
 * @since 0.1.0
 */
export interface Event<Payload = unknown, Target extends string | undefined = string | undefined> {
  /** The id of the signal. */
  readonly id: string
  /** The signal path; `undefined` for a signal without one. */
  readonly signal: string | undefined
  /** The address of the target; `undefined` for a broadcast, which an enzyme with `target: "required"` never receives. */
  readonly target: Target
  /** The decoded payload; `undefined` for an impulse. */
  readonly payload: Payload
  /** The names that the `:name` segments of the enzyme's query captured. */
  readonly params: Readonly<Record<string, string>>
  /** The number of the attempt: 1 at first, one more after each retry. */
  readonly attempt: number
  /** The ids of the pipeline run, if the signal continues an operation that belongs to one. */
  readonly pipeline?: Pipeline | undefined
}

/** The isolation of a run: conflicts on writes only, or also on reads. */
export type Isolation = "snapshot" | "serializable"

/** A binding declared by a descriptor: a cell, and all its descendants unless `propagate` is false. */
export interface BindingDeclaration {
  readonly cell: string
  readonly propagate: boolean
}

/** A signal that a durable run hears: its path, at the target of the event or at another cell. */
export type DeclaredSignal = string | { readonly signal: string; readonly target: string }

/** Whether an enzyme takes only signals with a target. */
export type Targeting = "required" | undefined

/** The event of an enzyme. One that requires a target has it as a text. */
export type EventOf<Payload, Required extends Targeting> = Event<Payload, Required extends "required" ? string : string | undefined>

/** The definition of an enzyme. Every field except for `name`, `query` and `run` has a default. */
export interface Definition<Payload = unknown, Required extends Targeting = Targeting> {
  /** A name such as `resize_image`, preferably unique, because `before`, `after` and bindings refer to it. */
  readonly name: string
  /** The name shown in the ledger; the default is `name`. */
  readonly label?: string
  /** A pattern over signal paths such as `/signals/image/*`; the empty pattern matches every signal. */
  readonly query: string
  /** `exact` (default): the query matches the whole signal. `prefix`: it matches a prefix of the signal. */
  readonly match?: Pattern.Mode
  /** Names of enzymes that run after this one when both match a signal. */
  readonly before?: ReadonlyArray<string>
  /** Names of enzymes that run before this one when both match a signal. */
  readonly after?: ReadonlyArray<string>
  /** Cells at which this enzyme accepts signals; a plain path includes all descendants. */
  readonly bind?: ReadonlyArray<string | { readonly cell: string; readonly propagate?: boolean }>
  /**
   * `required`: the enzyme takes only signals with a target, so `event.target` is a text. A signal without a target is no match
   * for it, whatever its query. The default is both kinds of signals.
   */
  readonly target?: Required
  /** The schema of the payload. The run receives the decoded value. */
  readonly payload?: Schema.Decoder<Payload>
  /**
   * Addresses to update and load before the run, or a function of the event that returns them. Other addresses are
   * updated when the run reads them. While a time gate delays a listed address, the run is not started at all.
   */
  readonly reads?: ReadonlyArray<string> | ((event: EventOf<Payload, Required>) => ReadonlyArray<string>)
  /** The envelope: patterns of writable addresses. The default is all addresses except for the runtime's own. */
  readonly writes?: ReadonlyArray<string>
  /** The maximum number of attempts of an event, from 1 to 1000. The default is 10. */
  readonly retry?: { readonly attempts?: number }
  /** Events of one lane never share a beat: `pair` (signal and target; default), `target` or `space`. */
  readonly lane?: "pair" | "target" | "space"
  /**
   * `strict`: an event that failed, or that a durable run waits with, keeps its place in its lane. `loose`: the lane
   * continues. The default is `loose` for durable enzymes, and `strict` for others.
   */
  readonly order?: "strict" | "loose"
  /** `snapshot`: runs conflict on writes. `serializable`: also on reads. The default is `isolation` of the configuration. */
  readonly isolation?: Isolation
  /** Runs once per equal impulse of a beat instead of once for all. */
  readonly repeatable?: boolean
  /** Refuses a second enzyme with the same query. */
  readonly exclusive?: boolean
  /**
   * Whether a run may wait, across beats and restarts: for `tx.sleep`, `tx.waitForSignal` and results of `tx.io`. Default: false.
   *
   * The body is cut into segments at its awaits. Each segment is one run with its own transaction, and its writes are
   * kept whatever comes later. After a restart the body is executed again with its recorded reads and results, so it
   * takes time, chance and data from the transaction alone, and awaits no other promises.
   */
  readonly durable?: boolean
  /**
   * Signals that a durable run hears from the begin of its handling on, at most 100 of each: a path at the target of the
   * event, a path at another cell, or a function of the event that returns them. `tx.waitForSignal` takes them in order. A run
   * hears any other signal from its call of `tx.hear` on.
   */
  readonly hears?: ReadonlyArray<DeclaredSignal> | ((event: EventOf<Payload, Required>) => ReadonlyArray<DeclaredSignal>)
  /**
   * A durable run cannot go on after a deployment if the host has the module with which it began no longer, and if its log does not
   * fit the present one. `hold` (default): it waits, and keeps a strict lane, until the modules change or
   * somebody cancels it. `end`: its handling becomes a dead letter with `run/code-missing`, and its lane goes on. The present
   * module decides, because the one of the run is missing.
   *
   * A run that is ended undoes nothing, so `end` is for work that a later event does as well, such as a periodic one; `onDead`
   * may send it. `systole run retry --anew` starts the run over.
   */
  readonly onMissing?: "hold" | "end"
  /**
   * The consequence of a fatal run. In both cases its beat is aborted and its handling becomes a dead letter.
   * `shutdown` (default) then stops the space until `systole restart`; `continue` keeps it running.
   */
  readonly onFatal?: "shutdown" | "continue"
  /**
   * The path of a signal that is sent to the target of the event when its handling becomes a dead letter, by whatever cause: a
   * failure, a cancellation or a rollback. It is handled a beat later. Its payload is `{ id, enzyme, code }`: the id of the event
   * and the name of the enzyme, which name the letter, and the code of the failure. An enzyme that is registered no more
   * (`enzyme/gone`) sends none. Default: none.
   *
   * The enzyme that takes it goes on for the one that died. If that one dies each time, nothing ends the repetition, so let it
   * wait longer each time.
   *
   * @example A run that begins again a minute after it died
   * ```ts
   * import { Enzyme } from "systole"
   *
   * export default [
   *   Enzyme.make({ name: "poll", query: "/signals/poll", durable: true, onDead: "/signals/poll/died", run: (tx) => tx.sleep(1000) }),
   *   Enzyme.make({
   *     name: "poll_again",
   *     query: "/signals/poll/died",
   *     run: (tx, { target }) => tx.signal({ signal: "/signals/poll", target, payload: {}, at: { ms: 60_000 } })
   *   })
   * ]
   * ```
   */
  readonly onDead?: string
  /** Whether the module may import modules of the host, such as `node:fs`. */
  readonly trusted?: boolean
  /**
   * The time limit of a waiting run, in milliseconds of the host; beyond it the attempt failed. Default: 1000.
   *
   * The space waits with the run. A handling that times out twice (`timeoutAttempts`) is therefore given up, regardless
   * of `retry`. A run that returns without waiting cannot be stopped, so its result stands at any duration. A segment of a
   * durable run waits for no promise of its own, so it needs no limit.
   */
  readonly limitMs?: number
  /** Handles one signal. Returns a value, a promise or an Effect. */
  readonly run: (tx: Transaction, event: EventOf<Payload, Required>) => unknown | Promise<unknown> | Effect.Effect<unknown, unknown, never>
}

/** A decoded enzyme: every field is present. */
export interface Enzyme {
  readonly _tag: "Enzyme"
  readonly name: string
  readonly label: string
  readonly query: string
  readonly match: Pattern.Mode
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
  readonly bind: ReadonlyArray<BindingDeclaration>
  readonly target: Targeting
  readonly payload: Schema.Decoder<unknown> | undefined
  readonly reads: ReadonlyArray<string> | ((event: Event) => ReadonlyArray<string>)
  readonly writes: ReadonlyArray<string> | undefined
  readonly retry: { readonly attempts: number }
  readonly lane: "pair" | "target" | "space"
  readonly order: "strict" | "loose"
  /** `undefined` selects the isolation of the configuration. */
  readonly isolation: Isolation | undefined
  readonly repeatable: boolean
  readonly exclusive: boolean
  readonly durable: boolean
  readonly hears: ReadonlyArray<DeclaredSignal> | ((event: Event) => ReadonlyArray<DeclaredSignal>)
  readonly onMissing: "hold" | "end"
  readonly onFatal: "shutdown" | "continue"
  readonly onDead: string | undefined
  readonly trusted: boolean
  readonly limitMs: number
  readonly run: Definition["run"]
}

/**
 * An enzyme's definition is invalid. `reason` names the field and the rule that it breaks.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidEnzyme extends Data.TaggedError("InvalidEnzyme")<{ readonly name: string; readonly reason: string }> {
  readonly code = "enzyme/invalid"
  override get message() {
    return `Enzyme "${this.name}" is refused: ${this.reason}`
  }
}

/**
 * Creates an enzyme from its definition, and validates every field.
 *
 * @throws InvalidEnzyme
 * @example An enzyme that greets
 * ```ts
 * import { Enzyme } from "systole"
 *
 * const greet = Enzyme.make({
 *   name: "greet",
 *   query: "/signals/greet/:who",
 *   writes: ["/data/greetings/*"],
 *   run: (tx, event) => tx.set(`/data/greetings/${event.params.who}`, `Hello, ${event.params.who}`)
 * })
 * if (greet.match !== "exact") throw new Error("no defaults")
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <Payload = unknown, Required extends Targeting = Targeting>(definition: Definition<Payload, Required>): Enzyme => {
  const { hears, payload, reads, run, ...metadata } = definition as Definition
  const name = typeof metadata.name === "string" ? metadata.name : String(metadata.name)
  const misfit = Descriptor.misfit(metadata)
  if (misfit !== undefined) throw new InvalidEnzyme({ name, reason: `its metadata does not fit: ${misfit}` })
  const reason = refusal(metadata, payload, run) ?? misreading(reads) ?? mishearing(hears, metadata)
  if (reason !== undefined) throw new InvalidEnzyme({ name, reason })
  return Object.freeze({ ...withDefaults(metadata), payload, reads: reads ?? none, hears: hears ?? none, run }) as Enzyme
}

/**
 * Tests whether a module's export is an enzyme.
 *
 * @category guards
 * @since 0.1.0
 */
export const is = (value: unknown): value is Enzyme =>
  typeof value === "object" && value !== null && (value as { readonly _tag?: unknown })._tag === "Enzyme"

const none: ReadonlyArray<string> = []

type Undecoded = "run" | "payload" | "reads" | "hears"

const withDefaults = (definition: Omit<Definition, Undecoded>): Omit<Enzyme, Undecoded> => ({
  _tag: "Enzyme",
  name: definition.name,
  label: definition.label ?? definition.name,
  query: definition.query,
  match: definition.match ?? "exact",
  before: definition.before ?? [],
  after: definition.after ?? [],
  bind: (definition.bind ?? []).map((binding) =>
    typeof binding === "string" ? { cell: binding, propagate: true } : { cell: binding.cell, propagate: binding.propagate ?? true }
  ),
  target: definition.target,
  writes: definition.writes,
  retry: { attempts: definition.retry?.attempts ?? 10 },
  lane: definition.lane ?? "pair",
  order: definition.order ?? (definition.durable === true ? "loose" : "strict"),
  isolation: definition.isolation,
  repeatable: definition.repeatable ?? false,
  exclusive: definition.exclusive ?? false,
  durable: definition.durable ?? false,
  onMissing: definition.onMissing ?? "hold",
  onFatal: definition.onFatal ?? "shutdown",
  onDead: definition.onDead,
  trusted: definition.trusted ?? false,
  limitMs: definition.limitMs ?? 1000
})

/** Whether a value is a schema of Effect, by its mark. */
const isSchema = (value: unknown): boolean =>
  (typeof value === "object" || typeof value === "function") && value !== null && "~effect/Schema/Schema" in value

/** Returns the reason why a definition of the right types is invalid, or `undefined` if it is valid. */
const refusal = (definition: Omit<Definition, Undecoded>, payload: unknown, run: unknown): string | undefined => {
  if (typeof run !== "function") return "it has no run function, so it could not react to anything"
  if (payload !== undefined && !isSchema(payload)) return "its payload is not a Schema; make one with Schema.Struct({ … })"
  const selfish = [...definition.before ?? [], ...definition.after ?? []].includes(definition.name)
  if (selfish) return "it names itself in before or after"
  if (definition.onMissing === "end" && definition.durable !== true) {
    return "it declares onMissing: \"end\", and only durable enzymes have runs that miss their module; declare durable: true"
  }
  const unnamable = Name.refusal(definition.name)
  if (unnamable !== undefined) return unnamable
  return fault("query", () => Pattern.parse(definition.query)) ??
    fault("writes", () => Envelope.make(definition.writes, false)) ??
    fault("onDead", () => definition.onDead === undefined || Signals.make("", { signal: definition.onDead }, 0)) ??
    definition.bind?.map(misplacement).find((reason) => reason !== undefined)
}

/** Returns the message of a check that throws, with the name of its field. */
const fault = (field: string, check: () => unknown): string | undefined => {
  try {
    check()
    return undefined
  } catch (error) {
    return `in its ${field}, ${(error as Error).message}`
  }
}

const misreading = (reads: unknown): string | undefined =>
  reads === undefined || typeof reads === "function"
    ? undefined
    : Array.isArray(reads)
    ? fault("reads", () => reads.forEach((address) => Address.parse(String(address))))
    : "its reads are neither addresses nor a function that tells them"

const isPath = (path: unknown): boolean => typeof path === "string" && path.startsWith("/")

const mishearing = (hears: unknown, { durable = false }: Pick<Definition, "durable">): string | undefined => {
  if (hears === undefined || (Array.isArray(hears) && hears.length === 0)) return undefined
  if (!durable) return "it declares hears, and only durable enzymes hear signals; declare durable: true"
  if (typeof hears === "function") return undefined
  const isList = Array.isArray(hears) && hears.every((one) => isPath(one) || (isPath(one?.signal) && isPath(one?.target)))
  return isList ? undefined : "its hears are no list of signals, such as \"/signals/answered\" or { signal, target }, and no function"
}

const misplacement = (binding: string | { readonly cell: string }): string | undefined => {
  const cell = typeof binding === "string" ? binding : binding.cell
  const names = Name.split(cell)
  return typeof names === "string" ? `in its bind, "${cell}" is no cell: ${names}` : undefined
}
