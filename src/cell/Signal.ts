/**
 * Signals of a type: paths with the type of their payloads.
 *
 * @module
 */
import type { Params } from "./Template.ts"
import { type Declared, InvalidType, type Schematic, templateOf, Type } from "./Type.ts"
import type { Value } from "./Value.ts"

/**
 * The signals of one type. `A` is the type of their payloads, and `Given` the values of the `:name` segments of their path.
 *
 * @category models
 * @since 0.1.0
 */
export class Signal<out A, in Given> {
  /** Of the compiler alone. */
  declare readonly Type: A
  readonly _tag = "Signal"
  readonly declared: Declared
  /** The path of one signal; that with `:name` segments until they have values. */
  readonly path: string

  constructor(declared: Declared, path: string = declared.template.path) {
    this.declared = declared
    this.path = path
  }

  /**
   * The signal with these names.
   *
   * @throws InvalidAddress
   */
  at(given: Given): Signal<A, object> {
    return new Signal<A, object>(this.declared, this.declared.template.fill(given as Readonly<Record<string, string>>))
  }

  toString(): string {
    return this.path
  }
}

/**
 * Creates the signals of a path, such as `/signals/order/:id/place`, with the type of their payloads.
 *
 * An enzyme that has it as its `query` gets the names and the payload with their types. A payload that does not fit is refused
 * with `signal/invalid`: without an event at the ingress, and as a dead letter from a run or another space.
 *
 * @throws InvalidType
 * @example Placing an order
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { Enzyme, Signal } from "systole"
 *
 * export const Place = Signal.make("/signals/order/:id/place", Schema.Struct({ count: Schema.Natural }))
 *
 * export default Enzyme.make({
 *   name: "place_order",
 *   query: Place,
 *   writes: ["/data/orders/*"],
 *   run: (tx, { params: { id }, payload: { count } }) => tx.set(`/data/orders/${id}`, count)
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const Path extends string, A extends Value>(path: Path, schema: Schematic<A>): Signal<A, Params<Path>> =>
  new Signal({ kind: "signal", template: templateOf(path), type: new Type(path, schema) })

/** A signal with a path of its own: a text, or a signal of a type without open names. */
export type Sent = string | Signal<unknown, object>

/**
 * Returns the path of a signal.
 *
 * @throws InvalidType
 */
export const pathOf = (signal: Sent): string => {
  if (typeof signal === "string") return signal
  const [name] = signal.path === signal.declared.template.path ? signal.declared.template.names : []
  if (name === undefined) return signal.path
  throw new InvalidType({ path: signal.path, reason: `its :${name} has no value; name one signal, such as signal.at({ ${name}: … })` })
}
