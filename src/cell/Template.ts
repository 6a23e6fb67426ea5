/**
 * Templates: paths such as `/data/orders/:id`, from which the paths of a family are made.
 *
 * @module
 */
import * as Address from "./Address.ts"
import * as Name from "./Name.ts"
import * as Pattern from "./Pattern.ts"

/** The `:name` segments of a path, as the fields of an object. A path that the compiler does not know has any. */
export type Params<Path extends string> = string extends Path
  ? Readonly<Record<string, string>>
  : { readonly [Key in Names<Path>]: string }

/** The fields of {@link Params} without the last one. */
export type Outer<Path extends string> = string extends Path
  ? Readonly<Record<string, string>>
  : { readonly [Key in Exclude<Names<Path>, Last<Path>>]: string }

type Names<Path extends string> = Path extends `${infer Head}/${infer Rest}` ? NameOf<Head> | Names<Rest> : NameOf<Path>
type NameOf<Segment extends string> = Segment extends `:${infer Name}` ? Name : never
type Last<Path extends string> = Path extends `${infer Head}/${infer Rest}`
  ? [Names<Rest>] extends [never] ? NameOf<Head> : Last<Rest>
  : NameOf<Path>

/** The values of `:name` segments. */
export type Given = Readonly<Record<string, string>>

/**
 * A path with literal and `:name` segments.
 */
export class Template {
  readonly path: string
  /** Its names, with `:` before those that are parameters. */
  readonly segments: ReadonlyArray<string>
  /** The names of its `:name` segments, in order. */
  readonly names: ReadonlyArray<string>
  /** The text before the first `:name` segment, and each of these with the text after it. */
  private readonly before: string
  private readonly parts: ReadonlyArray<{ readonly name: string; readonly after: string }>

  /**
   * Parses a template.
   *
   * @throws InvalidPattern
   */
  constructor(path: string) {
    const { segments } = Pattern.parse(path)
    const wild = segments.find(({ kind }) => kind !== "literal" && kind !== "capture")
    if (path === "" || wild !== undefined) {
      throw new Pattern.InvalidPattern({ text: path, reason: "a path with a type has names and :name segments alone, and no *" })
    }
    this.path = path
    this.segments = path.slice(1).split("/")
    this.names = segments.flatMap((segment) => segment.kind === "capture" ? [segment.name] : [])
    const [before = "", ...after] = textsOf(this.segments)
    this.before = before
    this.parts = this.names.map((name, i) => ({ name, after: after[i] ?? "" }))
    const twice = this.names.find((name, i) => this.names.indexOf(name) < i)
    if (twice !== undefined) throw new Pattern.InvalidPattern({ text: path, reason: `it has :${twice} twice; give each its own name` })
  }

  /** The path with `*` for each `:name`, as envelopes and queries have it. */
  get pattern(): string {
    return `/${this.segments.map((segment) => segment.startsWith(":") ? "*" : segment).join("/")}`
  }

  /** The path up to its first `:name`. */
  get root(): string {
    const first = this.segments.findIndex((segment) => segment.startsWith(":"))
    return first < 0 ? this.path : `/${this.segments.slice(0, first).join("/")}`
  }

  /**
   * The path with these values for its `:name` segments.
   *
   * @throws InvalidAddress
   */
  fill(given: Given): string {
    for (const name of this.names) this.value(name, given)
    return this.join(given) ?? this.path
  }

  /** {@link fill} without a check of the values; `undefined` if one is no text. */
  join(given: Given): string | undefined {
    let path = this.before
    for (const { after, name } of this.parts) {
      const value: unknown = given[name]
      if (typeof value !== "string") return undefined
      path += value + after
    }
    return path
  }

  /**
   * The folder of the last `:name`, with these values for the others.
   *
   * @throws InvalidAddress
   */
  folder(outer: Given): string {
    const segments = this.segments.slice(0, -1)
    if (this.segments.at(-1) !== `:${this.names.at(-1)}`) {
      throw new Address.InvalidAddress({ text: this.path, reason: "it does not end with a :name, so its cells cannot be listed" })
    }
    return `/${segments.map((segment) => segment.startsWith(":") ? this.value(segment.slice(1), outer) : segment).join("/")}`
  }

  /** The values of the `:name` segments in the names of a path; `undefined` if they do not match. */
  match(names: ReadonlyArray<string>): Given | undefined {
    const { segments } = this
    if (names.length !== segments.length) return undefined
    const given: Record<string, string> = {}
    for (const [i, name] of names.entries()) {
      const segment = segments[i] ?? ""
      if (segment.startsWith(":")) given[segment.slice(1)] = name
      else if (segment !== name) return undefined
    }
    return given
  }

  private value(name: string, given: Given): string {
    const value: unknown = given[name]
    const reason = typeof value === "string" ? Name.refusal(value) : `it is given ${value === undefined ? "no value" : `a ${typeof value}`}`
    if (typeof value === "string" && reason === undefined) return value
    throw new Address.InvalidAddress({ text: this.path, reason: `its :${name} names nothing, because ${reason}` })
  }
}

/** The texts around the `:name` segments. */
const textsOf = (segments: ReadonlyArray<string>): ReadonlyArray<string> => {
  const texts: Array<string> = []
  let text = ""
  for (const segment of segments) {
    text += "/"
    if (segment.startsWith(":")) {
      texts.push(text)
      text = ""
    } else text += segment
  }
  return [...texts, text]
}

/** The relation of two templates: one names fewer paths, both the same, no common path, or neither. */
export type Relation = "apart" | "equal" | "narrower" | "wider" | "crossed"

/**
 * Compares the paths of two templates.
 */
export const relation = (a: Template, b: Template): Relation => {
  if (a.segments.length !== b.segments.length) return "apart"
  let narrower = false
  let wider = false
  for (const [i, segment] of a.segments.entries()) {
    const other = b.segments[i] ?? ""
    const [isOpen, isOtherOpen] = [segment.startsWith(":"), other.startsWith(":")]
    if (!isOpen && !isOtherOpen && segment !== other) return "apart"
    narrower ||= !isOpen && isOtherOpen
    wider ||= isOpen && !isOtherOpen
  }
  return narrower && wider ? "crossed" : narrower ? "narrower" : wider ? "wider" : "equal"
}
