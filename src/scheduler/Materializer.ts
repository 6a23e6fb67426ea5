/**
 * Materializers: nodes that write cells which they choose themselves.
 *
 * @module
 */
import type { Transaction } from "../stage/Transaction.ts"
import type { Common, Definition, Inputs } from "./Definition.ts"
import { callable, common, envelope, InvalidNode, withInputs } from "./Definition.ts"
import * as Piece from "./Piece.ts"

/** What an author gives to define a materializer. */
export interface MaterializerDefinition extends Common {
  /** The envelope: patterns of the cells that it may write. */
  readonly writes: ReadonlyArray<string>
  /** Running it again on the same reads has to make the same writes. */
  readonly run: (tx: Transaction, inputs: Inputs) => void
}

/**
 * A materializer: it runs whenever something that it read changed, after all else is done, or before whatever reads inside its envelope itself.
 *
 * A node that reads there through another one does not wait for it: where something else has it run in the same pass, it runs once more when
 * the materializer has written something new. A handler that reads there, through others or not, finds all of it up to date. (Seed 002, section 4.3.)
 *
 * @throws InvalidNode
 * @example An index beside the documents
 * ```ts
 * import { Materializer } from "systole"
 *
 * const byColour = Materializer.make({
 *   name: "by-colour",
 *   writes: ["/data/colours/*"],
 *   run: (tx) => {
 *     for (const id of tx.list("/data/cars")) tx.set(`/data/colours/${tx.get(`/data/cars/${id}#/colour`)}`, id)
 *   }
 * })
 * if (byColour.writes.length !== 1) throw new Error("no envelope")
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (definition: MaterializerDefinition): Definition => Piece.templated(definition, build)

const build = (definition: MaterializerDefinition, inputs: Inputs): Definition => {
  const base = common(definition)
  const { name } = base
  const { writes } = definition
  if (!Array.isArray(writes) || writes.length === 0) {
    throw new InvalidNode({ name, reason: "it declares no writes, so it could write nothing; name the cells, such as /data/index/*" })
  }
  return {
    _tag: "Materializer",
    ...base,
    output: undefined,
    writes,
    envelope: envelope(name, writes),
    run: withInputs(callable(name, "run", definition.run), inputs),
    deliver: undefined,
    speculative: false,
    autoDebounce: false
  }
}
