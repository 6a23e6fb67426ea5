/**
 * Values: the contents of cells.
 *
 * A value is plain immutable data: JSON, and `Date`, `Map`, `Set`, `BigInt`, `URL`, `Uint8Array` and nested
 * `undefined`. {@link canonical} converts a value into its stored form, so that equal values have equal texts.
 *
 * @module
 */
import * as Data from "effect/Data"
import type { Path } from "./Address.ts"

/**
 * The contents of a cell.
 *
 * @category models
 * @since 0.1.0
 */
export type Value =
  | undefined
  | null
  | boolean
  | number
  | string
  | bigint
  | Date
  | URL
  | Uint8Array
  | ReadonlyMap<Value, Value>
  | ReadonlySet<Value>
  | ReadonlyArray<Value>
  | { readonly [key: string]: Value }

/** The maximum depth of nested objects and arrays. */
export const MAX_DEPTH = 64

/** The maximum size of bytes within a value; larger data belongs into the content store. */
export const MAX_INLINE_BYTES = 65_536

/** The maximum number of digits of a bigint. Engines need far more time to parse longer ones. */
export const MAX_DIGITS = 4096

/** The first bigint with more than {@link MAX_DIGITS} digits. */
const TOO_BIG = 10n ** BigInt(MAX_DIGITS)

/** The first bigint with a length that is counted by its digits. */
const LONG = 1n << 64n

/**
 * A value cannot be stored in a cell. `at` is the path to the refused part, `reason` the rule that it breaks.
 */
export class InvalidValue extends Data.TaggedError("InvalidValue")<{ readonly at: string; readonly reason: string }> {
  readonly code = "value/invalid"
  override get message() {
    return `A value is refused${this.at === "" ? "" : ` at ${this.at}`}: ${this.reason}`
  }
}

const forbiddenKeys = new Set(["__proto__", "constructor", "prototype"])
const SHORTEST_FORBIDDEN = 9

/** Tests whether a key is allowed in a stored object. */
export const isKey = (key: string): boolean => key.length < SHORTEST_FORBIDDEN || !forbiddenKeys.has(key)

/** A value in canonical form, whether it needs more than plain JSON, and an upper bound of its characters. */
export interface Canonical {
  readonly value: Value
  readonly rich: boolean
  readonly bound: number
}

/** State of the running {@link canonical}: whether it met a value that JSON lacks, and an upper bound of the characters so far. */
let rich = false
let bound = 0
let maxBound = 0
let maxDepth = 0

/**
 * The bound above which a text is too long for a cell. Each part of a text has at least a thirteenth of its part of the
 * bound.
 *
 * The bound ends the traversal of a value with shared parts. The text repeats a shared part at each place, so a few
 * objects can produce 2^64 characters.
 */
const MAX_BOUND = 16_777_216

/** The maximum length of a number, `true`, `false` or `null`, with its separator. */
const SHORT = 25
/** The maximum length of one character in JSON; quotes, colon and comma. */
const ESCAPED = 6
const QUOTES = 4
/** The share of {@link MAX_BOUND} of each item of an array: its text has at least two characters per item. */
const MIN_ITEM = 32
/** The maximum length of a byte and its comma. */
const MAX_BYTE = 4

/**
 * Converts a value into canonical form: keys in code-unit order, -0 as 0, every object and array frozen.
 *
 * Keys that are array indexes come first, by number, because engines list them first. Ordered objects and arrays are
 * frozen in place; others are copied.
 *
 * @throws InvalidValue
 */
export const canonical = (value: unknown, limit = MAX_BOUND, depth = MAX_DEPTH): Canonical => {
  rich = false
  bound = 0
  maxBound = limit
  maxDepth = depth
  const settled = settle(value, 0)
  if (bound > maxBound) throw tooLong()
  return { value: settled, rich, bound }
}

const settle = (value: unknown, depth: number): Value => {
  bound += typeof value === "string" ? value.length * ESCAPED + QUOTES : SHORT
  switch (typeof value) {
    case "string":
    case "boolean":
      return value
    case "number":
      if (!Number.isFinite(value)) throw refuse(`${value} is not a number that can be stored; use null or leave it out`)
      return value === 0 ? 0 : value
    case "object":
      if (value === null) return null
      if (bound > maxBound) throw tooLong()
      if (depth >= maxDepth) throw refuse(`it nests deeper than ${maxDepth} levels; split it into several cells`)
      return Array.isArray(value) ? settleArray(value, depth) : settleObject(value, depth)
    case "bigint":
      if (value >= TOO_BIG || value <= -TOO_BIG) throw refuse(`it is a bigint of more than ${MAX_DIGITS} digits; store it as text`)
      if (bound > maxBound) throw tooLong()
      if (value >= LONG || value <= -LONG) bound += String(value).length
      rich = true
      return value
    case "undefined":
      rich = true
      return value
    default:
      throw refuse(`a ${typeof value} is not data; did you forget to call it? Store what it computes`)
  }
}

const settleArray = (array: ReadonlyArray<unknown>, depth: number): Value => {
  let copy: Array<Value> | undefined
  // Checked first, because holes take no memory until the text is made.
  if (array.length > maxBound / MIN_ITEM) throw tooLong()
  for (let i = 0; i < array.length; i++) {
    const item = within(i, array[i], depth)
    // A hole becomes an undefined item, because stored arrays have no holes.
    const kept = item === undefined ? i in array : Object.is(item, array[i])
    if (copy === undefined && !kept) copy = array.slice(0, i) as Array<Value>
    copy?.push(item)
  }
  return Object.freeze(copy ?? array) as Value
}

const settleObject = (object: object, depth: number): Value => {
  const prototype = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) return settleRich(object, depth)
  const keys = Object.keys(object)
  const ordered = isOrdered(keys) && prototype !== null
  const source = object as Record<string, unknown>
  let copy: Record<string, Value> | undefined = ordered ? undefined : {}
  if (!ordered) keys.sort()
  for (const key of keys) {
    if (!isKey(key)) throw refuse(`the key "${key}" is not allowed; rename it`)
    bound += key.length * ESCAPED + QUOTES
    const item = within(key, source[key], depth)
    if (copy === undefined && !Object.is(item, source[key])) {
      copy = {}
      for (const earlier of keys) {
        if (earlier === key) break
        copy[earlier] = source[earlier] as Value
      }
    }
    if (copy !== undefined) copy[key] = item
  }
  return Object.freeze(copy ?? object) as Value
}

/** Tests whether keys, as the engine lists them, are in order. The engine lists array indexes first, by number. */
const isOrdered = (keys: ReadonlyArray<string>): boolean => {
  let previous: string | undefined
  for (const key of keys) {
    if (previous !== undefined && previous >= key && !isIndex(previous)) return false
    previous = key
  }
  return true
}

const isIndex = (key: string): boolean => {
  const index = Number(key) >>> 0
  return index < MAX_INDEX && String(index) === key
}

/** Integers below this limit are array indexes. */
const MAX_INDEX = 4_294_967_295

const settleRich = (object: object, depth: number): Value => {
  rich = true
  if (object instanceof Date) {
    if (Number.isNaN(object.getTime())) throw refuse("it is an invalid Date; check what it was made from")
    return new Date(object.getTime())
  }
  if (object instanceof URL) {
    bound += object.href.length * ESCAPED
    return new URL(object.href)
  }
  if (object instanceof Uint8Array) {
    if (object.length > MAX_INLINE_BYTES) {
      throw refuse(
        `${object.length} bytes are more than the ${MAX_INLINE_BYTES} that a value holds; ` +
          "keep them with tx.blob(bytes) and store the address it returns"
      )
    }
    bound += object.length * MAX_BYTE
    if (bound > maxBound) throw tooLong()
    return new Uint8Array(object)
  }
  if (object instanceof Map) {
    const entries = [...object].map(([key, item], i): [Value, Value] => [within(`key ${i}`, key, depth), within(`entry ${i}`, item, depth)])
    return new Map(entries)
  }
  if (object instanceof Set) return new Set([...object].map((item, i) => within(`member ${i}`, item, depth)))
  const kind = object.constructor?.name ?? "unknown class"
  if (isThenable(object)) throw refuse(`a promise (${kind}) is not data; did you forget await? Store what it gives`)
  throw refuse(`an instance of ${kind} is not plain data; store its fields instead`)
}

/** Whether an object can be awaited. The inspection of an author's object may throw. */
const isThenable = (object: object): boolean => {
  try {
    return typeof (object as { readonly then?: unknown }).then === "function"
  } catch {
    return false
  }
}

const within = (key: string | number, value: unknown, depth: number): Value => {
  if (typeof value === "string" || (typeof value === "number" && Number.isFinite(value))) return settle(value, depth)
  try {
    return settle(value, depth + 1)
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    throw new InvalidValue({ at: `/${key}${error.at}`.slice(0, 300), reason: error.reason })
  }
}

const tooLong = () =>
  refuse("its text is longer than a cell holds, parts that it shares written at each place; split it into several cells")

const refuse = (reason: string) => new InvalidValue({ at: "", reason })

/** Tests whether a value is a container for path steps: an array or a plain object. */
export const isContainer = (value: Value): value is ReadonlyArray<Value> | { readonly [key: string]: Value } =>
  typeof value === "object" && value !== null && (Array.isArray(value) || isPlain(value))

const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * Returns the value at `path` inside `value`, or `undefined` if there is none.
 */
export const at = (value: Value, path: Path): Value => {
  let here = value
  for (const key of path) {
    if (!isContainer(here)) return undefined
    here = step(here, key)
  }
  return here
}

/** Returns the keys of an object, or the indexes of an array; `undefined` for other values. */
export const keysOf = (value: Value): ReadonlyArray<string> | undefined => isContainer(value) ? Object.keys(value) : undefined

/** Returns the item or field of a container: own keys only, and only indexes of an array. */
export const step = (container: Value, key: string): Value => {
  if (Array.isArray(container)) return /^(?:0|[1-9]\d*)$/.test(key) ? container[Number(key)] : undefined
  return Object.hasOwn(container as object, key) ? (container as Record<string, Value>)[key] : undefined
}

/**
 * Tests two canonical values for deep equality.
 */
export const equals = (a: Value, b: Value): boolean => {
  if (Object.is(a, b)) return true
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && sameItems(a, b)
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
  if (a instanceof Date) return a.getTime() === (b as Date).getTime()
  if (a instanceof URL) return a.href === (b as URL).href
  if (a instanceof Uint8Array) return sameItems(a, b as Uint8Array)
  if (a instanceof Map) return sameItems([...a].flat(), [...(b as Map<Value, Value>)].flat())
  if (a instanceof Set) return sameItems([...a], [...(b as Set<Value>)])
  return sameFields(a as Record<string, Value>, b as Record<string, Value>)
}

/** Compares in order, because the keys of canonical objects are sorted. */
const sameFields = (a: Record<string, Value>, b: Record<string, Value>): boolean => {
  const keys = Object.keys(a)
  const others = Object.keys(b)
  if (keys.length !== others.length) return false
  let i = 0
  for (const key of keys) if (key !== others[i++] || !equals(a[key], b[key])) return false
  return true
}

const sameItems = (a: ArrayLike<Value>, b: ArrayLike<Value>): boolean => {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!equals(a[i], b[i])) return false
  return true
}
