/**
 * Types: the values that the cells of a family hold, or the payloads of a signal.
 *
 * A type is a schema of Effect without transformation. Its check is compiled from the schema once, and synchronous.
 *
 * @module
 */
import * as Data from "effect/Data"
import type * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as Check from "./Check.ts"
import { InvalidPattern } from "./Pattern.ts"
import * as Shape from "./Shape.ts"
import { Template } from "./Template.ts"
import { canonical, type Value } from "./Value.ts"

export type { Mistake } from "./Shape.ts"

/** A schema of values that a cell can hold: its Type is a `Value`, and it has no transformation. */
export type Storable<A extends Value> = Schema.Codec<A, A>

/** A schema, or a function that returns it. Code that never checks a value then need not contain the schema. */
export type Schematic<A extends Value> = Storable<A> | (() => Storable<A>)

/**
 * A family, a cell of a type or a signal is declared with a path or a schema that does not do. `reason` names the rule that it
 * breaks.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidType extends Data.TaggedError("InvalidType")<{ readonly path: string; readonly reason: string }> {
  readonly code = "type/invalid"
  override get message() {
    return `The type of ${JSON.stringify(String(this.path).slice(0, 200))} is refused: ${this.reason}`
  }
}

/** The most mistakes that a message shows. */
const SHOWN = 5

/** The mistakes of a value in a sentence. */
const told = (mistakes: ReadonlyArray<Shape.Mistake>): string => {
  const list = mistakes.slice(0, SHOWN).map(({ at, expected, got }) => `${at === "" ? "it is" : `${at} is`} ${got}, expected ${expected}`)
  return list.join("; ") + (mistakes.length > SHOWN ? `; and ${mistakes.length - SHOWN} more` : "")
}

/**
 * A value does not fit the type of the cell that it is written to.
 *
 * @category errors
 * @since 0.1.0
 */
export class CellMistyped extends Data.TaggedError("CellMistyped")<{
  /** The address of the write. */
  readonly address: string
  /** The path of the family. */
  readonly path: string
  readonly mistakes: ReadonlyArray<Shape.Mistake>
}> {
  readonly code = "cell/type"
  override get message() {
    return `The value for ${this.address} does not fit the type of ${this.path}: ${told(this.mistakes)}. ` +
      "Give a value that fits, or change the schema of the cell"
  }
}

/** The reason for which a payload does not fit the type of a signal. */
export const misfit = ({ path }: Pick<Type, "path">, mistakes: ReadonlyArray<Shape.Mistake>): string =>
  `its payload does not fit the type of ${path}: ${told(mistakes)}. Give a payload that fits`

/** The part of a schema that a type uses. It is the same in each copy of Effect. */
interface Checking {
  readonly ast: Schema.Top["ast"]
  readonly make: (value: unknown, options?: { readonly parseOptions: { readonly errors: "all" } }) => unknown
  readonly rebuild: (ast: Schema.Top["ast"]) => Checking
}

/** The most parts of a type that are kept. A record has any number of keys. */
const MAX_PARTS = 256

const none: ReadonlyArray<Shape.Mistake> = []
const all = { parseOptions: { errors: "all" } } as const

const isSchema = (value: unknown): value is Checking =>
  (typeof value === "object" || typeof value === "function") && value !== null && "~effect/Schema/Schema" in value

/**
 * The type of a cell or of a part of it, or of a payload.
 */
export class Type {
  /** The path of the family or of the signal. */
  readonly path: string
  private readonly given: unknown
  private known: ReadonlyArray<Checking> | undefined
  private checks: ReadonlyArray<Check.Check> | undefined
  private readonly parts = new Map<string, Type | undefined>()

  /** `schema` is a schema, a function that returns it, or the list of those of which a value fits one. */
  constructor(path: string, schema: unknown) {
    this.path = path
    this.given = schema
    // A function is called at the first use alone, because the schema may be declared below.
    if (isSchema(schema) || typeof schema !== "function") this.known = Array.isArray(schema) ? schema : [this.checked(schema)]
  }

  /** The schemas of which a value fits one: a part of a union has several. */
  private get schemas(): ReadonlyArray<Checking> {
    return this.known ??= [this.checked((this.given as () => unknown)())]
  }

  /**
   * The schema.
   *
   * @throws InvalidType
   */
  get schema(): Schema.Top {
    return this.schemas[0] as unknown as Schema.Top
  }

  private checked(schema: unknown): Checking {
    const refuse = (reason: string) => new InvalidType({ path: this.path, reason })
    if (!isSchema(schema)) throw refuse("it has no Schema of Effect; make one, such as Schema.Struct({ count: Schema.Natural })")
    const reason = Shape.refusal(schema.ast)
    if (reason !== undefined) throw refuse(reason)
    return schema
  }

  /** The mistakes of a value; none if it fits. */
  mistakes(value: unknown): ReadonlyArray<Shape.Mistake> {
    if (this.fits(value)) return none
    const { schemas } = this
    const [schema, ...others] = schemas
    if (schema !== undefined && others.length === 0) return mistakesOf(schema, value)
    if (schemas.some((schema) => isParsed(schema, value))) return none
    return [{ at: "", expected: [...new Set(schemas.map(({ ast }) => Shape.expected(ast)))].join(" or "), got: Shape.shown(value) }]
  }

  private fits(value: unknown): boolean {
    const checks = this.checks ??= this.schemas.map(compiled)
    try {
      for (const check of checks) if (check(value)) return true
      return false
    } catch {
      // A filter threw. The parser of the schema throws it again, as an error of the schema.
      return false
    }
  }

  /**
   * Checks a value that is written to an address.
   *
   * @throws CellMistyped
   */
  check(value: unknown, address: string): void {
    const mistakes = this.mistakes(value)
    if (mistakes.length > 0) throw new CellMistyped({ address, path: this.path, mistakes })
  }

  /** The type of the part with a key; `undefined` if the schema does not determine it. `-` is a further item of a list. */
  into(key: string): Type | undefined {
    if (this.parts.has(key)) return this.parts.get(key)
    const found = this.schemas.flatMap((schema) => Shape.partOf(schema.ast, key).map((ast) => schema.rebuild(ast)))
    const part = found.length === 0 ? undefined : new Type(this.path, found)
    if (this.parts.size < MAX_PARTS) this.parts.set(key, part)
    return part
  }
}

const compiled = (schema: Checking): Check.Check =>
  Check.compile(schema.ast, (ast) => {
    let part: Checking | undefined
    return (value) => isParsed(part ??= schema.rebuild(ast), value)
  })

/** Tests whether the parser of a schema accepts a value. */
const isParsed = (schema: Checking, value: unknown): boolean => {
  try {
    schema.make(value)
    return true
  } catch (error) {
    return issueOf(error) === undefined
  }
}

const mistakesOf = (schema: Checking, value: unknown): ReadonlyArray<Shape.Mistake> => {
  try {
    schema.make(value, all)
    return none
  } catch (error) {
    return Shape.mistakes(issueOf(error), { ast: schema.ast, value })
  }
}

/** The failure of a check. Any other error of a schema is thrown as it is. */
const issueOf = (error: unknown): SchemaIssue.Issue => {
  const cause = error instanceof Error ? error.cause : undefined
  if (typeof cause === "object" && cause !== null && "~effect/SchemaIssue/Issue" in cause) return cause as SchemaIssue.Issue
  throw error
}

/**
 * The template of a declaration.
 *
 * @throws InvalidType
 */
export const templateOf = (path: string): Template => {
  try {
    return new Template(path)
  } catch (error) {
    if (error instanceof InvalidPattern) throw new InvalidType({ path, reason: error.reason })
    throw error
  }
}

/**
 * The upgrades of older values to a type. Each is made once as long as its value is in memory.
 */
export class Upgrades {
  private readonly type: Type
  private readonly upgrade: (old: Value) => Value
  /** The values that fit, by those that were read. */
  private readonly known = new WeakMap<object, { readonly value: Value }>()

  constructor(type: Type, upgrade: (old: Value) => Value) {
    this.type = type
    this.upgrade = upgrade
  }

  /**
   * The value itself if it fits, and else its upgrade.
   *
   * @throws CellMistyped, if the upgrade does not fit either
   */
  of(value: Value, address: string): Value {
    if (value === undefined) return undefined
    if (typeof value !== "object" || value === null) return this.made(value, address)
    let known = this.known.get(value)
    if (known === undefined) this.known.set(value, known = { value: this.made(value, address) })
    return known.value
  }

  private made(value: Value, address: string): Value {
    if (this.type.mistakes(value).length === 0) return value
    const upgraded = canonical(this.upgrade(value)).value
    this.type.check(upgraded, address)
    return upgraded
  }
}

/** A family, a cell of a type or a signal of a type, as a module declares it. */
export interface Declared {
  readonly kind: "cell" | "signal"
  readonly template: Template
  readonly type: Type
  readonly upgrades?: Upgrades | undefined
}
