/**
 * Expected failures, told from defects.
 *
 * @module
 */

/**
 * Passes errors of these classes on, and throws any other again: that one is a defect.
 *
 * @category constructors
 * @since 0.1.0
 */
export const expected = <E>(...types: ReadonlyArray<abstract new(...args: never) => E>) => (error: unknown): E => {
  if (types.some((type) => error instanceof type)) return error as E
  throw error
}
