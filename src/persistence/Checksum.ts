/**
 * Checksums of rows: 32 bits that detect damage.
 *
 * Each step multiplies once per code unit and is invertible, so the change of one code unit always changes the sum.
 * Checksums detect failing disks and incomplete copies. They do not detect forgery; the journal's digests do.
 *
 * @module
 */

const START = 0x811c9dc5 | 0
const PRIME = 0x01000193

/**
 * The checksum of a text, or of its end from `from` on. The checksum of a previous text as `before` gives the checksum of both.
 */
export const ofText = (text: string, before = START, from = 0): number => {
  const { length } = text
  let sum = Math.imul(before ^ (length - from), PRIME)
  for (let i = from; i < length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), PRIME)
  return sum
}

/**
 * The checksum of bytes.
 */
export const ofBytes = (bytes: Uint8Array, before = START): number => {
  const { length } = bytes
  const words = length & ~3
  const view = new DataView(bytes.buffer, bytes.byteOffset, length)
  let sum = Math.imul(before ^ length, PRIME)
  let i = 0
  for (; i < words; i += 4) sum = Math.imul(sum ^ view.getInt32(i, true), PRIME)
  for (; i < length; i++) sum = Math.imul(sum ^ view.getUint8(i), PRIME)
  return sum
}

/**
 * The checksum of short values, with a separator after each.
 */
export const ofValues = (...values: ReadonlyArray<string | number | null>): number => ofText(values.join("\n"))
