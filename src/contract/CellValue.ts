/**
 * Values of cells in answers: as they are in the runtime, and in the form of JSON.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import * as RichJson from "../cell/RichJson.ts"
import type { Value } from "../cell/Value.ts"

/** The media type of JSON with a value that plain JSON has no form for. */
export const RICH = "application/vnd.systole.rich+json"

/** A value as JSON. A rich one, such as a date, has the form of a stored document. */
export const toJson = RichJson.toJson

/** A value from its JSON. A text that is in the form of a rich value, but not one, is no value. */
const fromJson = (json: unknown): Effect.Effect<Value, SchemaIssue.InvalidValue> =>
  Effect.try({
    try: () => RichJson.fromJson(json),
    catch: (error) => new SchemaIssue.InvalidValue({ message: String((error as Error).message) })
  })

/**
 * The schema of a value.
 */
export const schema = () =>
  Schema.Unknown.pipe(Schema.decodeTo(
    Schema.declare((_): _ is Value => true),
    { decode: SchemaGetter.transformEffect(fromJson), encode: SchemaGetter.transform(toJson) }
  ))

/**
 * The schema of a value of a known type, such as a record that is one document.
 */
export const of = <A>() => schema() as unknown as Schema.Codec<A, A>
