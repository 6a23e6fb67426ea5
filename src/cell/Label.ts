/**
 * Labels: sets of confidentiality atoms.
 *
 * A value carries the union of the labels of its inputs. A reader sees a value only if the reader's clearance holds
 * every atom of its label [S2 §10].
 *
 * @module
 */

/**
 * A set of atoms, sorted and without duplicates.
 *
 * @category models
 * @since 0.1.0
 */
export type Label = ReadonlyArray<string>

/** The empty label of public values. */
export const none: Label = Object.freeze([])

/**
 * Creates the label of the given atoms: sorts them and removes duplicates.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (atoms: Iterable<string>): Label => {
  const sorted = [...new Set(atoms)].sort()
  return sorted.length === 0 ? none : Object.freeze(sorted)
}

/**
 * Returns the union of two labels. If one label contains the other, that object is returned.
 *
 * @category combinators
 * @since 0.1.0
 */
export const join = (a: Label, b: Label): Label => {
  if (a === b || isWithin(b, a)) return a
  return isWithin(a, b) ? b : make([...a, ...b])
}

/**
 * Tests whether a clearance holds every atom of a label.
 *
 * @example The label of a combined value
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
