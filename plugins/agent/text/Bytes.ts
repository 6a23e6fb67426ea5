/**
 * The bytes of files.
 *
 * @module
 */

/**
 * Tests two contents of files for equality. An absent file equals another absent one.
 */
export const isSame = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean => {
  if (a === undefined || b === undefined || a.length !== b.length) return a === b
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
