/**
 * Refusals of texts: what is refused, and the remedy.
 *
 * @module
 */

/** A text that is refused, with the remedy. */
export interface Refusal {
  readonly refused: string
  readonly suggestion: string
}

/** Tests whether a parser refused its text. */
export const isRefusal = (parsed: object): parsed is Refusal => "refused" in parsed
