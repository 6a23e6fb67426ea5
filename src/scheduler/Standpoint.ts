/**
 * Standpoints: from where a run saw what no change tells it of.
 *
 * The moment of a run, and what it peeked at, are no reads: the node does not run
 * again for them. What it starts may follow from both. So a run that only brings
 * back what a node started takes the standpoint of the run before.
 *
 * @module
 */
import type { Value } from "../cell/Value.ts"
import * as Codec from "../cell/Document.ts"

/** One place at which a run peeked, and what it saw there; nothing where nothing was. */
export type Peeked = readonly [place: string, held: readonly [unknown?]]

/**
 * When a run was, and what it peeked at.
 *
 * @category models
 * @since 0.1.0
 */
export interface Standpoint {
  readonly beat: number
  readonly now: number
  readonly peeks: ReadonlyArray<Peeked>
}

/**
 * A value that was seen at a place, in its stored form.
 *
 * @category constructors
 * @since 0.1.0
 */
export const peeked = (place: string, value: Value): Peeked => [place, value === undefined ? [] : [JSON.parse(Codec.encode(value).text)]]

/**
 * What a run saw at a place from there, where it peeked at it.
 *
 * @category getters
 * @since 0.1.0
 */
export const at = ({ peeks }: Standpoint, place: string): { readonly value: Value } | undefined => {
  const found = peeks.find(([seen]) => seen === place)
  if (found === undefined) return undefined
  const [, [held]] = found
  return { value: held === undefined ? undefined : Codec.read(Codec.decode(JSON.stringify(held)), []) }
}

/**
 * Whether a standpoint takes more characters than that.
 *
 * @category getters
 * @since 0.1.0
 */
export const isLarge = (standpoint: Standpoint, limit: number): boolean => JSON.stringify(standpoint).length > limit

/**
 * The standpoints that runs took over from earlier ones, by the places of their lines.
 *
 * @category getters
 * @since 0.1.0
 */
export const byLine = (lines: ReadonlyArray<{ readonly recalled?: Standpoint | undefined }>): ReadonlyArray<readonly [line: number, standpoint: Standpoint]> =>
  lines.flatMap(({ recalled }, line) => recalled === undefined ? [] : [[line, recalled] as const])
