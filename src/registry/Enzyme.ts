/**
 * Enzymes: modules that react to signals.
 *
 * An enzyme's metadata, its descriptor, says which signals it takes, where it is
 * bound, what it may write and in which order it runs; it is decoded when the
 * module is loaded, so that a mistake is found before the first signal.
 * (Seed 000, "Registering Enzymes"; architecture, section 4.)
 *
 * @module
 */
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Address from "../cell/Address.ts"
import * as Name from "../cell/Name.ts"
import * as Pattern from "../cell/Pattern.ts"
import * as Envelope from "../stage/Envelope.ts"
import type { Pipeline } from "../stage/Launch.ts"
import type { Transaction } from "../stage/Transaction.ts"

/**
 * The signal that an enzyme is handed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Event<Payload = unknown> {
  readonly id: string
  readonly signal: string | undefined
  readonly target: string | undefined
  /** `undefined` for an impulse. */
  readonly payload: Payload
  /** What the `:name` segments of the enzyme's query stand for. */
  readonly params: Readonly<Record<string, string>>
  /** 1 the first time, one more after each retry. */
  readonly attempt: number
  /** For what was awaited of an operation that belongs to a run of a pipeline: the ids of that. */
  readonly pipeline?: Pipeline | undefined
}

/** Whether two runs of a beat conflict on writes alone, or on reads, too. */
export const Isolation = Schema.Literals(["snapshot", "serializable"])

/** One of these. */
export type Isolation = typeof Isolation.Type

/** Where a descriptor binds its enzyme: a cell, and all below it unless `propagate` is false. */
export interface BindingDeclaration {
  readonly cell: string
  readonly propagate: boolean
}

/** What an author writes: every field but `name`, `query` and `run` has a default. */
export interface Definition<Payload = unknown> {
  /** Unique among enzymes: a name such as `resize_image`. */
  readonly name: string
  /** What the ledger shows in place of the name. */
  readonly label?: string
  /** A pattern over signal paths such as `/signals/image/*`; empty takes every signal. */
  readonly query: string
  /** `exact` (default): the query matches the whole signal. `prefix`: a beginning of it. */
  readonly match?: Pattern.Mode
  /** Names of enzymes that this one runs before, when both match. */
  readonly before?: ReadonlyArray<string>
  readonly after?: ReadonlyArray<string>
  /** Cells whose signals this enzyme takes; a plain path also stands for all cells below it. */
  readonly bind?: ReadonlyArray<string | { readonly cell: string; readonly propagate?: boolean }>
  /** What the payload must be; what it decodes to is what the run sees. */
  readonly payload?: Schema.Decoder<Payload>
  /**
   * Addresses that are brought up to date and loaded before the run, or what tells them of an event. Whatever else a run reads is brought up to date
   * when it reads it; what is named here costs no run while a gate holds it back.
   */
  readonly reads?: ReadonlyArray<string> | ((event: Event<Payload>) => ReadonlyArray<string>)
  /** The envelope: patterns of the addresses it may write. Without it, any but the runtime's own. */
  readonly writes?: ReadonlyArray<string>
  readonly retry?: { readonly attempts?: number }
  /** Events of one lane never share a beat: `pair` (signal and target; default), `target` or `space`. */
  readonly lane?: "pair" | "target" | "space"
  /** `strict` (default): a failed event keeps its place in its lane. `loose`: the lane goes on. */
  readonly order?: "strict" | "loose"
  /** `snapshot`: runs conflict on writes. `serializable`: on reads, too. Default: the `isolation` of the configuration. */
  readonly isolation?: Isolation
  /** Run once for each equal impulse of a beat instead of once for all. */
  readonly repeatable?: boolean
  /** Refuse a second enzyme on the same query. */
  readonly exclusive?: boolean
  /** Whether its runs may wait for the outside. That needs the reactor, so only `false` (default) is taken. */
  readonly durable?: boolean
  /**
   * The consequence of a fatal run. Its beat is aborted and its handling becomes a dead letter in both cases.
   * `shutdown` (default) then shuts the space down, until `systole restart`; with `continue` the space goes on.
   */
  readonly onFatal?: "shutdown" | "continue"
  /** May import modules of the host, such as `node:fs`. */
  readonly trusted?: boolean
  /**
   * How long a run may wait, in milliseconds of the host; then it counts as a failed attempt. Default 1000.
   * The space waits with it, so a handling that times out twice (`timeoutAttempts`) is given up, whatever its `retry` says.
   * A run that returns without waiting cannot be stopped, so what it made stands however long it took.
   */
  readonly limitMs?: number
  /** Reacts to one signal. Returns a value, a promise or an Effect. */
  readonly run: (tx: Transaction, event: Event<Payload>) => unknown | Promise<unknown> | Effect.Effect<unknown, unknown, never>
}

/** An enzyme whose metadata was decoded: every field is there. */
export interface Enzyme {
  readonly _tag: "Enzyme"
  readonly name: string
  readonly label: string
  readonly query: string
  readonly match: Pattern.Mode
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
  readonly bind: ReadonlyArray<BindingDeclaration>
  readonly payload: Schema.Decoder<unknown> | undefined
  readonly reads: ReadonlyArray<string> | ((event: Event) => ReadonlyArray<string>)
  readonly writes: ReadonlyArray<string> | undefined
  readonly retry: { readonly attempts: number }
  readonly lane: "pair" | "target" | "space"
  readonly order: "strict" | "loose"
  /** `undefined` leaves it to the configuration. */
  readonly isolation: Isolation | undefined
  readonly repeatable: boolean
  readonly exclusive: boolean
  readonly durable: boolean
  readonly onFatal: "shutdown" | "continue"
  readonly trusted: boolean
  readonly limitMs: number
  readonly run: Definition["run"]
}

/**
 * An enzyme's metadata is refused.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidEnzyme extends Schema.TaggedError<InvalidEnzyme>()("InvalidEnzyme", { name: Schema.String, reason: Schema.String }) {
  readonly code = "enzyme/invalid"
  override get message() {
    return `Enzyme "${this.name}" is refused: ${this.reason}`
  }
}

const EnzymeName = Schema.String.pipe(Schema.check(Schema.isPattern(/^[A-Za-z0-9_.:-]{1,128}$/)))
const Binding = Schema.Union([
  Schema.String,
  Schema.Struct({ cell: Schema.String, propagate: Schema.optionalKey(Schema.Boolean) })
])

/** The schema of what a module exports; what needs more than a type is checked in {@link refusal}. */
const Descriptor = Schema.Struct({
  name: EnzymeName,
  label: Schema.optionalKey(Schema.NonEmptyString),
  query: Schema.String,
  match: Schema.optionalKey(Schema.Literals(["exact", "prefix"])),
  before: Schema.optionalKey(Schema.Array(EnzymeName)),
  after: Schema.optionalKey(Schema.Array(EnzymeName)),
  bind: Schema.optionalKey(Schema.Array(Binding)),
  writes: Schema.optionalKey(Schema.Array(Schema.String)),
  retry: Schema.optionalKey(Schema.Struct({
    attempts: Schema.optionalKey(Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 1, maximum: 1000 }))))
  })),
  lane: Schema.optionalKey(Schema.Literals(["pair", "target", "space"])),
  order: Schema.optionalKey(Schema.Literals(["strict", "loose"])),
  isolation: Schema.optionalKey(Isolation),
  repeatable: Schema.optionalKey(Schema.Boolean),
  exclusive: Schema.optionalKey(Schema.Boolean),
  durable: Schema.optionalKey(Schema.Boolean),
  onFatal: Schema.optionalKey(Schema.Literals(["shutdown", "continue"])),
  trusted: Schema.optionalKey(Schema.Boolean),
  limitMs: Schema.optionalKey(Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 1, maximum: 3_600_000 }))))
})

const decodeDescriptor = Schema.decodeUnknownExit(Descriptor, { errors: "all", onExcessProperty: "error" })

/**
 * An enzyme from its definition.
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
export const make = <Payload = unknown>(definition: Definition<Payload>): Enzyme => {
  const { payload, reads, run, ...metadata } = definition
  const name = typeof metadata.name === "string" ? metadata.name : String(metadata.name)
  const exit = decodeDescriptor(metadata)
  if (Exit.isFailure(exit)) throw new InvalidEnzyme({ name, reason: `its metadata does not fit: ${describe(exit)}` })
  const reason = refusal(metadata as Definition, payload, run) ?? misreading(reads)
  if (reason !== undefined) throw new InvalidEnzyme({ name, reason })
  return Object.freeze({ ...withDefaults(metadata as Definition), payload, reads: reads ?? none, run: run as Definition["run"] }) as Enzyme
}

/**
 * Whether a module's export is an enzyme.
 *
 * @category guards
 * @since 0.1.0
 */
export const is = (value: unknown): value is Enzyme =>
  typeof value === "object" && value !== null && (value as { readonly _tag?: unknown })._tag === "Enzyme"

const describe = (exit: Exit.Failure<unknown, { readonly message: string }>): string => {
  const reason = exit.cause.reasons[0]
  return reason !== undefined && reason._tag === "Fail" ? reason.error.message.replaceAll("\n", " ") : "it is no object"
}

const none: ReadonlyArray<string> = []

const withDefaults = (definition: Omit<Definition, "run" | "payload" | "reads">): Omit<Enzyme, "run" | "payload" | "reads"> => ({
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
  writes: definition.writes,
  retry: { attempts: definition.retry?.attempts ?? 10 },
  lane: definition.lane ?? "pair",
  order: definition.order ?? "strict",
  isolation: definition.isolation,
  repeatable: definition.repeatable ?? false,
  exclusive: definition.exclusive ?? false,
  durable: definition.durable ?? false,
  onFatal: definition.onFatal ?? "shutdown",
  trusted: definition.trusted ?? false,
  limitMs: definition.limitMs ?? 1000
})

/** Why a definition that has the right types is refused all the same. */
const refusal = (definition: Definition, payload: unknown, run: unknown): string | undefined => {
  if (typeof run !== "function") return "it has no run function, so it could not react to anything"
  if (payload !== undefined && !Schema.isSchema(payload)) return "its payload is not a Schema; make one with Schema.Struct({ … })"
  if (definition.durable === true) return "durable runs need the reactor, and this runtime is composed without it; send a delayed signal and go on when it comes"
  const selfish = [...definition.before ?? [], ...definition.after ?? []].includes(definition.name)
  if (selfish) return "it names itself in before or after"
  const unnamable = Name.refusal(definition.name)
  if (unnamable !== undefined) return unnamable
  return fault("query", () => Pattern.parse(definition.query)) ??
    fault("writes", () => Envelope.make(definition.writes, false)) ??
    definition.bind?.map(misplacement).find((reason) => reason !== undefined)
}

/** What is wrong with a field, where a check of it throws. */
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

const misplacement = (binding: string | { readonly cell: string }): string | undefined => {
  const cell = typeof binding === "string" ? binding : binding.cell
  const names = Name.split(cell)
  return typeof names === "string" ? `in its bind, "${cell}" is no cell: ${names}` : undefined
}
