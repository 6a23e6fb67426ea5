/**
 * Labels: who may learn what a value was made of.
 *
 * A label is a set of atoms. What is made of several values carries the union
 * of their labels; a reader whose clearance does not hold every atom is not
 * shown the value. (Architecture, section 10; seed 002, D9.)
 *
 * @module
 */

/**
 * A set of atoms, sorted and without repeats.
 *
 * @category models
 * @since 0.1.0
 */
export type Label = ReadonlyArray<string>

/** The label of what anyone may see. */
export const none: Label = Object.freeze([])

/**
 * The label of these atoms.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (atoms: Iterable<string>): Label => {
  const sorted = [...new Set(atoms)].sort()
  return sorted.length === 0 ? none : Object.freeze(sorted)
}

/**
 * The label of what is made of both: the union. One of the two is returned as it is where it holds the other.
 *
 * @category combinators
 * @since 0.1.0
 */
export const join = (a: Label, b: Label): Label => {
  if (a === b || isWithin(b, a)) return a
  return isWithin(a, b) ? b : make([...a, ...b])
}

/**
 * Whether a clearance admits a label.
 *
 * @example What is made of two values
 * ```ts
 * import { Label } from "systole"
 *
 * const total = Label.join(Label.make(["salary"]), Label.make(["health"]))
 * if (Label.isWithin(total, Label.make(["salary"]))) throw new Error("withheld too little")
 * ```
 *
 * @category predicates
 * @since 0.1.0
 */
export const isWithin = (label: Label, clearance: Label): boolean => label.every((atom) => clearance.includes(atom))
