/**
 * Outputs of earlier actions in texts: `${output:<id>}`.
 *
 * @module
 */

const REFERENCE = /\$\{output:([^}]*)\}/g

/**
 * The actions that a text refers to, in order, each once.
 *
 * @category getters
 * @since 0.1.0
 */
export const references = (text: string): ReadonlyArray<string> =>
  [...new Set([...text.matchAll(REFERENCE)].map(([, id = ""]) => id.trim()))]

/**
 * A text with the outputs of actions in the place of the references to them. An output itself is never searched.
 *
 * @category combinators
 * @since 0.1.0
 */
export const insert = (text: string, outputOf: (id: string) => string): string =>
  text.replace(REFERENCE, (_, id: string) => outputOf(id.trim()))
