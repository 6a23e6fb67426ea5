/**
 * Encoders: values as JSON by their schemas, as plain functions.
 *
 * A parser that refuses further fields runs a generator for each object, and a list has many objects. So the tree of the schema is
 * compiled to closures, once. Transformations, and kinds of schemas that are rare in answers, are left to the parser.
 *
 * @module
 */
import * as SchemaAST from "effect/SchemaAST"
import * as Check from "../cell/Check.ts"

type AST = SchemaAST.AST

/** The result for a value that does not fit, or has fields beyond its schema. */
export const misfit = Symbol("misfit")

/** Encodes a value; {@link misfit} if it does not fit. */
export type Encode = (value: unknown) => unknown

/** The encoders of the parts of a schema. Their trees are flipped: each describes the JSON, and its `encoding` leads from the value. */
type Parts = (ast: AST) => Encode

/**
 * Compiles the encoder of a schema.
 *
 * `parsed` gives the encoder by the schema's own parser, for a part that is not compiled.
 */
export const compile = (root: AST, parsed: Parts): Encode => partsOf(parsed)(SchemaAST.flip(root))

/**
 * The same for an answer with lists of rows, as fields of its root: a row that does not fit is left as it is, and all else is encoded.
 */
export const compileRows = (root: AST, parsed: Parts): Encode => {
  const part = partsOf(parsed)
  const ast = SchemaAST.flip(root)
  const whole = part(ast)
  const lists = listsOf(ast).map(({ item, name }) => ({ name, row: part(item) }))
  return (value) => {
    const encoded = whole(value)
    if (encoded !== misfit || typeof value !== "object" || value === null) return encoded
    const given = value as Readonly<Record<string, unknown>>
    const found = lists.flatMap(({ name, row }) => {
      const rows = given[name]
      return Array.isArray(rows) ? [[name, rows.map((each: unknown) => or(row(each), each))] as const] : []
    })
    const frame = whole({ ...given, ...Object.fromEntries(found.map(([name]) => [name, []])) })
    return frame === misfit ? misfit : { ...frame as object, ...Object.fromEntries(found) }
  }
}

const or = (encoded: unknown, value: unknown): unknown => encoded === misfit ? value : encoded

/** The lists that are fields of an object, each with the schema of its items. */
const listsOf = (ast: AST): ReadonlyArray<{ readonly name: string; readonly item: AST }> =>
  ast._tag !== "Objects" ? [] : ast.propertySignatures.flatMap(({ name, type }) => {
    if (typeof name !== "string" || type._tag !== "Arrays" || Check.isEncoded(type)) return []
    const { elements, rest: [item, ...tail] } = type
    return item === undefined || elements.length + tail.length > 0 ? [] : [{ name, item }]
  })

const partsOf = (parsed: Parts): Parts => {
  const known = new Map<AST, Encode>()
  const part: Parts = (ast) => {
    let encode = known.get(ast)
    if (encode === undefined) known.set(ast, encode = compiled(ast, part, parsed) ?? parsed(ast))
    return encode
  }
  return part
}

const compiled = (ast: AST, part: Parts, parsed: Parts): Encode | undefined => {
  if (Check.isKept(ast)) return kept(ast)
  if (Check.isEncoded(ast) || ast.checks !== undefined) return undefined
  switch (ast._tag) {
    case "Suspend": {
      let inner: Encode | undefined
      return (value) => (inner ??= part(ast.thunk()))(value)
    }
    case "Arrays":
      return list(ast, part)
    case "Objects":
      return struct(ast, part, parsed)
    case "Union":
      return ast.options?.mode === "oneOf" ? undefined : union(ast.types.map(part))
    default:
      return undefined
  }
}

/** A value that is its own JSON. */
const kept = (ast: AST): Encode | undefined => {
  let isCompiled = true
  const check = Check.compile(ast, () => {
    isCompiled = false
    return () => false
  })
  return isCompiled ? (value) => check(value) ? value : misfit : undefined
}

const union = (members: ReadonlyArray<Encode>): Encode => (value) => {
  for (const encode of members) {
    const encoded = encode(value)
    if (encoded !== misfit) return encoded
  }
  return misfit
}

const list = ({ elements, rest: [item, ...tail] }: SchemaAST.Arrays, part: Parts): Encode | undefined => {
  if (item === undefined || elements.length + tail.length > 0) return undefined
  const encode = part(item)
  return (value) => {
    if (!Array.isArray(value)) return misfit
    const encoded: Array<unknown> = []
    for (let i = 0; i < value.length; i++) {
      const item = encode(value[i])
      if (item === misfit) return misfit
      encoded.push(item)
    }
    return encoded
  }
}

const struct = (ast: SchemaAST.Objects, part: Parts, parsed: Parts): Encode | undefined => {
  const { indexSignatures, propertySignatures } = ast
  const isPlain = propertySignatures.every(({ name }) => typeof name === "string" && name !== "__proto__")
  if (!isPlain || propertySignatures.length === 0 || indexSignatures.length > 0) return undefined
  const fields = propertySignatures.map(({ name, type }) =>
    ({ name: name as string, encode: part(type), isOptional: type.context?.isOptional ?? false, isMade: type.encoding !== undefined }))
  const names = new Set(fields.map(({ name }) => name))
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return misfit
    for (const name in value) if (!names.has(name) && Object.hasOwn(value, name)) return misfit
    const given = value as Readonly<Record<string, unknown>>
    const encoded: Record<string, unknown> = {}
    for (const { encode, isMade, isOptional, name } of fields) {
      const field = given[name]
      if (field === undefined && !(name in given)) {
        // A transformation may make a field that the value lacks.
        if (isMade) return parsed(ast)(value)
        if (!isOptional) return misfit
        continue
      }
      const made = encode(field)
      if (made === misfit) return misfit
      encoded[name] = made
    }
    return encoded
  }
}
