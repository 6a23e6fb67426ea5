/**
 * JSON texts from outside: bodies, arguments of commands, payloads of actions.
 *
 * `JSON.parse` changes some texts silently: it rounds integers, turns some numbers into 0 or infinity, and keeps only the last
 * of equal keys. {@link parse} refuses these texts with the place of the fault. One linear scan decides whether the exact
 * check runs, so an ordinary text costs no more than that scan.
 *
 * @module
 */
import * as Data from "effect/Data"
import { pointer } from "./Address.ts"
import { eachToken, endOfString, parse as read } from "./JsonParser.ts"

/** The maximum nesting depth of a text. */
export const MAX_DEPTH = 64

/**
 * A text is refused. `code` names the rule that it breaks:
 *
 * - `json/syntax`: it is not JSON
 * - `json/depth`: it nests deeper than {@link MAX_DEPTH} levels
 * - `json/number`: no number has the value of a literal
 * - `json/key`: an object has a key twice
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidJson extends Data.TaggedError("InvalidJson")<{
  readonly code: "json/syntax" | "json/depth" | "json/number" | "json/key"
  readonly reason: string
}> {
  override get message() {
    return this.reason
  }
}

/**
 * Parses a JSON text. Its integers are exact, none of its numbers becomes 0 or infinite, and its keys are unique. Fractions and
 * numbers with an exponent are rounded, as doubles are.
 *
 * @example An id that a double does not hold
 * ```ts
 * import { JsonText } from "systole"
 *
 * try {
 *   JsonText.parse(`{"id":616581622363398142}`)
 * } catch (error) {
 *   if (!(error instanceof JsonText.InvalidJson) || error.code !== "json/number") throw error
 * }
 * ```
 *
 * @throws InvalidJson
 * @category decoding
 * @since 0.1.0
 */
export const parse = (text: string, numbers: Numbers = "exact"): unknown => {
  const { depth, isPrecise, members } = scan(text)
  if (depth > MAX_DEPTH) throw refuse("json/depth", `it nests deeper than ${MAX_DEPTH} levels, which is the limit. Make it flatter`)
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) throw refuse("json/syntax", "it begins with a byte order mark. Leave that out")
  let value: unknown
  try {
    value = read(text)
  } catch (error) {
    throw refuse("json/syntax", (error as Error).message)
  }
  if (isPrecise || members !== membersOf(value)) check(text, numbers === "exact")
  return isPrecise && numbers === "text" ? read(quoted(text)) : value
}

/** A number that no double has: it is refused, or read as its literal in a text, or as the nearest double. */
export type Numbers = "exact" | "text" | "round"

/** A valid text with each number that no double has between quotes. */
const quoted = (text: string): string => replaced(text, (token) => NUMBER.test(token) && !isHeld(token) ? JSON.stringify(token) : token)

/** Whether a double has the value of a literal, or rounds a fraction of it. */
const isHeld = (literal: string): boolean => {
  try {
    checkNumber(literal, () => "")
    return true
  } catch {
    return false
  }
}

/** A text with some of its tokens replaced. */
const replaced = (text: string, replace: (token: string) => string): string => {
  const parts: Array<string> = []
  let end = 0
  eachToken(text, (token, at) => {
    const other = replace(token)
    if (other === token) return
    parts.push(text.slice(end, at), other)
    end = at + token.length
  })
  return parts.join("") + text.slice(end)
}

/**
 * Returns a text that {@link parse} accepts. `JSON.stringify` writes large integers with zeros for their last digits; this one
 * writes all digits.
 *
 * @category encoding
 * @since 0.1.0
 */
export const write = (value: unknown): string => {
  const text = JSON.stringify(value)
  return scan(text).isPrecise ? replaced(text, (token) => INTEGER.test(token) ? BigInt(Number(token)).toString() : token) : text
}

const BYTE_ORDER_MARK = 0xfeff
const QUOTE = 0x22
const POINT = 0x2e

/** The digits of the smallest integer that a double does not hold, 9007199254740993. */
const LONG = 16

/** A fraction with fewer digits, and with an exponent of two digits, is not 0 as a double. */
const TINY = 200

/** The findings of a scan. */
interface Scan {
  readonly depth: number
  /** Whether a number outside of strings may differ from its double by more than the rounding of a fraction. */
  readonly isPrecise: boolean
  /** The number of colons outside of strings, which is the number of members of all objects. */
  readonly members: number
}

/** Scans a text without parsing it. The depth is exact up to one more than {@link MAX_DEPTH}, where the scan ends. */
const scan = (text: string): Scan => {
  let [depth, digits, members, most] = [0, 0, 0, 0]
  let isPrecise = false
  let limit = LONG
  for (let i = 0; i < text.length && most <= MAX_DEPTH; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x30 && code <= 0x39) {
      if (++digits === limit) isPrecise = true
      continue
    }
    digits = 0
    limit = code === POINT ? TINY : LONG
    switch (code) {
      case QUOTE:
        i = endOfString(text, i)
        break
      case 0x3a:
        members++
        break
      case 0x5b:
      case 0x7b:
        if (++depth > most) most = depth
        break
      case 0x5d:
      case 0x7d:
        depth--
        break
      case 0x45:
      case 0x65:
        LONG_EXPONENT.lastIndex = i
        if (LONG_EXPONENT.test(text)) isPrecise = true
    }
  }
  return { depth: most, isPrecise, members }
}

/** An exponent of three digits: the double may be 0 or infinite. */
const LONG_EXPONENT = /[eE][+-]?\d{3}/y

/** The number of members of all objects within a parsed text. */
const membersOf = (value: unknown): number => {
  if (typeof value !== "object" || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") count += membersOf(item)
    return count
  }
  for (const key in value) {
    const item = (value as Readonly<Record<string, unknown>>)[key]
    count += typeof item === "object" ? 1 + membersOf(item) : 1
  }
  return count
}

/** An open object or array: the keys so far, and the present key or index. */
interface Frame {
  readonly keys: Set<string> | undefined
  key: string
  index: number
  awaitsKey: boolean
}

/** Checks each key of a valid text, and each number unless it may be inexact. */
const check = (text: string, isExact: boolean): void => {
  const frames: Array<Frame> = []
  const at = () => place(frames)
  eachToken(text, (token) => {
    const frame = frames.at(-1)
    switch (token) {
      case "{":
      case "[":
        frames.push({ keys: token === "{" ? new Set() : undefined, key: "", index: 0, awaitsKey: token === "{" })
        return
      case "}":
      case "]":
        frames.pop()
        return
      case ",":
        if (frame !== undefined) [frame.index, frame.awaitsKey] = [frame.index + 1, frame.keys !== undefined]
        return
    }
    if (frame?.awaitsKey === true) checkKey(frame, JSON.parse(token) as string, at)
    else if (isExact && NUMBER.test(token)) checkNumber(token, at)
  })
}

const checkKey = (frame: Frame, key: string, at: () => string): void => {
  frame.key = key
  frame.awaitsKey = false
  const keys = frame.keys!
  if (keys.has(key)) throw refuse("json/key", `the key${at()} is there twice, and only one can count. Leave one out`)
  keys.add(key)
}

const checkNumber = (literal: string, at: () => string): void => {
  const double = Number(literal)
  const shown = literal.length > MAX_SHOWN ? `${literal.slice(0, MAX_SHOWN)}… of ${literal.length} characters` : literal
  const inexact = (reason: string) => refuse("json/number", `the number ${shown}${at()} ${reason}`)
  if (!Number.isFinite(double)) throw inexact("is beyond all that a cell holds. Send it as text")
  if (double === 0 && /^[^eE]*[1-9]/.test(literal)) throw inexact("would become 0. Send it as text")
  if (!INTEGER.test(literal) || Number.isSafeInteger(double)) return
  const held = BigInt(double)
  if (held === BigInt(literal)) return
  throw inexact(`has more digits than a number holds, and would become ${held}. Send it as text, or with an exponent if it may be rounded`)
}

const NUMBER = /^[-\d]/
const INTEGER = /^-?\d+$/

/** The maximum length of a literal and of a place in an error message, in characters. */
const MAX_SHOWN = 100
const MAX_PLACE = 300

/** The place of the present token as a part of a message: ` at ` and its JSON pointer; nothing outside of objects and arrays. */
const place = (frames: ReadonlyArray<Frame>): string =>
  frames.length === 0
    ? ""
    : ` at ${pointer(frames.map(({ index, key, keys }) => keys === undefined ? String(index) : key)).slice(0, MAX_PLACE)}`

const refuse = (code: InvalidJson["code"], reason: string) => new InvalidJson({ code, reason })
