/**
 * A seeded random generator: the same seed rolls the same numbers.
 *
 * @module
 */

/** Returns a random integer from 0 up to but excluding a bound. */
export type Dice = (bound: number) => number

/** Creates a generator from a seed (mulberry32). */
export const make = (seed: number): Dice => {
  let state = seed
  return (bound) => {
    state = state + 0x6d2b79f5 | 0
    let mixed = Math.imul(state ^ state >>> 15, 1 | state)
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed
    return ((mixed ^ mixed >>> 14) >>> 0) % bound
  }
}

/** A random item. */
export const pick = <A>(roll: Dice, from: ReadonlyArray<A>): A => from[roll(from.length)]!

/** The items in random order. */
export const shuffled = <A>(roll: Dice, items: ReadonlyArray<A>): ReadonlyArray<A> => {
  const left = [...items]
  return items.map(() => left.splice(roll(left.length), 1)[0]!)
}
