/**
 * Content in a frame: a record whose key has the digest, and whose bytes are the content.
 *
 *     <digest>          content
 *     <digest> code     the text of a module
 *     <digest> <size>   a reference without bytes
 *
 * @module
 */

/** A content record without its bytes: `size` is that of a reference. */
export interface ContentName {
  readonly hash: string
  readonly isCode: boolean
  readonly size: number | undefined
}

/** The key of content with its bytes. */
export const ofBytes = (hash: string, isCode: boolean): string => isCode ? `${hash} code` : hash

/** The key of a reference. */
export const ofSize = (hash: string, size: number): string => `${hash} ${size}`

/** Reads a key; `undefined` for one that names no content. */
export const read = (key: string): ContentName | undefined => {
  const [, hash, rest] = /^([0-9a-f]{64})(?: (code|0|[1-9]\d{0,15}))?$/.exec(key) ?? []
  if (hash === undefined) return undefined
  return { hash, isCode: rest === "code", size: rest === undefined || rest === "code" ? undefined : Number(rest) }
}
