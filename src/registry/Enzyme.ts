/**
 * Enzymes: modules that react to signals.
 *
 * The descriptor of an enzyme declares its signals, bindings, writable addresses and order [S0 §Registering Enzymes].
 * It is decoded when the module is loaded, so that mistakes are reported before the first signal.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Address from "../cell/Address.ts"
import * as Pattern from "../cell/Pattern.ts"
import type { Place } from "../cell/Cell.ts"
import type { Signal } from "../cell/Signal.ts"
import type { Params } from "../cell/Template.ts"
import type { Declared } from "../cell/Type.ts"
import type { Pipeline } from "../stage/Launch.ts"
import type { Transaction } from "../stage/Transaction.ts"
import * as Declares from "./Declares.ts"
import { type Decoded, decode, failing, type Metadata, refusal, type Targeting } from "./EnzymeFields.ts"
import * as PayloadSchema from "./PayloadSchema.ts"
import { samples } from "./Scheduling.ts"
import * as ServiceKeys from "./ServiceKeys.ts"

export type { BindingDeclaration, Isolation, Targeting } from "./EnzymeFields.ts"

/**
 * The signal that an enzyme handles.
 *
 * @category models
 * @since 0.1.0
 */
export interface Event<
  Payload = unknown,
  Target extends string | undefined = string | undefined,
  Names = Readonly<Record<string, string>>
> {
  /** The id of the signal. */
  readonly id: string
  /** The signal path; `undefined` for a signal without one. */
  readonly signal: string | undefined
  /** The address of the target; `undefined` for a broadcast, which an enzyme with `target: "required"` never receives. */
  readonly target: Target
  /** The decoded payload; `undefined` for an impulse. */
  readonly payload: Payload
  /** The names that the `:name` segments of the enzyme's query captured. */
  readonly params: Names
  /** The number of the attempt: 1 at first, one more after each retry. */
  readonly attempt: number
  /** The ids of the pipeline run, if the signal continues an operation that belongs to one. */
  readonly pipeline?: Pipeline | undefined
}

/**
 * The event of the run in progress, as a service of each Effect that a run returns: a helper needs no argument for it.
 *
 * @category services
 * @since 0.2.0
 */
export const Event: Context.Service<Event, Event> = Context.Service<Event>("systole/Event")

/** The signals that an enzyme takes: a pattern, or signals of a type. */
export type Query = string | Declares.AnySignal

/** The event of an enzyme. One that requires a target has it as a text. A query determines the names and, with a type, the payload. */
export type EventOf<Payload, Required extends Targeting, Asked extends Query> = Event<
  Asked extends Signal<infer Typed, never> ? Typed : Payload,
  Required extends "required" ? string : string | undefined,
  Asked extends Signal<unknown, infer Names> ? Names : Asked extends string ? Params<Asked> : never
>

/** Addresses, or signals, or a function of the event that returns them. */
type OfEvent<A, E> = ReadonlyArray<A> | ((event: E) => ReadonlyArray<A>)

/** The function of an enzyme. */
type Run<Payload, Required extends Targeting, Asked extends Query> = (
  tx: Transaction,
  event: EventOf<Payload, Required, Asked>
) => unknown

/** The services of an Effect that a run returns; none for another value. */
type Needs<Returned> = Returned extends Effect.Effect<unknown, unknown, infer R> ? R : never

/** The services that an Effect of a run has: those of the run itself, and those that its enzyme names. */
type Provided<Used extends ReadonlyArray<ServiceKeys.ServiceKey>> = Transaction | Event | ServiceKeys.IdentifierOf<Used[number]>

/** A function that returns any value, a promise of one, or an Effect whose services are provided. */
type Served<Run, Used extends ReadonlyArray<ServiceKeys.ServiceKey>> = Run extends (...args: never) => infer Returned
  ? [Needs<Returned>] extends [Provided<Used>] ? unknown : (...args: never) => Effect.Effect<unknown, unknown, Provided<Used>>
  : unknown

/** The fields of a definition that are functions, that name cells and signals, or whose types depend on each other. */
export interface Functions<
  Payload = unknown,
  Required extends Targeting = Targeting,
  Asked extends Query = string,
  Used extends ReadonlyArray<ServiceKeys.ServiceKey> = ReadonlyArray<ServiceKeys.ServiceKey>,
  Own = Run<Payload, Required, Asked>
> {
  /** As in {@link Metadata}, or signals of a type: the event then has the names and the payload with their types. */
  readonly query: Asked
  /** As in {@link Metadata}. */
  readonly target?: Required
  /** As in {@link Metadata}, or cells and families. */
  readonly bind?: ReadonlyArray<Declares.BoundIn>
  /** As in {@link Metadata}, or cells and families. */
  readonly writes?: ReadonlyArray<Declares.NamedPlace>
  /**
   * Families, cells and signals of a type that no other field names. They belong to the schema of each space that it runs in.
   *
   * @default `[]`
   */
  readonly declares?: ReadonlyArray<Declares.Declaring>
  /**
   * The schema of the payload. The run receives the decoded value. A payload that does not fit is a permanent failure.
   *
   * @default any
   */
  readonly payload?: Schema.Decoder<Payload>
  /**
   * Addresses, or a function of the event that returns them, that are updated and loaded before the run.
   *
   * Other addresses are updated when the run reads them. While a time gate delays a listed address, the run is not started at all.
   *
   * @default `[]`
   */
  readonly reads?: OfEvent<Place, EventOf<Payload, Required, Asked>>
  /**
   * Signals that a durable run hears from the begin of its handling on, at most 100 of each: a path at the target of the
   * event, a path at another cell, or a function of the event that returns them.
   *
   * `tx.waitForSignal` takes them in order. A run hears any other signal from its call of `tx.hear` on.
   *
   * @default `[]`
   */
  readonly hears?: OfEvent<Declares.HeardIn, EventOf<Payload, Required, Asked>>
  /**
   * The services that the Effect of a run takes: keys of `Context.Service` that plugins provide (`services` of a plugin).
   *
   * A run has `Transaction` and `Event` without their names here. An enzyme with a service that no plugin provides is refused
   * when it is loaded (`service/absent`).
   *
   * @default `[]`
   */
  readonly services?: Used
  /**
   * `(tx, event) => …`: handles one signal. Returns a value, a promise or an Effect.
   *
   * @default required
   */
  readonly run: Own
}

/** The definition of an enzyme. Every field except for `name`, `query` and `run` has a default. */
export type Definition<Payload = unknown, Required extends Targeting = Targeting, Asked extends Query = string> =
  & Omit<Metadata, keyof Functions>
  & Functions<Payload, Required, Asked>

/** A decoded enzyme: every field is present. */
export interface Enzyme extends Decoded {
  readonly _tag: "Enzyme"
  readonly payload: Schema.Decoder<unknown> | undefined
  /** The families, cells and signals of a type that it names. */
  readonly declares: ReadonlyArray<Declares.Declaring>
  readonly reads: OfEvent<string, Event>
  readonly hears: OfEvent<Declares.DeclaredSignal, Event>
  /** The keys of the services that it takes, in code-unit order. */
  readonly services: ReadonlyArray<string>
  readonly run: Functions["run"]
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
export const make = <
  Payload = unknown,
  Required extends Targeting = Targeting,
  const Asked extends Query = string,
  const Used extends ReadonlyArray<ServiceKeys.ServiceKey> = readonly [],
  Own extends Run<Payload, Required, Asked> = Run<Payload, Required, Asked>
>(
  definition:
    & Omit<Metadata, keyof Functions>
    & Functions<Payload, Required, Asked, Used, Own & Run<Payload, Required, Asked> & Served<Own, Used>>
): Enzyme => {
  const texts: InTexts = Declares.inTexts<Functions & Metadata, Event>(definition as unknown as Functions & Metadata)
  const { declares, hears, payload, reads, run, services, ...metadata } = texts
  const name = typeof metadata.name === "string" ? metadata.name : String(metadata.name)
  const reason = refusal(metadata) ?? contradiction(metadata) ?? misrun(payload, run) ?? ServiceKeys.misnamed(services) ??
    misreading(reads) ?? mishearing(hears, metadata) ??
    (payload === undefined || taken(texts) === undefined ? undefined : TWICE) ?? misscheduled(texts)
  if (reason !== undefined) throw new InvalidEnzyme({ name, reason })
  const used = ServiceKeys.keysOf(services)
  return Object.freeze({
    _tag: "Enzyme", ...decode(metadata), payload, declares, reads: reads ?? none, hears: hears ?? none, services: used, run
  })
}

/** A definition with the texts of what it names, and its declarations. */
type InTexts = Omit<Functions, keyof Declares.Places | "target"> & Metadata & Pick<Declares.Texts<Event>, "declares" | "hears" | "reads">

const TWICE = "its query has the type of the payload, and it declares another; leave payload out"

/**
 * Returns the type of the signals that an enzyme takes, if its query has one.
 *
 * @category getters
 * @since 0.2.0
 */
export const taken = ({ declares, query }: Pick<Enzyme, "declares" | "query">): Declared | undefined =>
  declares.find(({ declared }) => declared?.kind === "signal" && declared.template.path === query)?.declared

/**
 * Tests whether a module's export is an enzyme.
 *
 * @category guards
 * @since 0.1.0
 */
export const is = (value: unknown): value is Enzyme =>
  typeof value === "object" && value !== null && (value as { readonly _tag?: unknown })._tag === "Enzyme"

const none: ReadonlyArray<string> = []

/** Whether a value is a schema of Effect, by its mark. */
const isSchema = (value: unknown): boolean =>
  (typeof value === "object" || typeof value === "function") && value !== null && "~effect/Schema/Schema" in value

const misrun = (payload: unknown, run: unknown): string | undefined => {
  if (typeof run !== "function") return "it has no run function, so it could not react to anything; give it run: (tx, event) => …"
  return payload === undefined || isSchema(payload) ? undefined : "its payload is not a Schema; make one with Schema.Struct({ … })"
}

/** Returns the reason why fields contradict each other, or `undefined`. */
const contradiction = ({ after = [], before = [], durable, name, onMissing }: Metadata): string | undefined => {
  if ([...before, ...after].includes(name)) return `it names itself in before or after; leave "${name}" out there`
  return onMissing === "end" && durable !== true
    ? "it declares onMissing: \"end\", and only durable enzymes have runs that miss their module; declare durable: true"
    : undefined
}

/** Returns the reason why an enzyme cannot take the events of its schedule, or `undefined`. */
const misscheduled = (texts: InTexts): string | undefined => {
  const { payload, query, schedule, target } = texts
  if (schedule === undefined) return undefined
  const isOne = query !== "" && Pattern.parse(query).segments.every(({ kind }) => kind === "literal")
  if (!isOne) return `it declares schedule, and its query ${query} names no single signal to send; give one such as /signals/report`
  if (target !== undefined) return "it declares schedule and target: \"required\", and a schedule sends no target; leave out one of them"
  const declared = taken(texts)
  const misfits = samples.some((sample) =>
    (payload !== undefined && failing("payload", () => PayloadSchema.decode(payload, sample)) !== undefined) ||
    (declared !== undefined && declared.type.mistakes(sample).length > 0))
  return misfits
    ? "it declares schedule, and its payload does not take what that gives, { due: Number, next: optional Number }; declare these fields"
    : undefined
}

const misreading = (reads: unknown): string | undefined =>
  reads === undefined || typeof reads === "function"
    ? undefined
    : Array.isArray(reads)
    ? failing("reads", () => reads.forEach((address) => Address.parse(String(address))))
    : "its reads are neither addresses nor a function that tells them"

const isPath = (path: unknown): boolean => typeof path === "string" && path.startsWith("/")

const mishearing = (hears: unknown, { durable = false }: Pick<Metadata, "durable">): string | undefined => {
  if (hears === undefined || (Array.isArray(hears) && hears.length === 0)) return undefined
  if (!durable) return "it declares hears, and only durable enzymes hear signals; declare durable: true"
  if (typeof hears === "function") return undefined
  const isList = Array.isArray(hears) && hears.every((one) => isPath(one) || (isPath(one?.signal) && isPath(one?.target)))
  return isList ? undefined : "its hears are no list of signals, such as \"/signals/answered\" or { signal, target }, and no function"
}
