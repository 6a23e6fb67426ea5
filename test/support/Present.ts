/**
 * Values that a test expects to be present.
 *
 * @module
 */

/** Returns a value. Throws if it is absent. */
export const present = <T>(value: T | null | undefined): T => {
  if (value === null || value === undefined) throw new Error(`A value is expected, and it is ${String(value)}`)
  return value
}
