/**
 * The chunks of a frame, and the chain of digests over them.
 *
 *     frame  := "SYF1"  u32 length  header  chunk*  seal
 *     chunk  := u8 type  u32 seq  u32 raw  u32 stored  bytes[stored]  digest[32]
 *
 * Integers are big endian. `raw` is the number of bytes, and `stored` the number of those in the frame: fewer where they
 * are compressed. The first digest is that of all bytes up to the first chunk. The digest of a chunk is that of the digest
 * before, the type, `seq`, `raw` and the bytes before compression. So a change, a gap, a repeated and an exchanged chunk
 * are seen at the chunk where they are.
 *
 * @module
 */
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import type { Hash } from "../persistence/Hash.ts"

/** The first bytes of a frame: SYF1. */
export const MAGIC = Uint8Array.of(0x53, 0x59, 0x46, 0x31)

/** The bytes before the header: the magic and the length. */
export const OPENING = 8

/** The most bytes of a chunk before compression. */
export const MAX_RAW = 262_144

/** The bytes of a chunk before those that it carries. */
export const HEAD = 13

/** The bytes of a digest. */
export const DIGEST = 32

/** The type of the last chunk. */
export const SEAL = 0xff

/**
 * A chunk.
 */
export interface Chunk {
  /** The type of its records, or {@link SEAL}. */
  readonly type: number
  /** Its number, from 1. */
  readonly seq: number
  /** Its bytes before compression. */
  readonly raw: Uint8Array
  /** Its link of the chain: 64 hexadecimal digits. */
  readonly digest: string
}

/** The numbers before the bytes of a chunk. */
export interface Numbers {
  readonly type: number
  readonly seq: number
  readonly raw: number
  readonly stored: number
}

/**
 * The bytes of a frame before its first chunk.
 */
export const opening = (header: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(OPENING + header.length)
  bytes.set(MAGIC)
  new DataView(bytes.buffer).setUint32(MAGIC.length, header.length)
  bytes.set(header, OPENING)
  return bytes
}

/**
 * The digest of the bytes before the first chunk.
 */
export const first = (hash: Hash["Service"], before: Uint8Array): string => hash.hex(before)

/**
 * The digest of a chunk after another.
 */
export const after = (
  hash: Hash["Service"],
  previous: string,
  { raw, seq, type }: { readonly type: number; readonly seq: number; readonly raw: Uint8Array }
): string => {
  const numbers = new Uint8Array(9)
  const view = new DataView(numbers.buffer)
  view.setUint8(0, type)
  view.setUint32(1, seq)
  view.setUint32(5, raw.length)
  const hasher = hash.start()
  for (const bytes of [hexToBytes(previous), numbers, raw]) hasher.update(bytes)
  return hasher.hex()
}

/**
 * The bytes of a chunk in the frame. `stored` is its bytes as compressed, or as they are.
 */
export const encode = ({ digest, raw, seq, type }: Chunk, stored: Uint8Array = raw): Uint8Array => {
  const bytes = new Uint8Array(HEAD + stored.length + DIGEST)
  const view = new DataView(bytes.buffer)
  view.setUint8(0, type)
  view.setUint32(1, seq)
  view.setUint32(5, raw.length)
  view.setUint32(9, stored.length)
  bytes.set(stored, HEAD)
  bytes.set(hexToBytes(digest), HEAD + stored.length)
  return bytes
}

/**
 * Reads the numbers at the beginning of a chunk.
 */
export const numbers = (bytes: Uint8Array): Numbers => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEAD)
  return { type: view.getUint8(0), seq: view.getUint32(1), raw: view.getUint32(5), stored: view.getUint32(9) }
}

/** The length of the header, from the first bytes of a frame. */
export const lengthOf = (bytes: Uint8Array): number => new DataView(bytes.buffer, bytes.byteOffset, OPENING).getUint32(MAGIC.length)

/** The digest at the end of a chunk. */
export const digestAt = (bytes: Uint8Array, at: number): string => bytesToHex(bytes.subarray(at, at + DIGEST))
