/**
 * Computations: nodes that derive one cell from others.
 *
 * @module
 */
import type { Value } from "../../cell/Value.ts"
import * as Declares from "../../registry/Declares.ts"
import type { Transaction } from "../../stage/Transaction.ts"
import type { Common, Definition, Inputs } from "./Definition.ts"
import { callable, common, document, envelope, InvalidNode, inTexts, type Texts, withInputs, withType } from "./Definition.ts"
import * as Piece from "./Piece.ts"

/** The definition of a computation by its author. */
export interface ComputationDefinition<Output extends Declares.NamedPlace = string> extends Common {
  /**
   * The derived cell, which holds the result of `run`. No other node may have it as its output. A module with inputs may have a
   * family, whose `:name` segments are inputs. A result that does not fit the type of its output fails the run (`cell/type`).
   */
  readonly output: Output
  /** Further cells that it writes, all declared here. */
  readonly writes?: ReadonlyArray<Declares.NamedPlace> | undefined
  /** Has to be idempotent: equal reads give equal values. `undefined` deletes the cell. */
  readonly run: (tx: Transaction, inputs: Inputs) => Result<Output>
}

/** The result of a computation with an output. */
export type Result<Output extends Declares.NamedPlace> = Output extends { readonly Type: infer A } ? A | undefined : Value

/**
 * A computation: it runs when its output is in demand and a value that it read has changed.
 *
 * @throws InvalidNode
 * @example A total that is never stale
 * ```ts
 * import { Computation } from "systole"
 *
 * const total = Computation.make({
 *   name: "total",
 *   output: "/data/total",
 *   run: (tx) => tx.list("/data/orders").reduce((sum, id) => sum + Number(tx.get(`/data/orders/${id}#/price`)), 0)
 * })
 * if (total.output !== "/data/total") throw new Error("no output")
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <Output extends Declares.NamedPlace = string>(definition: ComputationDefinition<Output>): Definition => {
  const given = inTexts(definition as unknown as ComputationDefinition, Declares.templateOf)
  return Piece.template(given, (filled, inputs) => build(filled, inputs, definition.output))
}

const build = (definition: Texts<ComputationDefinition>, inputs: Inputs, typed: Declares.NamedPlace): Definition => {
  const base = common(definition)
  const { name } = base
  const output = document(name, "output", definition.output!)
  const writes = (definition.writes ?? []).map((text) => document(name, "writes", text))
  const twice = [output, ...writes].find((key, i, keys) => keys.indexOf(key) < i)
  if (twice !== undefined) {
    throw new InvalidNode({
      name,
      reason: `its output and writes name ${twice} twice; what it returns goes to its output, so name only the others among its writes`
    })
  }
  return {
    _tag: "Computation",
    ...base,
    output,
    writes,
    envelope: envelope(name, writes),
    run: withType(withInputs(callable(name, "run", definition.run), inputs), typed),
    deliver: undefined,
    speculative: false,
    autoDebounce: false
  }
}
