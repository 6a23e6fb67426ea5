/**
 * JSON Schemas of types. Effect makes them, with a part of it that is as large as the rest of its schemas.
 *
 * A build whose modules declare no type has no use for it. Its bundle has {@link NONE} in place of this module.
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Document from "../cell/Document.ts"
import type { Value } from "../cell/Value.ts"

/**
 * The JSON Schema of a schema, as text. Throws the failure of a schema without one.
 */
export const of = (given: Schema.Top): string => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(given)
  const full = Object.keys(definitions).length === 0 ? schema : { ...schema, $defs: definitions }
  return Document.encode(full as unknown as Value).text
}

/** This module in a build without types. A module that declares one there alone is broken. */
export const NONE =
  `export const of = () => { throw new Error("its module declared no type when the build was made. Declare it always") }`
