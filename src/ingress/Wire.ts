/**
 * Values on the wire: JSON where JSON can say them, superjson's form where not.
 *
 * A plain value is itself, as `application/json`. One that holds a Date, a Map
 * or the like is `{ "$rich": { "json": …, "meta": … } }`, under a media type of
 * its own; inside other JSON it stands in the same form.
 *
 * @module
 */
import * as Document from "../cell/Document.ts"
import * as Value from "../cell/Value.ts"
import type { Receipt } from "../kernel/Space.ts"
import { RequestRefused } from "./Problem.ts"

/** The media type of a value that JSON alone cannot say. */
export const RICH = "application/vnd.systole.rich+json"

/**
 * An answer that holds a value.
 *
 * @category constructors
 * @since 0.1.0
 */
export const response = (value: Value.Value): Response => {
  const document = Document.encode(value)
  const type = document.plain === undefined ? RICH : "application/json"
  return new Response(document.text, { headers: { "content-type": type, "cache-control": "no-store" } })
}

/**
 * A value as part of other JSON.
 *
 * @category constructors
 * @since 0.1.0
 */
export const inline = (value: Value.Value): unknown => {
  if (value === undefined) return undefined
  const document = Document.encode(value)
  return document.plain === undefined ? JSON.parse(document.text) : document.plain
}

/**
 * A receipt as JSON.
 *
 * @category constructors
 * @since 0.1.0
 */
export const receipt = (receipt: Receipt): object => ({
  ...receipt,
  handlings: receipt.handlings.map((handling) => ({ ...handling, value: inline(handling.value) }))
})

/**
 * The value that a parsed body of the given type stands for.
 *
 * @throws InvalidValue
 * @category constructors
 * @since 0.1.0
 */
export const value = (body: unknown, type: string | null): Value.Value => {
  const { rich, value } = Value.canonical(body)
  if (rich || type === null || !type.startsWith(RICH)) return value
  try {
    return Document.read(Document.decode(JSON.stringify(value)), [])
  } catch (error) {
    throw new RequestRefused({ code: "body/malformed", reason: `The body is not in the form of ${RICH}: ${(error as Error).message}` })
  }
}
