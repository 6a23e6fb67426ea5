/**
 * The answer of an object to a read of a page.
 *
 * A call between objects keeps no class of an error and not each kind of value. So a value travels as its text, and a failure as
 * its tag, its code, its message and its fields.
 *
 * @module
 */
import * as Document from "../../cell/Document.ts"
import type { Value } from "../../cell/Value.ts"
import { refusalOf } from "../../kernel/live/Delivery.ts"
import type { PullAnswer } from "./Platform.ts"

/** The fields of a failure that a page or its problem details may show: the plain ones, and the name of the space. */
const fieldsOf = (failure: unknown): Readonly<Record<string, string | number>> => {
  const { reason } = Object(failure) as { readonly reason?: { readonly space?: unknown } }
  const fields = Object.entries({ space: reason?.space, ...Object(failure) as object })
  return Object.fromEntries(fields.filter((field): field is [string, string | number] => ["string", "number"].includes(typeof field[1])))
}

/**
 * The outcome of a read as plain data.
 */
export const make = (read: Promise<Value>): Promise<PullAnswer> =>
  read.then(
    (value) => ({ text: value === undefined ? value : Document.entry(value) }),
    (failure: unknown) => ({ refusal: refusalOf(failure), fields: fieldsOf(failure) })
  )

/**
 * The value of a read.
 *
 * @throws the failure of the read, as an error with its tag, code and fields
 */
export const valueOf = (pulled: PullAnswer): Value => {
  if (!("refusal" in pulled)) return pulled.text === undefined ? undefined : Document.read(Document.decode(pulled.text), [])
  const { fields, refusal: { code, message, tag } } = pulled
  throw Object.assign(new Error(message), fields, { _tag: tag, code })
}
