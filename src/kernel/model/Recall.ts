/**
 * Recall: how code that ran once is brought back, for a look back alone.
 *
 * The kernel keeps the texts of modules and knows nothing of how they are
 * imported; whoever can import one gives this. (Architecture, sections 4 and 9.)
 *
 * @module
 */
import * as Context from "effect/Context"
import type { Enzyme } from "../../registry/Enzyme.ts"
import type { Definition } from "../../scheduler/Definition.ts"

/** What a module brought. */
export interface Recalled {
  readonly enzymes: ReadonlyArray<Enzyme>
  readonly nodes: ReadonlyArray<Definition>
}

/**
 * Gives the enzymes and nodes of a module from its text, whose digest was checked; or says why they cannot be had.
 *
 * @category models
 * @since 0.1.0
 */
export type Recall = (digest: string, text: string) => Promise<Recalled | string>

/**
 * Who brings code back; nobody, unless it is given.
 *
 * @category references
 * @since 0.1.0
 */
export const Recall = Context.Reference<Recall>("systole/kernel/Recall", {
  defaultValue: () => () => Promise.resolve("nothing here imports modules")
})
