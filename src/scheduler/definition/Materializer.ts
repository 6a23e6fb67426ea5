/**
 * Materializers: nodes that choose the cells which they write.
 *
 * @module
 */
import * as Declares from "../../registry/Declares.ts"
import type { Transaction } from "../../stage/Transaction.ts"
import type { Common, Definition, Inputs } from "./Definition.ts"
import { callable, common, envelope, InvalidNode, inTexts, type Texts, withInputs } from "./Definition.ts"
import * as Piece from "./Piece.ts"

/** The definition of a materializer by its author. */
export interface MaterializerDefinition extends Common {
  /** The envelope: the cells that it may write, as patterns, cells or families. */
  readonly writes: ReadonlyArray<Declares.NamedPlace>
  /** Has to be idempotent: equal reads make equal writes. */
  readonly run: (tx: Transaction, inputs: Inputs) => void
}

/**
 * A materializer: it runs after all other nodes when a value that it read has changed, and before a direct read inside its
 * envelope.
 *
 * A node that reads there through another node does not wait for it. If such a node runs earlier in the pass, it runs again once
 * the materializer has written a different value. A handler finds all places inside the envelope up to date, whether it reads them
 * directly or not. [S2 §4.3]
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
export const make = (definition: MaterializerDefinition): Definition =>
  Piece.template(inTexts(definition, Declares.patternOf), build)

const build = (definition: Texts<MaterializerDefinition>, inputs: Inputs): Definition => {
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
