/**
 * Shapes: the tree of a schema, as far as the types of cells need it.
 *
 * It is read from the schema itself, so that code with a type contains no more of Effect than its schemas bring.
 *
 * @module
 */
import type * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"

type AST = SchemaAST.AST
type Keys = ReadonlyArray<PropertyKey>

/** A part of a value that does not fit. */
export interface Mistake {
  /** Its place inside the value, as a JSON pointer; empty for the whole. */
  readonly at: string
  readonly expected: string
  readonly got: string
}

/** The most characters of a shown value. */
const MAX_SHOWN = 60

/**
 * The reason why values of a schema cannot be stored as they are; `undefined` if they can.
 */
export const refusal = (ast: AST): string | undefined => refusalAt(ast, "", new Set())

const refusalAt = (ast: AST, at: string, seen: Set<AST>): string | undefined => {
  if (seen.has(ast)) return undefined
  seen.add(ast)
  const place = at === "" ? "it" : `its ${at}`
  if (ast.encoding !== undefined || ("encodingChecks" in ast && ast.encodingChecks !== undefined)) {
    return `${place} transforms values, and a cell holds them as they are. Give the schema of its result, such as Schema.toType(schema)`
  }
  if (ast.context?.constructorDefault !== undefined) {
    return `${place} fills in a default, and a value is stored as it is given. Fill it in where the value is made`
  }
  if (unstorable.has(ast._tag)) return `${place} is ${expected(ast)}, which no cell holds. Leave it out`
  for (const [key, part] of partsOf(ast)) {
    const reason = refusalAt(part, key === "" ? at : `${at}/${key}`, seen)
    if (reason !== undefined) return reason
  }
  return undefined
}

const unstorable: ReadonlySet<AST["_tag"]> = new Set<AST["_tag"]>(["Symbol", "UniqueSymbol", "ObjectKeyword"])

/** The parts of a schema, each with its key; a part of the same place has none. */
const partsOf = (ast: AST): ReadonlyArray<readonly [key: string, part: AST]> => {
  switch (ast._tag) {
    case "Objects":
      return [
        ...ast.propertySignatures.map(({ name, type }) => [String(name), type] as const),
        ...ast.indexSignatures.map(({ type }) => ["*", type] as const)
      ]
    case "Arrays":
      return [...ast.elements, ...ast.rest].map((part, i) => [String(i), part] as const)
    case "Union":
      return ast.types.map((part) => ["", part] as const)
    case "Suspend":
      return [["", ast.thunk()]]
    case "Declaration":
      return ast.typeParameters.map((part, i) => [String(i), part] as const)
    default:
      return []
  }
}

/**
 * The schemas of the part with a key: several for a union, and none if the schema does not determine them.
 */
export const partOf = (ast: AST, key: string): ReadonlyArray<AST> => {
  switch (ast._tag) {
    case "Objects": {
      const own = ast.propertySignatures.find(({ name }) => name === key)
      return own === undefined ? ast.indexSignatures.map(({ type }) => type) : [own.type]
    }
    case "Arrays": {
      const part = key === "-" ? ast.rest[0] : ast.elements[Number(key)] ?? ast.rest[0]
      return part === undefined ? [] : [part]
    }
    case "Union":
      return ast.types.flatMap((type) => partOf(type, key))
    case "Suspend":
      return partOf(ast.thunk(), key)
    default:
      return []
  }
}

/**
 * The values of a schema, in words.
 */
export const expected = (ast: AST): string => {
  const told = ast.annotations?.["expected"] ?? ast.annotations?.["identifier"]
  if (typeof told === "string") return told
  switch (ast._tag) {
    case "Literal":
      return typeof ast.literal === "bigint" ? `${ast.literal}n` : JSON.stringify(ast.literal)
    case "Enum":
      return [...new Set(ast.enums.map(([, value]) => JSON.stringify(value)))].join(" or ")
    case "Union":
      return [...new Set(ast.types.map(expected))].join(" or ")
    case "Suspend":
      return expected(ast.thunk())
    default:
      return words[ast._tag] ?? "a value that its schema accepts"
  }
}

const words: Readonly<Record<string, string>> = {
  Null: "null", Undefined: "nothing", Void: "nothing", Never: "nothing", String: "a text", Number: "a number", Boolean: "true or false",
  BigInt: "a bigint", Symbol: "a symbol", UniqueSymbol: "a symbol", TemplateLiteral: "a text of its form", Objects: "an object",
  Arrays: "a list", ObjectKeyword: "an object or a function"
}

/**
 * The mistakes of a value, from the failure of its check.
 */
export const mistakes = (issue: SchemaIssue.Issue, root: { readonly ast: AST; readonly value: unknown }): ReadonlyArray<Mistake> => {
  const found: Array<Mistake> = []
  const add = (path: Keys, wanted: string): void =>
    void found.push({ at: pointerOf(path), expected: wanted, got: shown(valueAt(root.value, path)) })
  const walk = (issue: SchemaIssue.Issue, path: Keys, wanted?: string): void => {
    switch (issue._tag) {
      case "Pointer":
        return walk(issue.issue, [...path, ...issue.path], wanted)
      case "Composite":
        return issue.issues.forEach((inner) => walk(inner, path, wanted))
      case "AnyOf":
        // One member alone was meant, so its own mistakes say more than the list of all.
        if (issue.issues.length !== 1) return add(path, wanted ?? expected(issue.ast))
        return issue.issues.forEach((inner) => walk(inner, path, wanted))
      case "Filter":
        return walk(issue.issue, path, wanted ?? ofAnnotations(issue.filter.annotations))
      case "Encoding":
        return walk(issue.issue, path, wanted)
      case "InvalidType":
      case "OneOf":
        return add(path, wanted ?? expected(issue.ast))
      case "InvalidValue":
      case "Forbidden":
        return add(path, ofAnnotations(issue.annotations) ?? wanted ?? "a value that its schema accepts")
      case "MissingKey":
        return add(path, path.reduce<ReadonlyArray<AST>>((asts, key) => asts.flatMap((ast) => partOf(ast, String(key))), [root.ast])
          .map(expected).join(" or ") || "a value")
      case "UnexpectedKey":
        return add(path, "no such key")
    }
  }
  walk(issue, [])
  return found
}

const ofAnnotations = (annotations: Readonly<Record<string, unknown>> | undefined): string | undefined => {
  const told = annotations?.["message"] ?? annotations?.["expected"]
  return typeof told === "string" ? told : undefined
}

const pointerOf = (path: Keys): string => path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")

const valueAt = (value: unknown, path: Keys): unknown =>
  path.reduce((here, key) => typeof here === "object" && here !== null ? (here as Record<PropertyKey, unknown>)[key] : undefined, value)

/** A value in a few words. */
export const shown = (value: unknown): string => {
  if (value === undefined) return "nothing"
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === "object" && value !== null) {
    return Object.getPrototypeOf(value) === Object.prototype ? "an object" : value.constructor?.name ?? "an object"
  }
  if (typeof value === "function") return "a function"
  const text = typeof value === "string" ? JSON.stringify(value) : String(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
