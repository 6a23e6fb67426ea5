/**
 * Faults of input by its schema, each with its place, the value there, and the expected one in words.
 *
 * @module
 */
import * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as Nearest from "../cell/Nearest.ts"

/** A fault of input. */
export interface Fault {
  /** The field with its place, such as `limits.hops`; empty for the whole input. */
  readonly field: string
  /** A field is `missing` or `unknown`; or its value is `wrong`. */
  readonly kind: "missing" | "unknown" | "wrong"
  /** The value, shortened; for a secret its type alone. */
  readonly given: string
  /** The expected value, such as `a number`; for an unknown field the fields that there are. */
  readonly expected: string
  /** The field nearest to an unknown one, with its place; `undefined` without one. */
  readonly nearest?: string | undefined
}

/** The most characters of the name of a field in a message, and of a value. */
const MAX_NAME = 100
const MAX_VALUE = 60

/**
 * The faults of a failed decoding, in their order.
 */
export const of = (issue: SchemaIssue.Issue, input: unknown): ReadonlyArray<Fault> => faultsOf(issue, { path: [], value: input })

/** A place in the input: the way to it, and the value there; `undefined` for none. */
interface Place {
  readonly path: ReadonlyArray<PropertyKey>
  readonly value: unknown
}

const faultsOf = (issue: SchemaIssue.Issue, place: Place): ReadonlyArray<Fault> => {
  switch (issue._tag) {
    case "Pointer":
      return faultsOf(issue.issue, issue.path.reduce<Place>(below, place))
    case "Composite":
      return issue.issues.flatMap((part) => faultsOf(part, place))
    case "Encoding":
      return faultsOf(issue.issue, place)
    case "AnyOf":
      return nested(issue, place) ?? [faultOf(issue, place)]
    default:
      return [faultOf(issue, place)]
  }
}

/** The faults within one member of a union, if the others take no object. */
const nested = ({ ast, issues }: SchemaIssue.AnyOf, place: Place): ReadonlyArray<Fault> | undefined => {
  if (typeof place.value !== "object" || place.value === null) return undefined
  const inner = ast.types.filter(({ _tag }) => _tag === "Objects" || _tag === "Arrays").length === 1
    ? issues.flatMap((part) => faultsOf(part, place)).filter(({ field }) => field !== nameOf(place.path))
    : []
  return inner.length === 0 ? undefined : inner
}

const below = ({ path, value }: Place, key: PropertyKey): Place => ({
  path: [...path, key],
  value: typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
})

const nameOf = (path: ReadonlyArray<PropertyKey>): string => path.map(String).join(".").slice(0, MAX_NAME)

const faultOf = (issue: SchemaIssue.Issue, at: Place): Fault => {
  const { path, value } = at
  const place = { field: nameOf(path), given: isSecret(at) ? typeOf(value) : describe(value) }
  if (issue._tag === "MissingKey") return { ...place, kind: "missing", expected: "a value" }
  if (issue._tag === "UnexpectedKey") {
    const fields = fieldsOf(issue.ast)
    const nearest = Nearest.of(String(path.at(-1)), fields)
    return {
      ...place,
      kind: "unknown",
      expected: fields.length === 0 ? "none" : fields.join(", "),
      nearest: nearest === undefined ? undefined : nameOf([...path.slice(0, -1), nearest])
    }
  }
  return { ...place, kind: "wrong", expected: expectedBy(issue) }
}

/** The names of fields with a secret or a list of some, which no message may show. A key of a set may be a private one. */
const secrets: ReadonlySet<PropertyKey | undefined> = new Set(["keys", "password", "secret", "secrets", "token"])

/** The fields whose own fields hold a secret; a text in place of such an object may be that secret. */
const holders: ReadonlySet<PropertyKey | undefined> = new Set(["ingress", "readers"])

const isSecret = ({ path, value }: Place): boolean =>
  secrets.has(path.at(-1)) || secrets.has(path.at(-2)) || (typeof value === "string" && holders.has(path.at(-2)))

const typeOf = (value: unknown): string => 
  value === undefined ? "undefined" : typeof value === "string" ? `a text of ${value.length} characters` : `a ${typeof value}`

const hidden = (name: string, part: unknown): unknown => secrets.has(name) ? typeOf(part) : part

/**
 * A value in a message, shortened, and with the types of its secrets alone.
 */
export const describe = (value: unknown): string => {
  if (typeof value === "function") return "a function"
  // A value without JSON, such as `undefined`, has no text there.
  const text = (JSON.stringify(value, hidden) as string | undefined) ?? String(value)
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text
}

const fieldsOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  ast._tag === "Objects" ? ast.propertySignatures.map(({ name }) => String(name)) : []

/** The names of types in words. */
const types: Readonly<Partial<Record<string, string>>> = {
  String: "a string", Number: "a number", Boolean: "true or false", Objects: "an object", Arrays: "a list", Null: "null"
}

const expectedBy = (issue: SchemaIssue.Issue): string => {
  if (issue._tag === "Filter") {
    const { expected, message } = issue.filter.annotations ?? {}
    return typeof message === "string" ? message : typeof expected === "string" ? expected : "another value"
  }
  return "ast" in issue ? named(issue.ast) : "another value"
}

/** A type in words. */
const named = (ast: SchemaAST.AST): string => {
  if (ast._tag === "Union") return [...new Set(ast.types.map(named))].join(" or ")
  if (ast._tag === "Literal") return JSON.stringify(ast.literal)
  const { expected } = SchemaAST.resolve(ast) ?? {}
  return types[ast._tag] ?? (typeof expected === "string" ? expected : `a value of type ${ast._tag}`)
}
