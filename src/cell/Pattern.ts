/**
 * Patterns: paths with wildcards.
 *
 * Queries use patterns to select signals, and envelopes to limit writable addresses [S0 §Matching and Determinism]. `*`
 * matches one segment, or any run of characters within one (`img*`). `**` matches zero or more segments, and `:name`
 * captures one.
 *
 * @module
 */
import * as Data from "effect/Data"
import * as Name from "./Name.ts"

/** A partly literal segment such as `img*`: its literal parts are a prefix, a suffix and others in order between them. */
export interface Part {
  readonly kind: "part"
  readonly text: string
  readonly prefix: string
  readonly between: ReadonlyArray<string>
  readonly suffix: string
}

/** One segment of a pattern. */
export type Segment =
  | { readonly kind: "literal"; readonly text: string }
  | Part
  | { readonly kind: "one" }
  | { readonly kind: "capture"; readonly name: string }
  | { readonly kind: "many" }

/**
 * A parsed pattern.
 */
export interface Pattern {
  readonly text: string
  readonly segments: ReadonlyArray<Segment>
  /** The specificity: 2 for each literal segment, 1 for each partly literal one, 0 for the rest. */
  readonly specificity: number
}

/** `exact` matches the whole path; `prefix` lets any segments follow the pattern. */
export type Mode = "exact" | "prefix"

/**
 * A text is not a pattern. `reason` names the rule that it breaks.
 */
export class InvalidPattern extends Data.TaggedError("InvalidPattern")<{ readonly text: string; readonly reason: string }> {
  readonly code = "pattern/invalid"
  override get message() {
    return `${JSON.stringify(this.text.slice(0, 200))} is not a pattern: ${this.reason}. ` +
      "Write it like /signals/image/*, /data/:id or /data/**"
  }
}

const capture = /^:[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Parses a pattern. The empty text matches every path.
 *
 * @throws InvalidPattern
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
  // The literal parts must be valid in a name.
  return Name.refusal(name.replaceAll("*", "a"))
}

const toSegment = (name: string): Segment => {
  if (name === "*") return { kind: "one" }
  if (name === "**") return { kind: "many" }
  if (name.startsWith(":")) return { kind: "capture", name: name.slice(1) }
  if (!name.includes("*")) return { kind: "literal", text: name }
  const begin = name.indexOf("*")
  const end = name.lastIndexOf("*")
  const between = name.slice(begin + 1, end).split("*").filter((part) => part !== "")
  return { kind: "part", text: name, prefix: name.slice(0, begin), between, suffix: name.slice(end + 1) }
}

const weight = (segment: Segment): number => segment.kind === "literal" ? 2 : segment.kind === "part" ? 1 : 0

/**
 * Tests whether a pattern matches a path, given as its names.
 */
export const matches = (pattern: Pattern, names: ReadonlyArray<string>, mode: Mode): boolean =>
  align(pattern.segments, names, mode) !== undefined

/**
 * Returns the names that the `:name` segments capture, or `undefined` if the path does not match.
 */
export const params = (pattern: Pattern, names: ReadonlyArray<string>, mode: Mode): Readonly<Record<string, string>> | undefined => {
  const places = align(pattern.segments, names, mode)
  if (places === undefined) return undefined
  const found: Record<string, string> = {}
  for (const [i, place] of places.entries()) {
    const segment = pattern.segments[i]
    const name = names[place]
    if (segment?.kind === "capture" && name !== undefined) found[segment.name] = name
  }
  return Object.freeze(found)
}

/**
 * Returns the position of each segment in the path, with the shortest match for each `**`.
 *
 * After a mismatch only the last `**` is extended, so the time is bounded by segments times names.
 */
const align = (segments: ReadonlyArray<Segment>, names: ReadonlyArray<string>, mode: Mode): ReadonlyArray<number> | undefined => {
  const places: Array<number> = []
  let s = 0
  let n = 0
  let star = -1
  let starEnd = 0
  while (s < segments.length || (n < names.length && mode === "exact")) {
    const segment = segments[s]
    const name = names[n]
    if (segment?.kind === "many") {
      star = s
      starEnd = n
      places[s++] = n
    } else if (segment !== undefined && name !== undefined && accepts(segment, name)) {
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

/** Tests whether a segment that matches exactly one name accepts `name`. */
export const accepts = (segment: Segment, name: string): boolean =>
  segment.kind === "literal" ? segment.text === name : segment.kind === "part" ? holds(segment, name) : true

/** Tests whether a name contains the literal parts in order. Each part takes its first match, so the time is linear. */
const holds = ({ between, prefix, suffix }: Part, name: string): boolean => {
  const end = name.length - suffix.length
  if (end < prefix.length || !name.startsWith(prefix) || !name.endsWith(suffix)) return false
  let from = prefix.length
  for (const part of between) {
    const place = name.indexOf(part, from)
    if (place < 0) return false
    from = place + part.length
  }
  return from <= end
}
