/**
 * The parser of JSON texts, of a store and from outside.
 *
 * `JSON.parse` of V8 (at least 12.8 to 14.6) may take one key for another: a key with an escape sequence for a similar key of
 * an earlier text. So a text with such a key is built from its tokens. Any other text is left to `JSON.parse`.
 *
 * @module
 */

/**
 * Parses a JSON text.
 *
 * @throws SyntaxError
 */
export const parse = (text: string): unknown => {
  const value: unknown = JSON.parse(text)
  return hasEscapedKey(text) ? build(text) : value
}

const QUOTE = 0x22
const COLON = 0x3a
const SPACE = 0x20

/** The index of the closing quote of the string at `start`. */
export const endOfString = (text: string, start: number): number => {
  for (let end = text.indexOf("\"", start + 1); end >= 0; end = text.indexOf("\"", end + 1)) {
    let escapes = 0
    while (text[end - 1 - escapes] === "\\") escapes++
    if (escapes % 2 === 0) return end
  }
  return text.length
}

/** Calls back with each token of a valid text except for colons, and with its index. */
export const eachToken = (text: string, visit: (token: string, at: number) => void): void => {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === COLON || code <= SPACE) continue
    const start = i
    if (code === QUOTE) i = endOfString(text, i)
    else {
      WORD.lastIndex = i
      if (WORD.test(text)) i = WORD.lastIndex - 1
    }
    visit(text.slice(start, i + 1), start)
  }
}

/** A number of a valid text, or `true`, `false` or `null`. */
const WORD = /[\w.+-]+/y

/** Tests whether a key of a valid text has an escape sequence. */
const hasEscapedKey = (text: string): boolean => {
  let escape = text.indexOf("\\")
  let start = text.indexOf("\"")
  while (escape >= 0 && start >= 0) {
    const end = endOfString(text, start)
    let next = end + 1
    if (escape < end) {
      while (text.charCodeAt(next) <= SPACE) next++
      if (text.charCodeAt(next) === COLON) return true
      escape = text.indexOf("\\", end)
    }
    start = text.indexOf("\"", next)
  }
  return false
}

/** An object or an array that is being built, and the key of the next member. */
interface Open {
  readonly value: object
  key: string | undefined
}

/** Builds the value of a valid text. */
const build = (text: string): unknown => {
  const root: Array<unknown> = []
  const open: Array<Open> = [{ value: root, key: undefined }]
  eachToken(text, (token) => {
    const here = open.at(-1)!
    if (token === ",") return
    if (token === "}" || token === "]") {
      open.pop()
      return
    }
    const isKey = here.key === undefined && !Array.isArray(here.value)
    const value: unknown = token === "{" ? {} : token === "[" ? [] : JSON.parse(token)
    if (isKey) here.key = value as string
    else put(here, value)
    if (token === "{" || token === "[") open.push({ value: value as object, key: undefined })
  })
  return root[0]
}

/** Adds a member or an item. A key `__proto__` is a member like any other, as in `JSON.parse`. */
const put = (open: Open, value: unknown): void => {
  if (Array.isArray(open.value)) open.value.push(value)
  else Object.defineProperty(open.value, open.key!, { value, configurable: true, enumerable: true, writable: true })
  open.key = undefined
}
