/**
 * Content in a frame: a record whose key has the digest, and whose bytes are the content.
 *
 *     <digest>               content
 *     <digest> code          the text of a module
 *     <digest> [code] <size> a reference: no bytes, or the descriptor of large content
 *
 * @module
 */
import { Refusal } from "../frame/FrameRefused.ts"
import * as LargeContent from "../persistence/LargeContent.ts"

/** A content record without its bytes: `size` is that of a reference. */
export interface ContentName {
  readonly hash: string
  readonly isCode: boolean
  readonly size: number | undefined
}

/** Content that a frame refers to, with the place of its objects if it is large. */
export interface ContentReference extends ContentName {
  readonly size: number
  readonly descriptor: LargeContent.Descriptor | undefined
}

/** The key of content with its bytes. */
export const ofBytes = (hash: string, isCode: boolean): string => isCode ? `${hash} code` : hash

/** The key of a reference. */
export const ofSize = (hash: string, isCode: boolean, size: number): string => `${ofBytes(hash, isCode)} ${size}`

/** Reads a key; `undefined` for one that names no content. */
export const read = (key: string): ContentName | undefined => {
  const [, hash, code, size] = /^([0-9a-f]{64})( code)?( (?:0|[1-9]\d{0,15}))?$/.exec(key) ?? []
  if (hash === undefined) return undefined
  return { hash, isCode: code !== undefined, size: size === undefined ? undefined : Number(size) }
}

/**
 * The reference of a record, whose descriptor comes from outside.
 *
 * @throws Refusal
 */
export const referenceIn = ({ hash, isCode, size = 0 }: ContentName, bytes: Uint8Array): ContentReference => {
  if (bytes.length === 0) return { hash, isCode, size, descriptor: undefined }
  const descriptor = descriptorIn(bytes)
  if (descriptor === undefined || descriptor.size !== size) {
    throw new Refusal("frame/bounds", `the reference to the content ${hash} names no objects of ${size} bytes`)
  }
  return { hash, isCode, size, descriptor }
}

const UPLOAD = /^[0-9a-z-]{1,64}$/

const DIGEST = /^[0-9a-f]{64}$/

/** A descriptor with as many parts as its size has. */
const descriptorIn = (bytes: Uint8Array): LargeContent.Descriptor | undefined => {
  try {
    const found = LargeContent.decode("", bytes)
    if (found === undefined || !Number.isSafeInteger(found.size) || !UPLOAD.test(found.upload)) return undefined
    const { parts, size, upload } = found
    if (!Array.isArray(parts) || parts.length !== Math.ceil(size / LargeContent.OBJECT)) return undefined
    const isWhole = parts.every((part) => DIGEST.test(part))
    return isWhole ? { size, upload, parts } : undefined
  } catch {
    return undefined
  }
}
