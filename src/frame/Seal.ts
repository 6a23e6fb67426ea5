/**
 * The seal of a frame: its last chunk, canonical JSON with the totals.
 *
 * Its digest is taken without the signature, and is the root of the frame.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import type { Point } from "./Header.ts"

/** The totals of a frame. */
export interface Totals {
  /** The number of chunks before the seal. */
  readonly chunks: number
  /** The number of records, without parts. */
  readonly records: number
  /** The number of bytes of the chunks before compression. */
  readonly bytes: number
  readonly head: Point
}

/** The bytes of a seal. */
export const encode = (totals: Totals): Uint8Array => new TextEncoder().encode(Document.entry(totals))

/** Whether the bytes of a seal are these totals. */
export const isOf = (raw: Uint8Array, totals: Totals): boolean => {
  const expected = encode(totals)
  return raw.length === expected.length && raw.every((byte, i) => byte === expected[i])
}
