/**
 * The types of the fields of an enzyme's definition.
 *
 * They are plain checks, so that a build whose modules use no schema contains no schemas.
 *
 * @module
 */

/** The type of a field: its check, and the expected value in words. */
interface Type {
  readonly fits: (value: unknown) => boolean
  readonly expected: string
}

const oneOf = (...texts: ReadonlyArray<string>): Type => ({
  fits: (value) => texts.includes(value as string),
  expected: texts.map((text) => JSON.stringify(text)).join(" or ")
})

const isText = (value: unknown): value is string => typeof value === "string"
const isName = (value: unknown): boolean => isText(value) && /^[A-Za-z0-9_.:-]{1,128}$/.test(value)
const isWhole = (value: unknown, max: number): boolean => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether a value has no fields but these. */
const hasOnly = (value: object, ...fields: ReadonlyArray<string>): boolean => Object.keys(value).every((field) => fields.includes(field))

const isBinding = (value: unknown): boolean =>
  isText(value) || isRecord(value) && isText(value["cell"]) && hasOnly(value, "cell", "propagate") &&
    (!("propagate" in value) || typeof value["propagate"] === "boolean")

const NAME = "1 to 128 of the characters A-Z, a-z, 0-9, _, ., : and -"
const text: Type = { fits: isText, expected: "a text" }
const flag: Type = { fits: (value) => typeof value === "boolean", expected: "true or false" }
const listOf = (fits: (value: unknown) => boolean, expected: string): Type =>
  ({ fits: (value) => Array.isArray(value) && value.every(fits), expected: `a list of ${expected}` })

/** The largest number of attempts, and of milliseconds of a run. */
const MAX_ATTEMPTS = 1000
const MAX_MILLIS = 3_600_000

const required: Readonly<Record<string, Type>> = { name: { fits: isName, expected: NAME }, query: text }

const optional: Readonly<Record<string, Type>> = {
  label: { fits: (value) => isText(value) && value !== "", expected: "a text that is not empty" },
  match: oneOf("exact", "prefix"),
  before: listOf(isName, `names of ${NAME}`),
  after: listOf(isName, `names of ${NAME}`),
  bind: listOf(isBinding, "cells, each a text or { cell, propagate }"),
  target: oneOf("required"),
  writes: listOf(isText, "texts"),
  retry: {
    fits: (value) => isRecord(value) && hasOnly(value, "attempts") && (!("attempts" in value) || isWhole(value["attempts"], MAX_ATTEMPTS)),
    expected: `{ attempts }, a whole number from 1 to ${MAX_ATTEMPTS}`
  },
  lane: oneOf("pair", "target", "space"),
  order: oneOf("strict", "loose"),
  isolation: oneOf("snapshot", "serializable"),
  repeatable: flag,
  exclusive: flag,
  durable: flag,
  onMissing: oneOf("hold", "end"),
  onFatal: oneOf("shutdown", "continue"),
  onDead: text,
  trusted: flag,
  limitMs: { fits: (value) => isWhole(value, MAX_MILLIS), expected: `a whole number from 1 to ${MAX_MILLIS}` }
}

/**
 * The reasons why metadata does not have the fields of a definition, or not of their types; `undefined` if it fits.
 *
 * @category getters
 * @since 0.1.0
 */
export const misfit = (metadata: Readonly<Record<string, unknown>>): string | undefined => {
  const reasons: Array<string> = []
  for (const field of new Set([...Object.keys(required), ...Object.keys(metadata)])) {
    const type = Object.hasOwn(required, field) ? required[field] : Object.hasOwn(optional, field) ? optional[field] : undefined
    if (type === undefined) reasons.push(`there is no field "${field}"`)
    else if (!type.fits(metadata[field])) reasons.push(`${field} is not ${type.expected}`)
  }
  return reasons.length === 0 ? undefined : reasons.join("; ")
}
