/**
 * Definitions: the common part of computations, effects and materializers, and its
 * validation.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Address from "../../cell/Address.ts"
import type { Place } from "../../cell/Cell.ts"
import * as Name from "../../cell/Name.ts"
import type { Value } from "../../cell/Value.ts"
import * as Declares from "../../registry/Declares.ts"
import { isTagged } from "../../registry/Outcome.ts"
import * as Envelope from "../../stage/Envelope.ts"
import type { Transaction } from "../../stage/Transaction.ts"
import { TransactionRefused } from "../../stage/TransactionRefused.ts"
import * as Duration from "../../time/Duration.ts"

/** The common part of all definitions. */
export interface Common {
  /** Its name in the space: letters, digits, `_`, `.`, `:` and `-`. */
  readonly name: string
  /** Addresses that it will read. They order its first run, and are brought up to date before it. */
  readonly reads?: ReadonlyArray<Place> | undefined
  /** The quiet before a run, in milliseconds or as a time such as `"10s"`. */
  readonly debounce?: number | string | undefined
  /** The time from one run to the next, in milliseconds or as a time such as `"10s"`. */
  readonly throttle?: number | string | undefined
  /**
   * The names of its inputs. A module that declares inputs, even an empty list, runs only as a piece: each start gives values, and
   * there is one piece for each result cell. In its addresses `:name` stands for an input.
   */
  readonly inputs?: ReadonlyArray<string> | undefined
  /** Changes made under the same group do not invalidate it. */
  readonly changeGroup?: string | undefined
}

/** The inputs of a piece. */
export type Inputs = Readonly<Record<string, Value>>

/** Identifies a delivery: the beat of the value, and the effect's name. No two deliveries have the same. */
export interface Delivery {
  readonly beat: number
  readonly key: string
}

/** A validated node, with all its fields. */
export interface Definition {
  readonly _tag: "Computation" | "Effect" | "Materializer"
  readonly name: string
  readonly reads: ReadonlyArray<string>
  readonly debounce: number
  readonly throttle: number
  readonly changeGroup: string | undefined
  /** The document that a computation derives. */
  readonly output: string | undefined
  /** The further documents that it writes, or the envelope of a materializer. */
  readonly writes: ReadonlyArray<string>
  /** The families and cells of a type that it names. */
  readonly declares: ReadonlyArray<Declares.Declaring>
  readonly envelope: Envelope.Envelope
  /** Called without a `this`. */
  readonly run: (this: void, tx: Transaction) => Value | void
  readonly deliver: ((value: Value, at: Delivery) => void | Promise<void>) | undefined
  readonly speculative: boolean
  /** Whether the scheduler may give it a debounce by itself. */
  readonly autoDebounce: boolean
  /** Of a module with inputs: their names, and the constructor of its pieces. */
  readonly inputs?: ReadonlyArray<string> | undefined
  readonly piece?: ((inputs: Inputs) => Definition) | undefined
  /** Of a piece: the text of its inputs. */
  readonly given?: string | undefined
}

/**
 * Whether a module's export is a node, made by `Computation.make`, `Reaction.make` or `Materializer.make`.
 */
export const is = (value: unknown): value is Definition => {
  if (typeof value !== "object" || value === null) return false
  const { _tag, envelope, run } = value as { readonly _tag?: unknown; readonly envelope?: unknown; readonly run?: unknown }
  const isKind = _tag === "Computation" || _tag === "Effect" || _tag === "Materializer"
  return isKind && typeof envelope === "object" && typeof run === "function"
}

/**
 * A node is invalid.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidNode extends Data.TaggedError("InvalidNode")<{ readonly name: string; readonly reason: string }> {
  readonly code = "node/invalid"
  override get message() {
    return `Node "${this.name}" is refused: ${this.reason}`
  }
}

/** The code of `NodeTaken`. */
export const TAKEN = "node/taken"

/**
 * A node cannot join a graph: another node has its name or derives its output.
 *
 * Only the current graph determines this, so a replay takes the recorded outcome.
 *
 * @category errors
 * @since 0.1.0
 */
export class NodeTaken extends Data.TaggedError("NodeTaken")<{ readonly name: string; readonly reason: string }> {
  readonly code = TAKEN
  override get message() {
    return `Node "${this.name}" is refused: ${this.reason}`
  }
}

/** Longest debounce and throttle, in milliseconds: a day. */
const MAX_WAIT = 86_400_000

const namePattern = /^[A-Za-z0-9_.:-]{1,128}$/

/** An empty envelope. */
const nothing = Envelope.make([], false)

/** The fields of a definition that not all nodes have. */
type Special = "deliver" | "speculative" | "autoDebounce"

/** The fields of a definition that name cells. */
interface Places {
  readonly output?: Declares.NamedPlace | undefined
  readonly reads?: ReadonlyArray<Place> | undefined
  readonly writes?: ReadonlyArray<Declares.NamedPlace> | undefined
}

/** A definition by its author with the texts of the cells that it names, and their declarations. */
export type Texts<D extends Places> = Omit<D, keyof Places> & {
  readonly output?: string | undefined
  readonly reads?: ReadonlyArray<string> | undefined
  readonly writes?: ReadonlyArray<string> | undefined
  readonly declares: ReadonlyArray<Declares.Declaring>
}

/** A definition by its author with texts; `name` gives that of a family. */
export const inTexts = <D extends Places>(definition: D, name: (named: Declares.NamedPlace) => string): Texts<D> => {
  const { output, reads, writes, ...rest } = definition
  return {
    ...rest,
    ...output !== undefined && { output: Declares.templateOf(output) },
    ...reads && { reads: Declares.each(reads, Declares.placeOf) },
    ...writes && { writes: Declares.each(writes, name) },
    declares: Declares.among([output, ...reads ?? [], ...writes ?? []])
  }
}

/** The validated common fields. */
export const common = (given: Texts<Common>): Omit<Definition, "_tag" | "output" | "writes" | "envelope" | "run" | Special> => {
  const { changeGroup, debounce = 0, declares, name, reads = [], throttle = 0 } = given
  if (typeof name !== "string" || !namePattern.test(name) || Name.refusal(name) !== undefined) {
    throw new InvalidNode({ name: String(name), reason: "its name is not 1 to 128 letters, digits, _, ., : or -; give it one" })
  }
  for (const [field, wait] of [["debounce", debounce], ["throttle", throttle]] as const) {
    if (!Duration.isWithin(wait, [0, MAX_WAIT])) {
      const reason = `its ${field} is ${String(wait)}; give whole milliseconds from 0 to ${MAX_WAIT}, or a time such as "10s"`
      throw new InvalidNode({ name, reason })
    }
  }
  for (const address of reads) checked(name, "reads", () => Address.parse(address))
  return { name, reads, debounce: Duration.amountOf(debounce), throttle: Duration.amountOf(throttle), changeGroup, declares }
}

/** The key of a document that a node writes. It has to be a whole document. */
export const document = (name: string, field: string, text: string): string =>
  checked(name, field, () => {
    const address = Address.parse(text)
    if (address.path.length > 0) {
      throw new InvalidNode({ name, reason: `its ${field} ${text} is a place inside a cell; a node writes whole cells` })
    }
    if (Envelope.isReserved(address.id)) {
      throw new InvalidNode({ name, reason: `its ${field} ${text} belongs to the runtime; write elsewhere` })
    }
    return address.key
  })

/** The declared envelope of a node; empty by default. */
export const envelope = (name: string, writes: ReadonlyArray<string>): Envelope.Envelope =>
  writes.length === 0 ? nothing : checked(name, "writes", () => Envelope.make(writes, false))

/** The function of this name. */
export const callable = <F>(name: string, field: string, given: F): F => {
  if (typeof given !== "function") throw new InvalidNode({ name, reason: `its ${field} is not a function` })
  return given
}

const checked = <A>(name: string, field: string, check: () => A): A => {
  try {
    return check()
  } catch (error) {
    if (error instanceof InvalidNode) throw error
    throw new InvalidNode({ name, reason: `in its ${field}, ${(error as Error).message}` })
  }
}

/** A node threw a value that is not an error. */
export class NodeThrew extends Error {
  constructor(thrown: unknown) {
    const shown = typeof thrown === "string" ? JSON.stringify(thrown) : attempt(() => String(thrown), `a value of type ${typeof thrown}`)
    super(`A node threw ${shown}, which is no Error`)
  }
}

/** Inspects an author's value. The inspection may itself throw. */
const attempt = <A>(look: () => A, otherwise: A): A => {
  try {
    return look()
  } catch {
    return otherwise
  }
}

/** A run with the inputs of its piece. A function without that parameter is returned unchanged. */
export const withInputs = <R>(run: (tx: Transaction, inputs: Inputs) => R, inputs: Inputs): (tx: Transaction) => R =>
  run.length < 2 ? run as (tx: Transaction) => R : (tx) => run(tx, inputs)

/** A run whose results are checked by the type of its output. Answers that are no value are left to {@link checkAnswer}. */
export const withType = <R>(run: (tx: Transaction) => R, output: Declares.NamedPlace): (tx: Transaction) => R => {
  const declared = Declares.is(output) ? output.declared : undefined
  if (declared === undefined) return run
  return (tx) => {
    const value = run(tx)
    const isValue = value !== undefined && !isTagged(value, "Retry") && !isTagged(value, "Fatal") && !isPromise(value)
    if (isValue) declared.type.check(value, declared.template.path)
    return value
  }
}

/** The thrown value as an error. */
export const errorOf = (thrown: unknown): Error => attempt(() => thrown instanceof Error, false) ? thrown as Error : new NodeThrew(thrown)

/**
 * The returned value of a run. A returned `Retry` or `Fatal` is thrown.
 *
 * @throws TransactionRefused, Retry, Fatal
 */
export const checkAnswer = ({ name }: Pick<Definition, "name">, returned: Value): Value => {
  if (typeof returned !== "object" || returned === null) return returned
  if (isTagged(returned, "Retry") || isTagged(returned, "Fatal")) throw errorOf(returned)
  if (!isPromise(returned)) return returned
  throw new TransactionRefused({ reason: `node "${name}" returned a promise; a node reads and derives at once, and waits for nothing` })
}

/** Whether a run returned a promise. */
export const isPromise = (value: unknown): boolean =>
  typeof value === "object" && value !== null && attempt(() => typeof (value as { readonly then?: unknown }).then === "function", false)

/** Ignores the outcome of a returned promise. */
export const ignore = (value: unknown): void => {
  if (isPromise(value)) void Promise.resolve(value).catch(() => {})
}
