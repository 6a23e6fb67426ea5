/**
 * Whole numbers by chance, the same for the same seed.
 *
 * @module
 */
import * as Chance from "../../../stage/Random.ts"

/** Rolls a whole number from 0 up to a bound, the bound left out. */
export type Roll = (bound: number) => number

/** Rolls from a seed. */
export const make = (seed: number): Roll => {
  const draw = Chance.make(seed.toString(16).padStart(32, "0"), 0)
  return (bound) => Math.floor(draw() * bound)
}

/** One item of a list. */
export const pick = <A>(roll: Roll, from: ReadonlyArray<A>): A => from[roll(from.length)]!
