/**
 * Checks that need no test runner: each throws where it does not hold.
 *
 * @module
 */
import * as CallerStack from "./CallerStack.ts"

/**
 * A check does not hold. Runners that print differences take them from `actual` and `expected`.
 *
 * @category errors
 * @since 0.1.0
 */
export class ExpectationFailed extends Error {
  override readonly name = "ExpectationFailed"
  readonly actual: unknown
  readonly expected: unknown

  constructor(message: string, values: { readonly actual?: unknown; readonly expected?: unknown } = {}) {
    super(message)
    this.actual = values.actual
    this.expected = values.expected
    CallerStack.own(this)
  }
}

/**
 * Throws unless a condition holds.
 *
 * @throws ExpectationFailed
 */
export const holds = (condition: boolean, message: string): void => {
  if (!condition) throw new ExpectationFailed(message, { actual: condition, expected: true })
}

/**
 * Throws unless two values are equal by {@link equals}. The message begins with `subject`.
 *
 * @throws ExpectationFailed
 */
export const same = (actual: unknown, expected: unknown, subject = "the value"): void => {
  if (!equals(actual, expected)) {
    throw new ExpectationFailed(`${subject} is ${show(actual)}, and ${show(expected)} is expected`, { actual, expected })
  }
}

/**
 * Throws where a number is above a limit.
 *
 * @throws ExpectationFailed
 */
export const atMost = (actual: number, limit: number, subject = "the number"): void => {
  if (actual <= limit) return
  throw new ExpectationFailed(`${subject} is ${actual}, and at most ${limit} is expected`, { actual, expected: limit })
}

/**
 * Throws where a number is below a limit.
 *
 * @throws ExpectationFailed
 */
export const atLeast = (actual: number, limit: number, subject = "the number"): void => {
  if (actual >= limit) return
  throw new ExpectationFailed(`${subject} is ${actual}, and at least ${limit} is expected`, { actual, expected: limit })
}

/**
 * Throws unless a call throws an error with a message that matches.
 *
 * @throws ExpectationFailed
 */
export const refuses = (call: () => unknown, message: RegExp): void => {
  try {
    call()
  } catch (error) {
    const actual = error instanceof Error ? error.message : String(error)
    if (message.test(actual)) return
    throw new ExpectationFailed(`the call throws ${show(actual)}, and ${message} is expected`, { actual, expected: message })
  }
  throw new ExpectationFailed(`the call returns, and an error that matches ${message} is expected`, { expected: message })
}

/**
 * Whether two values have the same content: primitives, arrays, maps, sets, bytes, dates and objects with
 * keys in any order. A key that holds `undefined` is not the same as no key.
 */
export const equals = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  if (a instanceof Uint8Array) return b instanceof Uint8Array && isSameBytes(a, b)
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
  if (a instanceof Date) return Object.is(a.getTime(), (b as Date).getTime())
  if (a instanceof Map || a instanceof Set) return equals([...a as Iterable<unknown>], [...b as Iterable<unknown>])
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equals((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]))
}

const isSameBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i])

/** Most characters of a value in a message. */
const MAX_SHOWN = 500

/**
 * A value as messages show it: JSON where that says it, at most 500 characters.
 */
export const show = (value: unknown): string => {
  const text = value === undefined ? "undefined" : JSON.stringify(value, plain) ?? String(value)
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)`
}

/** The parts of a value that JSON does not know. */
const plain = (_: string, value: unknown): unknown => {
  if (value === undefined) return "(undefined)"
  if (typeof value === "bigint") return `${value}n`
  if (value instanceof Uint8Array) return `(${value.length} bytes)`
  if (value instanceof Map || value instanceof Set) return [...value as Iterable<unknown>]
  return value
}
