/**
 * Values as JSON, with a form for what JSON has none for: all of `systole/rich`.
 *
 * HTTP takes and gives such a value with the media type `application/vnd.systole.rich+json`.
 *
 * @module
 */
import * as Document from "./Document.ts"
import * as JsonParser from "./JsonParser.ts"
import * as Rich from "./Rich.ts"
import * as Value from "./Value.ts"

/** The JSON of a value. One that JSON has a form for is as it is, and any other one is `{ "$rich": … }`. */
export const toJson = (value: Value.Value): unknown =>
  value === undefined ? undefined : Document.plainOf(value) ?? JsonParser.parse(Document.encode(value).text)

/**
 * A value from its JSON.
 *
 * @throws InvalidValue for a form that is none
 */
export const fromJson = (json: unknown): Value.Value => {
  const { value } = Value.canonical(json)
  return typeof value === "object" && value !== null && Object.hasOwn(value, Rich.KEY) ? Rich.accept(value) : value
}

/**
 * The form of values that JSON has none for: a `Date`, `Map`, `Set`, `URL`, `bigint`, `Uint8Array`, −0 and `undefined`, at any place.
 *
 * `write` and `read` throw an `InvalidValue` with the place, for anything but a value of a cell.
 *
 * @example A client that sends and gives them
 * ```ts
 * import { connect } from "systole/client"
 * import { rich } from "systole/rich"
 *
 * export const shop = connect({ rich }).space("shop")
 * ```
 *
 * @category encoding
 * @since 0.2.0
 */
export const rich: { readonly write: (value: unknown) => unknown; readonly read: (form: unknown) => unknown } = {
  write: (value) => toJson(Value.canonical(value).value),
  read: fromJson
}
