/**
 * Input from outside and answers by their schemas. Where input does not fit, one sentence tells why.
 *
 * @module
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Encoder from "./Encoder.ts"
import type { Lazy } from "./Face.ts"
import * as Fault from "./Fault.ts"

/**
 * Input does not fit its schema.
 */
export class Misfit extends Data.TaggedError("Misfit")<{
  /** The fault and its remedy, as the end of a sentence about the input. */
  readonly reason: string
  /** Whether a field is absent. All other input has a field that is unknown, or not of its type. */
  readonly isMissing: boolean
}> {}

const misfit = ({ expected, field, given, kind }: Fault.Fault, fields: string): Misfit => {
  const name = JSON.stringify(field)
  const send = `Send { ${fields} }`
  if (kind === "missing") return new Misfit({ reason: `has no field ${name}. ${send}`, isMissing: true })
  if (kind === "unknown") return new Misfit({ reason: `has an unknown field ${name}. ${send}`, isMissing: false })
  return new Misfit({ reason: `has a field ${name} that is ${given} instead of ${expected}. ${send}`, isMissing: false })
}

type Code = (value: unknown) => unknown

const decoders = new WeakMap<Lazy, Code>()
const encoders = new WeakMap<Lazy, Code>()

/** The value of a key, which is made on first use. */
const known = (of: WeakMap<Lazy, Code>, key: Lazy, make: (schema: Schema.Top) => Code): Code => {
  let code = of.get(key)
  if (code === undefined) of.set(key, code = make(key()))
  return code
}

/** The schemas of decoded objects. */
const decoded = new WeakMap<object, Lazy>()

/**
 * Decodes input by its schema. An object may have no other fields.
 *
 * @throws Misfit
 */
export const decode = <S extends Schema.Top>(schema: Lazy<S>, input: unknown): S["Type"] => {
  const value = known(decoders, schema, decoder)(input)
  if (typeof value === "object" && value !== null) decoded.set(value, schema)
  return value
}

/**
 * Tests whether {@link decode} made an object by a schema. HTTP decodes a body before it opens the space, whose API does not decode
 * it again.
 */
export const isDecoded = (schema: Lazy, value: unknown): value is object =>
  typeof value === "object" && value !== null && decoded.get(value) === schema

/**
 * A value as JSON, by its schema. A record that another version wrote may lack fields or have further ones. Such a value, or row of a
 * list, is shown as it is, so that no field is lost.
 */
export const encode = <S extends Schema.Top>(schema: Lazy<S>, value: S["Type"]): S["Encoded"] => known(encoders, schema, encoder)(value)

const encoder = (schema: Schema.Top): Code => {
  const encode = Encoder.compileRows(schema.ast, parsed)
  return (value) => {
    const encoded = encode(value)
    return encoded === Encoder.misfit ? value : encoded
  }
}

/** The encoder of a part by its parser. */
const parsed = (ast: SchemaAST.AST): Encoder.Encode => {
  const encode = Schema.decodeUnknownExit(Schema.make<Schema.Codec<unknown>>(ast), { onExcessProperty: "error" })
  return (value) => {
    const exit = encode(value)
    return Exit.isSuccess(exit) ? exit.value : Encoder.misfit
  }
}

/**
 * Decodes texts by their names, such as the parameters of a query. Those of other names are left out.
 *
 * @throws Misfit
 */
export const decodeTexts = <S extends Schema.Top>(schema: Lazy<S>, input: Readonly<Record<string, string>>): S["Type"] =>
  known(decoders, schema, textDecoder)(input)

/** The most characters of a text in a message. */
const MAX_TEXT = 200

const textDecoder = (schema: Schema.Top): Code => {
  const decode = Schema.decodeUnknownExit(schema as Schema.Codec<unknown>)
  const { fields = {} } = schema as { readonly fields?: Readonly<Record<string, Schema.Top>> }
  return (input) => {
    const exit = decode(input)
    if (Exit.isSuccess(exit)) return exit.value
    const error = Cause.squash(exit.cause)
    if (!Schema.isSchemaError(error)) throw error
    const name = Fault.of(error.issue, input)[0]!.field
    const given = (input as Readonly<Record<string, string>>)[name]
    const expected = SchemaAST.resolve(fields[name]!.ast)?.expected ?? "a text"
    const shown = given === undefined ? `has no ${name}` : `has ${name}=${JSON.stringify(given.slice(0, MAX_TEXT))}`
    throw new Misfit({ reason: `${shown}. Give it as ?${name}=…, ${expected}`, isMissing: given === undefined })
  }
}

const decoder = (schema: Schema.Top): Code => {
  const decode = Schema.decodeUnknownExit(schema as Schema.Codec<unknown>, { onExcessProperty: "error" })
  const { fields = {} } = schema as { readonly fields?: Readonly<Record<string, unknown>> }
  const expected = Object.keys(fields).join(", ")
  return (input) => {
    // A schema whose fields may all be absent takes a list as an object without them.
    if (typeof input !== "object" || input === null || Array.isArray(input)) {
      throw new Misfit({ reason: `is ${Fault.describe(input)}, and no object. Send { ${expected} }`, isMissing: false })
    }
    const exit = decode(input)
    if (Exit.isSuccess(exit)) return exit.value
    const error = Cause.squash(exit.cause)
    if (!Schema.isSchemaError(error)) throw error
    throw misfit(Fault.of(error.issue, input)[0]!, expected)
  }
}
