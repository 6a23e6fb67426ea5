/**
 * Seeded random integers: the same seed draws the same numbers.
 *
 * @module
 */

/** Draws a random integer from 0 up to but excluding a bound. */
export type Random = (bound: number) => number

/** Creates a generator from a seed (mulberry32). */
export const make = (seed: number): Random => {
  let state = seed
  return (bound) => {
    state = state + 0x6d2b79f5 | 0
    let mixed = Math.imul(state ^ state >>> 15, 1 | state)
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed
    return ((mixed ^ mixed >>> 14) >>> 0) % bound
  }
}

/** A random item. */
export const pick = <A>(draw: Random, from: ReadonlyArray<A>): A => from[draw(from.length)]!

/** The items in random order. */
export const shuffled = <A>(draw: Random, items: ReadonlyArray<A>): ReadonlyArray<A> => {
  const left = [...items]
  return items.map(() => left.splice(draw(left.length), 1)[0]!)
}
