/**
 * Keys as SQLite stores them, so that its order is ours.
 *
 * SQLite compares the bytes of UTF-8, which is the order of code points; names
 * compare by code unit. The two differ only where a character from U+E000 to
 * U+FFFF meets one beyond U+FFFF. Such characters get a mark before them that
 * sorts after everything else.
 *
 * @module
 */

const MARK = "\u{10ffff}"
/** Stands for the mark itself: below U+E000, as its surrogates are. */
const MARKED = "\u0001"

const late = /[\ue000-\uffff]|\u{10ffff}/u
const everyLate = /[\ue000-\uffff]|\u{10ffff}/gu
const everyMarked = /\u{10ffff}(.)/gu

/**
 * The stored form of a key.
 *
 * @category constructors
 * @since 0.1.0
 */
export const encode = (key: string): string => late.test(key) ? key.replace(everyLate, (c) => MARK + (c === MARK ? MARKED : c)) : key

/**
 * The key of a stored form.
 *
 * @category getters
 * @since 0.1.0
 */
export const decode = (stored: string): string => stored.includes(MARK) ? stored.replace(everyMarked, (_, c: string) => c === MARKED ? MARK : c) : stored
