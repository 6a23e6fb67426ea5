/**
 * Checks: whether a value fits a schema, as plain functions.
 *
 * A schema parses: it builds a new value and reports every mistake. A write needs only whether its value fits, and mostly it does.
 * So the tree of the schema is compiled to closures, once. They give the answer of the schema's own parser and allocate nothing.
 * Code is not generated, because some hosts refuse that.
 *
 * @module
 */
import type * as SchemaAST from "effect/SchemaAST"

type AST = SchemaAST.AST
type Filters = NonNullable<AST["checks"]>

/** Tests whether a value fits. */
export type Check = (value: unknown) => boolean

/** The checks of the parts of a schema. */
type Parts = (ast: AST) => Check

/**
 * Compiles the check of a schema without transformation.
 *
 * `parsed` gives the check by the schema's own parser, for the kinds of schemas that are not compiled.
 */
export const compile = (root: AST, parsed: Parts): Check => {
  const known = new Map<AST, Check>()
  const part: Parts = (ast) => {
    let check = known.get(ast)
    if (check === undefined) known.set(ast, check = filtered(ast, part) ?? parsed(ast))
    return check
  }
  return part(root)
}

/** The check of a schema with its filters; `undefined` if only its parser can decide. */
const filtered = (ast: AST, part: Parts): Check | undefined => {
  const { checks } = ast
  if (checks === undefined) return compiled(ast, part)
  // A filter is given the parsed value, which lacks the keys that the schema does not name.
  const check = isKept(ast) ? compiled(ast, part) : undefined
  return check === undefined ? undefined : (value) => check(value) && passes(checks, value, ast)
}

const passes = (filters: Filters, value: unknown, ast: AST): boolean => {
  for (const filter of filters) {
    if (filter._tag === "FilterGroup" ? !passes(filter.checks, value, ast) : filter.run(value, ast, options) !== undefined) return false
  }
  return true
}

const options: SchemaAST.ParseOptions = {}

/** Tests whether the values of a schema, or the filters of its JSON, differ from those that its checks accept. */
export const isEncoded = (ast: AST): boolean =>
  ast.encoding !== undefined || "encodingChecks" in ast && ast.encodingChecks !== undefined

/** Tests whether the parser of a schema gives the values that fit as they are, or lists that are equal to them. */
export const isKept = (ast: AST): boolean => {
  if (isEncoded(ast)) return false
  switch (ast._tag) {
    case "Arrays":
      return ast.elements.every(isKept) && ast.rest.every(isKept)
    case "Union":
      return ast.types.every(isKept)
    default:
      return isScalar.has(ast._tag)
  }
}

const isScalar: ReadonlySet<AST["_tag"]> = new Set<AST["_tag"]>([
  "Null", "Undefined", "Never", "Any", "Unknown", "String", "Number", "Boolean", "BigInt", "Literal", "Enum"
])

const compiled = (ast: AST, part: Parts): Check | undefined => {
  switch (ast._tag) {
    case "Null":
      return (value) => value === null
    case "Undefined":
      return (value) => value === undefined
    case "Never":
      return none
    case "Void":
    case "Any":
    case "Unknown":
      return () => true
    case "String":
      return (value) => typeof value === "string"
    case "Number":
      return (value) => typeof value === "number"
    case "Boolean":
      return (value) => typeof value === "boolean"
    case "BigInt":
      return (value) => typeof value === "bigint"
    case "Literal":
      return (value) => value === ast.literal
    case "Enum": {
      const values = new Set<unknown>(ast.enums.map(([, value]) => value))
      return (value) => values.has(value)
    }
    case "Suspend": {
      let inner: Check | undefined
      return (value) => (inner ??= part(ast.thunk()))(value)
    }
    case "Union":
      return union(ast, part)
    case "Arrays":
      return list(ast, part)
    case "Objects":
      return record(ast, part)
    default:
      return undefined
  }
}

const union = ({ options, types }: SchemaAST.Union, part: Parts): Check => {
  const literals = types.flatMap((type) => type._tag === "Literal" && type.checks === undefined ? [type.literal] : [])
  const isOne = options?.mode === "oneOf"
  if (literals.length === types.length && !isOne) {
    const values = new Set<unknown>(literals)
    return (value) => values.has(value)
  }
  const checks = types.map(part)
  if (isOne) return (value) => checks.filter((check) => check(value)).length === 1
  return (value) => {
    for (const check of checks) if (check(value)) return true
    return false
  }
}

const none: Check = () => false

const isOptional = ({ context }: AST): boolean => context?.isOptional ?? false

const list = ({ elements, rest }: SchemaAST.Arrays, part: Parts): Check | undefined => {
  const [more, ...tail] = rest.map(part)
  if (tail.length > 0) return undefined
  const checks = elements.map(part)
  const required = elements.filter((element) => !isOptional(element)).length
  const further = more ?? none
  return (value) => {
    if (!Array.isArray(value) || value.length < required) return false
    for (let i = 0; i < value.length; i++) if (!(checks[i] ?? further)(value[i])) return false
    return true
  }
}

const record = ({ indexSignatures, propertySignatures }: SchemaAST.Objects, part: Parts): Check | undefined => {
  if (propertySignatures.length + indexSignatures.length === 0) return (value) => value !== undefined && value !== null
  const isPlain = indexSignatures.every(({ parameter }) => parameter._tag === "String" && parameter.checks === undefined)
  // The parser looks for each name with `in`, but for this one.
  if (!isPlain || propertySignatures.some(({ name }) => name === "__proto__")) return undefined
  const named = propertySignatures.map(({ name, type }) => ({ name, check: part(type), isLeftOut: isOptional(type) }))
  const values = indexSignatures.map(({ type }) => part(type))
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false
    const fields = value as Readonly<Record<PropertyKey, unknown>>
    for (const { check, isLeftOut, name } of named) {
      const field = fields[name]
      if (field === undefined && !(name in fields)) {
        if (!isLeftOut) return false
      } else if (!check(field)) return false
    }
    return values.length === 0 || allFit(values, fields)
  }
}

/** Tests whether each own value fits all these checks. */
const allFit = (checks: ReadonlyArray<Check>, fields: Readonly<Record<string, unknown>>): boolean => {
  for (const name in fields) {
    if (!Object.hasOwn(fields, name)) continue
    const field = fields[name]
    for (const check of checks) if (!check(field)) return false
  }
  return true
}
