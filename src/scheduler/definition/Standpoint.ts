/**
 * Standpoints: the untracked inputs of a run.
 *
 * The moment of a run and its peeked values are no reads, and do not cause runs. The
 * children of the run may depend on both. A run that only restores a node's children
 * therefore adopts the standpoint of the earlier run.
 *
 * @module
 */
import type { Value } from "../../cell/Value.ts"
import * as Codec from "../../cell/Document.ts"
import * as JsonParser from "../../cell/JsonParser.ts"

/** A peeked place with its value; an empty list for an absent value. */
export type PeekedPlace = readonly [place: string, held: readonly [unknown?]]

/**
 * The moment and the peeked values of a run.
 */
export interface Standpoint {
  readonly beat: number
  readonly now: number
  readonly peeks: ReadonlyArray<PeekedPlace>
}

/**
 * A peeked value in its stored form.
 */
export const peekedPlace = (place: string, value: Value): PeekedPlace =>
  [place, value === undefined ? [] : [JsonParser.parse(Codec.encode(value).text)]]

/**
 * The peeked value of a place, if it was peeked at.
 */
export const at = ({ peeks }: Standpoint, place: string): { readonly value: Value } | undefined => {
  const found = peeks.find(([seen]) => seen === place)
  if (found === undefined) return undefined
  const [, [held]] = found
  return { value: held === undefined ? undefined : Codec.read(Codec.decode(JSON.stringify(held)), []) }
}

/**
 * Whether a standpoint exceeds a number of characters.
 */
export const isLarge = (standpoint: Standpoint, limit: number): boolean => JSON.stringify(standpoint).length > limit

/**
 * The adopted standpoints, by the indexes of their lines.
 */
export const byLine = (
  lines: ReadonlyArray<{ readonly recalled?: Standpoint | undefined }>
): ReadonlyArray<readonly [line: number, standpoint: Standpoint]> =>
  lines.flatMap(({ recalled }, line) => recalled === undefined ? [] : [[line, recalled] as const])
