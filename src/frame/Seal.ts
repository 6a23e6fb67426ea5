/**
 * The seal of a frame: its last chunk, canonical JSON with the totals, and with the signature of a frame that has one.
 *
 * Its digest is taken without the signature, and is the root of the frame.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import { Refusal } from "./FrameRefused.ts"
import type { Point } from "./Header.ts"
import * as Signature from "./Signature.ts"

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

/** The bytes of a seal, with or without its signature. */
export const encode = (totals: Totals, signature?: Signature.Signature): Uint8Array =>
  new TextEncoder().encode(Document.entry(signature === undefined ? totals : { ...totals, signature }))

/**
 * The signature in the bytes of a seal, which are these totals with it.
 *
 * @throws Refusal
 */
export const signatureIn = (raw: Uint8Array, totals: Totals): Signature.Signature => {
  const signature = fieldOf(raw)
  if (!Signature.isSignature(signature)) throw new Refusal("frame/signature", "its header says that it is signed, and it is not")
  check(raw, encode(totals, signature))
  return signature
}

/**
 * Checks that the bytes of a seal are as expected.
 *
 * @throws Refusal
 */
export const check = (raw: Uint8Array, expected: Uint8Array): void => {
  if (raw.length !== expected.length || raw.some((byte, i) => byte !== expected[i])) {
    throw new Refusal("frame/changed", "its seal does not fit what was before it")
  }
}

const fieldOf = (raw: Uint8Array): unknown => {
  try {
    return (JSON.parse(new TextDecoder().decode(raw)) as { readonly signature?: unknown } | null)?.signature
  } catch {
    return undefined
  }
}
