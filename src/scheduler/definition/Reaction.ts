/**
 * Reactions: nodes that read values and deliver them outside of the beat.
 *
 * Stored observations and the graph name them effects, as earlier versions did.
 *
 * @module
 */
import type { Value } from "../../cell/Value.ts"
import * as Declares from "../../registry/Declares.ts"
import type { Transaction } from "../../stage/Transaction.ts"
import type { Common, Definition, Delivery, Inputs } from "./Definition.ts"
import { callable, common, envelope, inTexts, type Texts, withInputs } from "./Definition.ts"
import * as Piece from "./Piece.ts"

/** The definition of a reaction by its author. */
export interface ReactionDefinition<Seen extends Value> extends Common {
  /** Reads the observed values; it writes none. All its sources are kept up to date. */
  readonly read: (tx: Transaction, inputs: Inputs) => Seen
  /** Receives the value once that is durable: in order, at most once, and never in a replay. */
  readonly deliver: (value: Seen, at: Delivery) => void | Promise<void>
  /** Delivers right after the pass, before the beat is durable. */
  readonly speculative?: boolean | undefined
  /** Never gives it a debounce because of slow runs. */
  readonly noDebounce?: boolean | undefined
}

/**
 * A reaction. For delivery at least once, send a request to the reactor instead.
 *
 * @throws InvalidNode
 * @example Telling of each new total
 * ```ts
 * import { Reaction } from "systole"
 *
 * const told: Array<number> = []
 * const teller = Reaction.make({
 *   name: "teller",
 *   read: (tx) => Number(tx.get("/data/total")),
 *   deliver: (total) => void told.push(total)
 * })
 * if (teller._tag !== "Effect") throw new Error("no reaction")
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <Seen extends Value>(definition: ReactionDefinition<Seen>): Definition =>
  Piece.template(inTexts(definition, Declares.patternOf), build)

const build = <Seen extends Value>(definition: Texts<ReactionDefinition<Seen>>, inputs: Inputs): Definition => {
  const base = common(definition)
  const { name } = base
  return {
    _tag: "Effect",
    ...base,
    output: undefined,
    writes: [],
    envelope: envelope(name, []),
    run: withInputs(callable(name, "read", definition.read), inputs),
    deliver: callable(name, "deliver", definition.deliver) as Definition["deliver"],
    speculative: definition.speculative === true,
    autoDebounce: definition.noDebounce !== true
  }
}
