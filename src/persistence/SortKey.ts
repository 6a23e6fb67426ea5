/**
 * Sort keys: keys in a form that SQLite orders by code unit.
 *
 * SQLite compares the bytes of UTF-8, in the order of code points; names compare by code unit. The two orders differ
 * only between a character from U+E000 to U+FFFF and one beyond U+FFFF. The former get a prefix that sorts after all
 * other characters.
 *
 * @module
 */

const MARK = "\u{10ffff}"
/** Escapes the prefix itself: below U+E000, like its surrogates. */
const MARKED = "\u0001"

const late = /[\ue000-\uffff]|\u{10ffff}/u
const everyLate = /[\ue000-\uffff]|\u{10ffff}/gu
const everyMarked = /\u{10ffff}(.)/gu

/**
 * Encodes a key in its stored form.
 */
export const encode = (key: string): string => late.test(key) ? key.replace(everyLate, (c) => MARK + (c === MARK ? MARKED : c)) : key

/** The bounds of the stored keys that begin with a prefix. */
export interface Range {
  /** Before all of them. */
  readonly start: string
  /** After all of them, and before each later key. */
  readonly last: string
  /** The least text after all of them. */
  readonly end: string
}

/**
 * The range of the stored keys behind a prefix that ends with a separator.
 */
export const range = (prefix: string): Range => {
  const last = prefix.length - 1
  // No stored key has two marks in a row.
  return { start: prefix, last: prefix + MARK + MARK, end: prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1) }
}

/**
 * Decodes the stored form of a key.
 */
export const decode = (stored: string): string =>
  stored.includes(MARK) ? stored.replace(everyMarked, (_, c: string) => c === MARKED ? MARK : c) : stored
