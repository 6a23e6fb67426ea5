/**
 * Seeded random integers: the same seed draws the same numbers.
 *
 * @module
 */
import * as Fraction from "../../../stage/Random.ts"

/** Draws a random integer from 0 up to but excluding a bound. */
export type Random = (bound: number) => number

/** Creates a generator from a seed. */
export const make = (seed: number): Random => {
  const fraction = Fraction.make(seed.toString(16).padStart(32, "0"), 0)
  return (bound) => Math.floor(fraction() * bound)
}

/** A random item. */
export const pick = <A>(draw: Random, from: ReadonlyArray<A>): A => from[draw(from.length)]!
