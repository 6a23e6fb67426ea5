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
 *
 * @category constructors
 * @since 0.1.0
 */
export const encode = (key: string): string => late.test(key) ? key.replace(everyLate, (c) => MARK + (c === MARK ? MARKED : c)) : key

/**
 * Decodes the stored form of a key.
 *
 * @category getters
 * @since 0.1.0
 */
export const decode = (stored: string): string =>
  stored.includes(MARK) ? stored.replace(everyMarked, (_, c: string) => c === MARKED ? MARK : c) : stored
