/**
 * Patterns: paths in which a segment may stand for many.
 *
 * Queries say with them which signals an enzyme takes, envelopes which
 * addresses it may write. `*` stands for one segment, or for any run of
 * characters inside one (`img*`), `**` for zero or more segments, and `:name`
 * for one that is captured. (Architecture, section 2; seed 000, "Matching".)
 *
 * @module
 */
import * as Schema from "effect/Schema"
import * as Name from "./Name.ts"

/** What one segment of a pattern asks of a name. */
export type Segment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "part"; readonly text: string; readonly parts: ReadonlyArray<string> }
  | { readonly kind: "one" }
  | { readonly kind: "capture"; readonly name: string }
  | { readonly kind: "many" }

/**
 * A pattern, taken apart once.
 *
 * @category models
 * @since 0.1.0
 */
export interface Pattern {
  readonly text: string
  readonly segments: ReadonlyArray<Segment>
  /** How much it pins down: 2 for a literal segment, 1 for a partly literal one, 0 for the rest. */
  readonly specificity: number
}

/** `exact`: the whole path is matched. `prefix`: whatever follows the pattern is free. */
export type Mode = "exact" | "prefix"

/**
 * A text is not a pattern.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidPattern extends Schema.TaggedError<InvalidPattern>()("InvalidPattern", {
  text: Schema.String,
  reason: Schema.String
}) {
  readonly code = "pattern/invalid"
  override get message() {
    return `${JSON.stringify(this.text.slice(0, 200))} is not a pattern: ${this.reason}. Write it like /signals/image/*, /data/:id or /data/**`
  }
}

const capture = /^:[A-Za-z_][A-Za-z0-9_]*$/

/**
 * The pattern that `text` stands for. The empty text matches everything.
 *
 * @throws InvalidPattern
 * @category constructors
 * @since 0.1.0
 */
export const parse = (text: string): Pattern => {
  if (text === "") return { text, segments: [{ kind: "many" }], specificity: 0 }
  const names = Name.split(text, refusal)
  if (typeof names === "string") throw new InvalidPattern({ text, reason: names })
  const segments = names.map(toSegment)
  return { text, segments, specificity: segments.reduce((sum, segment) => sum + weight(segment), 0) }
}

const refusal = (name: string): string | undefined => {
  if (name === "*" || name === "**" || capture.test(name)) return undefined
  if (name.includes("**")) return `"${name}" mixes ** with other characters; ** stands alone between slashes`
  if (!name.includes("*")) return Name.refusal(name)
  // What the stars leave has to be able to stand in a name.
  return Name.refusal(name.replaceAll("*", "a"))
}

const toSegment = (name: string): Segment => {
  if (name === "*") return { kind: "one" }
  if (name === "**") return { kind: "many" }
  if (name.startsWith(":")) return { kind: "capture", name: name.slice(1) }
  if (!name.includes("*")) return { kind: "literal", text: name }
  return { kind: "part", text: name, parts: name.split("*") }
}

const weight = (segment: Segment): number => segment.kind === "literal" ? 2 : segment.kind === "part" ? 1 : 0

/**
 * Whether a pattern matches a path, given as its names.
 *
 * @category predicates
 * @since 0.1.0
 */
export const matches = (pattern: Pattern, names: ReadonlyArray<string>, mode: Mode): boolean =>
  align(pattern.segments, names, mode) !== undefined

/**
 * What the `:name` segments of a pattern stand for in a path, or `undefined` where it does not match.
 *
 * @category getters
 * @since 0.1.0
 */
export const params = (pattern: Pattern, names: ReadonlyArray<string>, mode: Mode): Readonly<Record<string, string>> | undefined => {
  const places = align(pattern.segments, names, mode)
  if (places === undefined) return undefined
  const found: Record<string, string> = {}
  pattern.segments.forEach((segment, i) => {
    if (segment.kind === "capture") found[segment.name] = names[places[i]!]!
  })
  return Object.freeze(found)
}

/**
 * Where each segment begins in the path: the shortest stretch for each `**`.
 *
 * After a mismatch only the last `**` is tried longer, which keeps the work within segments times names.
 */
const align = (segments: ReadonlyArray<Segment>, names: ReadonlyArray<string>, mode: Mode): ReadonlyArray<number> | undefined => {
  const places: Array<number> = []
  let s = 0
  let n = 0
  let star = -1
  let starEnd = 0
  while (s < segments.length || (n < names.length && mode === "exact")) {
    const segment = segments[s]
    if (segment?.kind === "many") {
      star = s
      starEnd = n
      places[s++] = n
    } else if (segment !== undefined && n < names.length && accepts(segment, names[n]!)) {
      places[s++] = n++
    } else if (star >= 0 && starEnd < names.length) {
      n = ++starEnd
      s = star + 1
    } else {
      return undefined
    }
  }
  return places
}

/** Whether one segment that stands for exactly one name accepts it. */
export const accepts = (segment: Segment, name: string): boolean =>
  segment.kind === "literal" ? segment.text === name : segment.kind === "part" ? holds(segment.parts, name) : true

/** Whether a name is `parts` in order, with anything between them. Each is taken where it first fits, so the work is linear. */
const holds = (parts: ReadonlyArray<string>, name: string): boolean => {
  const first = parts[0]!
  const last = parts[parts.length - 1]!
  const end = name.length - last.length
  if (end < first.length || !name.startsWith(first) || !name.endsWith(last)) return false
  let from = first.length
  for (let i = 1; i < parts.length - 1; i++) {
    const place = name.indexOf(parts[i]!, from)
    if (place < 0) return false
    from = place + parts[i]!.length
  }
  return from <= end
}
