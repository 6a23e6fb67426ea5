/**
 * Escaping of text for terminals.
 *
 * Reports, names and values are those of modules and callers. Control characters among them can move a terminal's cursor,
 * set its title or reverse the text direction, so each is shown by its number.
 *
 * @module
 */

// Control characters except tab and line feed, direction marks, and line separators.
const unprintable = /(?![\t\n])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

const shown = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/**
 * Escapes control characters in a text of lines. Valid JSON keeps its meaning.
 */
export const lines = (text: string): string => text.replaceAll("\r\n", "\n").replaceAll(unprintable, shown)

/**
 * Escapes control characters and puts the text on one line.
 */
export const line = (text: string): string => lines(text.replaceAll(/[\s\u0085]+/g, " "))

/**
 * The id of an event, with the id that its caller gave it.
 */
export const event = (id: string, own: string | undefined): string => own === undefined ? id : `${id} (${line(own)})`

/**
 * A number of things, whose name has an s unless it is one: `1 signal`, `2 signals`.
 */
export const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`

/**
 * A value as JSON. No value, and an object without a field, is `none`.
 */
export const value = (value: unknown): string => {
  const text = JSON.stringify(value) as string | undefined
  return text === undefined || text === "{}" ? "none" : text
}
