/**
 * Words of endpoints and faces: the reference, the OpenAPI document and the command line are made from them.
 *
 * A Worker makes none of these. Its bundle has {@link NONE} in place of this module, and drops all words that are given to it.
 *
 * @module
 */

/**
 * Words for people. In a Worker they are `undefined`, which their type does not tell, because no code there reads them.
 */
export const words = <A>(given: A): A => given

/** This module in a bundle without words: calls of a function without a body are dropped with their arguments. */
export const NONE = "export function words() {}"
