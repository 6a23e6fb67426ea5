/**
 * Values: what a cell holds.
 *
 * Plain immutable data: JSON, and `Date`, `Map`, `Set`, `BigInt`, `URL`,
 * `Uint8Array` and `undefined` inside. {@link canonical} brings a value into
 * the one form that is stored, so that equal values have equal texts.
 * (Architecture, section 3.)
 *
 * @module
 */
import * as Schema from "effect/Schema"
import type { Path } from "./Address.ts"

/**
 * What a cell can hold.
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

/** How deep objects and arrays may nest. */
export const MAX_DEPTH = 64

/** Most bytes that a value holds itself; more belong into the content store. */
export const MAX_INLINE_BYTES = 65_536

/** Most digits of a bigint: engines take far longer to read more. */
export const MAX_DIGITS = 4096

/** The first bigint that has more digits. */
const TOO_BIG = 10n ** BigInt(MAX_DIGITS)

/** A bigint from here on is counted by its digits. */
const LONG = 1n << 64n

/**
 * A value cannot be held by a cell.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidValue extends Schema.TaggedError<InvalidValue>()("InvalidValue", {
  at: Schema.String,
  reason: Schema.String
}) {
  readonly code = "value/invalid"
  override get message() {
    return `A value is refused${this.at === "" ? "" : ` at ${this.at}`}: ${this.reason}`
  }
}

const forbiddenKeys = new Set(["__proto__", "constructor", "prototype"])
const SHORTEST_FORBIDDEN = 9

/** Whether a key can be that of an object which is stored. */
export const isKey = (key: string): boolean => key.length < SHORTEST_FORBIDDEN || !forbiddenKeys.has(key)

/** A value in canonical form, whether plain JSON cannot express it, and how many characters it has there at most. */
export interface Canonical {
  readonly value: Value
  readonly rich: boolean
  readonly bound: number
}

/** Of the value that {@link canonical} is at: whether {@link settle} met what JSON lacks, and the characters of what it went through, at most. */
let rich = false
let bound = 0
let maxBound = 0

/**
 * The bound above which a text is too long for a cell: each part of a text has at least a thirteenth of its part of the bound.
 *
 * It ends the walk through a value that shares its parts: the text writes each at every place, so a few objects can stand for 2^64.
 */
const MAX_BOUND = 16_777_216

/** Most characters of a number, `true`, `false` or `null` with what separates it from the next. */
const SHORT = 25
/** Characters that one may become in JSON; quotes, colon and comma. */
const ESCAPED = 6
const QUOTES = 4
/** How much of {@link MAX_BOUND} an array has for each item, at least: its text has two characters for each. */
const MIN_ITEM = 32
/** Characters of a byte and the comma after it. */
const MAX_BYTE = 4

/**
 * The canonical form: keys in the order that engines give to keys written in code-unit order (those that are
 * array indexes come first, by number), -0 as 0, every object and array frozen.
 *
 * Objects and arrays that are in order already are frozen where they are; others are copied.
 *
 * @throws InvalidValue
 * @category constructors
 * @since 0.1.0
 */
export const canonical = (value: unknown, limit = MAX_BOUND): Canonical => {
  rich = false
  bound = 0
  maxBound = limit
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
      if (depth >= MAX_DEPTH) throw refuse(`it nests deeper than ${MAX_DEPTH} levels; split it into several cells`)
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
      throw refuse(`a ${typeof value} is not data; store what it computes instead`)
  }
}

const settleArray = (array: ReadonlyArray<unknown>, depth: number): Value => {
  let copy: Array<Value> | undefined
  // Holes take no memory before they are written out.
  if (array.length > maxBound / MIN_ITEM) throw tooLong()
  for (let i = 0; i < array.length; i++) {
    const item = within(i, array[i], depth)
    // A hole becomes an undefined item: what is stored knows no holes.
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
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!
    if (!isKey(key)) throw refuse(`the key "${key}" is not allowed; rename it`)
    bound += key.length * ESCAPED + QUOTES
    const item = within(key, source[key], depth)
    if (copy === undefined && !Object.is(item, source[key])) {
      copy = {}
      for (let j = 0; j < i; j++) copy[keys[j]!] = source[keys[j]!] as Value
    }
    if (copy !== undefined) copy[key] = item
  }
  return Object.freeze(copy ?? object) as Value
}

/** Whether keys, as the engine lists them, are in order. Array indexes come first of themselves, by number. */
const isOrdered = (keys: ReadonlyArray<string>): boolean => {
  for (let i = 1; i < keys.length; i++) if (keys[i - 1]! >= keys[i]! && !isIndex(keys[i - 1]!)) return false
  return true
}

const isIndex = (key: string): boolean => {
  const index = Number(key) >>> 0
  return index < MAX_INDEX && String(index) === key
}

/** Whole numbers below this one are array indexes. */
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
      throw refuse(`${object.length} bytes are more than the ${MAX_INLINE_BYTES} that a value holds; keep them with tx.blob(bytes) and store the address it returns`)
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
  throw refuse(`an instance of ${kind} is not plain data; store its fields instead`)
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

const tooLong = () => refuse("its text is longer than a cell holds, parts that it shares written at each place; split it into several cells")

const refuse = (reason: string) => new InvalidValue({ at: "", reason })

/** Whether a value is a container that a path can lead into: an array or a plain object. */
export const isContainer = (value: Value): value is ReadonlyArray<Value> | { readonly [key: string]: Value } =>
  typeof value === "object" && value !== null && (Array.isArray(value) || isPlain(value))

const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * The value at `path` inside `value`; undefined where there is none.
 *
 * @category getters
 * @since 0.1.0
 */
export const at = (value: Value, path: Path): Value => {
  let here = value
  for (const key of path) {
    if (!isContainer(here)) return undefined
    here = step(here, key)
  }
  return here
}

/** One step into a container: own keys only, and no key of an array but its indexes. */
export const step = (container: Value, key: string): Value => {
  if (Array.isArray(container)) return /^(?:0|[1-9]\d*)$/.test(key) ? container[Number(key)] : undefined
  return Object.hasOwn(container as object, key) ? (container as Record<string, Value>)[key] : undefined
}

/**
 * Whether two canonical values are the same.
 *
 * @category predicates
 * @since 0.1.0
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

/** Keys of canonical objects are in the same order. */
const sameFields = (a: Record<string, Value>, b: Record<string, Value>): boolean => {
  const keys = Object.keys(a)
  const others = Object.keys(b)
  if (keys.length !== others.length) return false
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!
    if (key !== others[i] || !equals(a[key], b[key])) return false
  }
  return true
}

const sameItems = (a: ArrayLike<Value>, b: ArrayLike<Value>): boolean => {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!equals(a[i], b[i])) return false
  return true
}
