/**
 * Checksums of rows: 32 bits over what a row holds, by which damage is noticed.
 *
 * One multiplication for each code unit, and each step can be undone, so no
 * change of one code unit leaves the sum as it was. They guard against broken
 * disks and copies. They do not guard against people: the journal's digests do.
 *
 * @module
 */

const START = 0x811c9dc5 | 0
const PRIME = 0x01000193

/**
 * The sum of a text, or of several: begin with the sum of the text before.
 *
 * @category getters
 * @since 0.1.0
 */
export const ofText = (text: string, before = START): number => {
  let sum = Math.imul(before ^ text.length, PRIME)
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), PRIME)
  return sum
}

/**
 * The sum of bytes.
 *
 * @category getters
 * @since 0.1.0
 */
export const ofBytes = (bytes: Uint8Array, before = START): number => {
  const { length } = bytes
  const words = length & ~3
  let sum = Math.imul(before ^ length, PRIME)
  let i = 0
  for (; i < words; i += 4) sum = Math.imul(sum ^ (bytes[i]! | bytes[i + 1]! << 8 | bytes[i + 2]! << 16 | bytes[i + 3]! << 24), PRIME)
  for (; i < length; i++) sum = Math.imul(sum ^ bytes[i]!, PRIME)
  return sum
}

/**
 * The sum of short values, each of which is told apart from the next.
 *
 * @category getters
 * @since 0.1.0
 */
export const ofValues = (...values: ReadonlyArray<string | number | null>): number => ofText(values.join("\n"))
