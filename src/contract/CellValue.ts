/**
 * Values of cells in answers: as they are in the runtime, and in the form of JSON.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Document from "../cell/Document.ts"
import * as JsonParser from "../cell/JsonParser.ts"
import * as Rich from "../cell/Rich.ts"
import type { Value } from "../cell/Value.ts"
import * as Values from "../cell/Value.ts"

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

/** A value from its JSON. A text that is in the form of a rich value, but not one, is no value. */
const fromJson = (json: unknown): Effect.Effect<Value, SchemaIssue.InvalidValue> =>
  Effect.try({
    try: () => {
      const value = Values.canonical(json).value
      return typeof value === "object" && value !== null && Object.hasOwn(value, Rich.KEY) ? Rich.accept(value) : value
    },
    catch: (error) => new SchemaIssue.InvalidValue({ message: String((error as Error).message) })
  })

/**
 * The schema of a value.
 *
 * @category schemas
 * @since 0.2.0
 */
export const schema = () =>
  Schema.Unknown.pipe(Schema.decodeTo(
    Schema.declare((_): _ is Value => true),
    { decode: SchemaGetter.transformEffect(fromJson), encode: SchemaGetter.transform(toJson) }
  ))

/**
 * The schema of a value of a known type, such as a record that is one document.
 *
 * @category schemas
 * @since 0.2.0
 */
export const of = <A>() => schema() as unknown as Schema.Codec<A, A>
