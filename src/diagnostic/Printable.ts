/**
 * Printable text: what a terminal shows as text, whatever it came from.
 *
 * Reports, names and values come from modules and callers. Bytes among them can
 * move a terminal's cursor, set its title or turn the order of what follows, so
 * each is shown by its number.
 *
 * @module
 */

// Control characters but tab and line feed, marks of direction, and separators that end a line.
const unprintable = /(?![\t\n])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

const shown = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/**
 * A text of lines without characters that a terminal obeys. JSON stays the same JSON.
 *
 * @category combinators
 * @since 0.1.0
 */
export const lines = (text: string): string => text.replaceAll("\r\n", "\n").replaceAll(unprintable, shown)

/**
 * The same on one line.
 *
 * @category combinators
 * @since 0.1.0
 */
export const line = (text: string): string => lines(text.replaceAll(/[\s\u0085]+/g, " "))
