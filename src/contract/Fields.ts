/**
 * The fields of an object, as the command line and the reference show them.
 *
 * @module
 */
import * as SchemaAST from "effect/SchemaAST"
import type { Fields } from "./Face.ts"

/** The type of a field. An `amount` is a number or a text, such as a time; `json` is any value. */
export type FieldType = "text" | "number" | "amount" | "flag" | "json"

/** A field of an object. */
export interface Field {
  readonly name: string
  readonly type: FieldType
  readonly isOptional: boolean
  /** Its meaning; empty unless the schema says it. */
  readonly means: string
}

const types: Partial<Record<SchemaAST.AST["_tag"], FieldType>> = { String: "text", Number: "number", Boolean: "flag" }

/** The type of a field. One of several types with texts among them is given as a text. */
const typeOf = (ast: SchemaAST.AST): FieldType => {
  const members = ast._tag === "Union" ? ast.types.map(({ _tag }) => _tag) : []
  if (!members.includes("String")) return types[ast._tag] ?? "json"
  return members.includes("Number") ? "amount" : "text"
}

/**
 * The fields of an object, in their order; none without a schema.
 */
export const of = (schema: Fields | undefined): ReadonlyArray<Field> =>
  Object.entries(schema?.().fields ?? {}).map(([name, { ast }]) => ({
    name,
    type: typeOf(ast),
    isOptional: SchemaAST.isOptional(ast),
    means: SchemaAST.resolveDescription(ast) ?? ""
  }))
