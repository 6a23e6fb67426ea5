/**
 * Values as JSON. What JSON has no form for is refused, and never changed without a word.
 *
 * @module
 */
import { failed } from "./RequestFailed.ts"

/**
 * The form of values that JSON has none for, such as a `Date` or a `Map`: `rich` of `systole/rich`.
 *
 * @category models
 * @since 0.2.0
 */
export interface Rich {
  /** The JSON of a value, with `{ "$rich": … }` for what is more than JSON. */
  readonly write: (value: unknown) => unknown
  /** The value of such a form. */
  readonly read: (form: unknown) => unknown
}

/** The only key of the form of a rich value. */
const KEY = "$rich"

const isRich = (value: unknown): value is object => typeof value === "object" && value !== null && KEY in value

const refuse = (what: string): never => {
  throw failed("value/rich", `The value has ${what}, and JSON has no form for it. Give connect() \`rich\`, or send another value`)
}

/** Checks one value of an object that becomes text. `this` is the object, whose value is not yet changed by a `toJSON`. */
function checked(this: unknown, key: string, value: unknown): unknown {
  const given = (this as Readonly<Record<string, unknown>>)[key]
  if (typeof given === "number" && !Number.isFinite(given)) return refuse(`the number ${given}`)
  if (typeof given === "bigint") return refuse("a bigint")
  if (typeof given !== "object" || given === null || Array.isArray(given)) return value
  const kind = Object.getPrototypeOf(given) as object | null
  return kind === null || kind === Object.prototype ? value : refuse(`a ${given.constructor.name}`)
}

/** The media types of JSON, and of the form of a rich value: as plain JSON, the form would be a value of its own. */
const PLAIN = "application/json"
const RICH = "application/vnd.systole.rich+json"

/** The form of a value, and the media type of JSON with it. */
export const formOf = (value: unknown, rich?: Rich): { readonly form: unknown; readonly type: string } => {
  const form = rich === undefined ? value : rich.write(value)
  return { form, type: rich !== undefined && isRich(form) ? RICH : PLAIN }
}

/** The text of JSON. What it has no form for is refused. */
export const textOf = (form: unknown): string => JSON.stringify(form, checked)

/** A value from the JSON of an answer. */
export const read = (value: unknown, rich?: Rich): unknown => {
  if (!isRich(value)) return value
  return rich === undefined ? refuse("a form of its own") : rich.read(value)
}
