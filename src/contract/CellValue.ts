/**
 * Values of cells in answers: as they are in the runtime, and in the form of JSON.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Document from "../cell/Document.ts"
import * as JsonParser from "../cell/JsonParser.ts"
import * as Rich from "../cell/Rich.ts"
import type { Value } from "../cell/Value.ts"

/**
 * A value as JSON. A rich one, such as a date, has the form of a stored document.
 *
 * @category getters
 * @since 0.2.0
 */
export const toJson = (value: Value): unknown => {
  if (value === undefined) return undefined
  return Document.plainOf(value) ?? JsonParser.parse(Document.encode(value).text)
}

/**
 * The schema of a value.
 *
 * @category schemas
 * @since 0.2.0
 */
export const schema = () =>
  Schema.Unknown.pipe(Schema.decodeTo(
    Schema.declare((_): _ is Value => true),
    SchemaTransformation.transform({ decode: (json: unknown) => Rich.accept(json as Value), encode: toJson })
  ))

/**
 * The schema of a value of a known type, such as a record that is one document.
 *
 * @category schemas
 * @since 0.2.0
 */
export const of = <A>() => schema() as unknown as Schema.Codec<A, A>
