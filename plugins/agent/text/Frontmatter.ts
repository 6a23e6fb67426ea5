/**
 * The frontmatter of a control file: YAML between two lines of `---`. A line of `...`, the end of a document of YAML, ends it, too.
 *
 * Aliases, anchors and tags are refused, so a text costs no more than its length.
 *
 * @module
 */
import * as Yaml from "yaml"
import type { Line, Source, Span } from "./Line.ts"
import * as Lines from "./Line.ts"
import type { Finding } from "./Issue.ts"

/** A value of the frontmatter. Lists and maps are kept in the text, and read as undefined. */
export type Scalar = string | number | boolean | null

/** A key at the top level of the frontmatter. `valueSpan` is empty for a key without a value. */
export interface Entry {
  readonly key: string
  readonly keyStart: number
  readonly value: Scalar | undefined
  readonly valueSpan: Span
  /** The offset behind the colon of the key. */
  readonly colonEnd: number
  /** The lines of the entry, ends of lines included. */
  readonly span: Span
}

/**
 * The frontmatter. `span` covers both marks and their ends of lines, `body` the lines between them.
 */
export interface Frontmatter {
  readonly span: Span
  readonly body: Span
  readonly entries: ReadonlyArray<Entry>
  /** The indent of keys; undefined where the keys do not stand one to a line, so that none can be changed. */
  readonly indent: string | undefined
}

/** The maximum length of the frontmatter, in UTF-16 code units. */
export const MAX_LENGTH = 4_096

/** The maximum number of characters that may begin a key, a list or a map. It bounds the work of the parser. */
const MAX_INDICATORS = 256

const INDICATORS = /[[{?]|[:-](?:\s|$)/g

/** The maximum number of errors of YAML that are reported. */
const MAX_ERRORS = 20

/** The versions of the format that can be read. */
const VERSIONS: ReadonlyArray<Scalar | undefined> = [1]

/** The states of an agent. */
export const STATES = ["idle", "running", "error"] as const

/** Returns the value of a key; undefined where the key is absent. */
export const get = (frontmatter: Frontmatter | undefined, key: string): Scalar | undefined =>
  frontmatter?.entries.find((entry) => entry.key === key)?.value

/** The frontmatter of a text, the index of the first line after it, and its errors. */
export interface ParsedFrontmatter {
  readonly frontmatter: Frontmatter | undefined
  readonly next: number
  readonly findings: ReadonlyArray<Finding>
}

/** Characters that YAML and this parser count differently: a carriage return alone, a byte order mark inside. */
const FOREIGN = /\r(?!\n)|\ufeff/

const isMark = (text: string, line: Line | undefined): boolean =>
  line !== undefined && /^---[ \t]*$/.test(text.slice(line.start, line.end))

const END = /^(?:---[ \t]*|\.\.\.(?:[ \t]+#.*|[ \t]*))$/s

const isEnd = (text: string, line: Line): boolean => END.test(text.slice(line.start, line.end))

const EXAMPLE = "begin the file with the lines ---, version: 1, status: idle and ---"

/** The index of the line that ends a frontmatter; -1 without one. */
const endOf = (text: string, lines: ReadonlyArray<Line>): number => lines.findIndex((line, index) => index > 0 && isEnd(text, line))

/** Whether a frontmatter begins in a text and never ends. */
export const isCut = (text: string, lines: ReadonlyArray<Line>): boolean => isMark(text, lines[0]) && endOf(text, lines) < 0

/** Parses the frontmatter at the beginning of a text. A blank text has none, and needs none. */
export const parse = (text: string, lines: ReadonlyArray<Line>): ParsedFrontmatter => {
  const [first] = lines
  if (text.trim() === "") return { frontmatter: undefined, next: 0, findings: [] }
  if (first === undefined || !isMark(text, first)) {
    const message = "The file has no frontmatter: its first line is not ---"
    return { frontmatter: undefined, next: 0, findings: [{ code: "agent/frontmatter-missing", offset: 0, message, suggestion: EXAMPLE }] }
  }
  const last = endOf(text, lines)
  const closing = lines[last]
  if (closing === undefined) {
    const message = "The frontmatter that begins in line 1 never ends"
    const suggestion = "close it with a line ---"
    return { frontmatter: undefined, next: 1, findings: [{ code: "agent/frontmatter-unclosed", offset: first.start, message, suggestion }] }
  }
  const body = { start: first.next, end: closing.start }
  const read = entriesOf({ text, lines }, body)
  const isPlain = read.findings.length === 0 && read.isFlow !== true && !FOREIGN.test(text.slice(first.start, closing.next))
  const indent = isPlain ? indentOf(text, read.entries) : undefined
  const frontmatter = { span: { start: first.start, end: closing.next }, body, entries: read.entries, indent }
  const isLoneReturn = /\r(?!\n)/.test(text.slice(first.start, closing.next))
  const findings = read.findings.length > 0 ? read.findings : checked(frontmatter)
  return { frontmatter, next: last + 1, findings: isLoneReturn ? [invalid(body.start, ...LONE_RETURN)] : findings }
}

const invalid = (offset: number, message: string, suggestion: string): Finding =>
  ({ code: "agent/frontmatter-invalid", offset, message, suggestion })

/** Returns the text before the keys, if it is the same white space for each. */
const indentOf = (text: string, entries: ReadonlyArray<Entry>): string | undefined => {
  const indents = new Set(entries.map(({ keyStart, span }) => text.slice(span.start, keyStart)))
  const [indent = ""] = indents
  return indents.size <= 1 && indent.trim() === "" ? indent : undefined
}

/** The entries of a frontmatter, and whether it is a map in braces. */
interface Read extends Pick<Frontmatter, "entries">, Pick<ParsedFrontmatter, "findings"> {
  readonly isFlow?: boolean
}

const entriesOf = (source: Source, { end, start }: Span): Read => {
  if (end - start > MAX_LENGTH) {
    const message = `The frontmatter has ${end - start} characters, and ${MAX_LENGTH} are the limit`
    return { entries: [], findings: [invalid(start, message, "move what people read below the heading Notes")] }
  }
  const body = source.text.slice(start, end)
  if ((body.match(INDICATORS) ?? []).length > MAX_INDICATORS) {
    const message = `The frontmatter has more than ${MAX_INDICATORS} keys, lists and maps`
    return { entries: [], findings: [invalid(start, message, "write only the keys of the agent")] }
  }
  const document = Yaml.parseDocument(body, OPTIONS)
  const findings = [...document.errors.slice(0, MAX_ERRORS).map(({ message, pos }) => {
    const [first = message] = message.split("\n")
    return invalid(start + pos[0], `The frontmatter is not YAML: ${first}`, "write lines such as status: idle")
  }), ...references(document, start)]
  const { contents } = document
  if (findings.length > 0 || contents === null) return { entries: [], findings }
  if (!Yaml.isMap(contents)) {
    return { entries: [], findings: [invalid(start, "The frontmatter is no map of keys to values", "write lines such as status: idle")] }
  }
  const entries = contents.items.map((pair) => entryOf(pair, source, start))
  return { entries, findings: repeated(entries), isFlow: contents.flow === true }
}

/** Repeated keys are found by {@link repeated}, whose cost is linear. */
const OPTIONS = {
  version: "1.2",
  schema: "core",
  logLevel: "error",
  prettyErrors: false,
  strict: true,
  stringKeys: true,
  uniqueKeys: false
} as const

const nameOf = (node: Yaml.Node): string => {
  if (Yaml.isAlias(node)) return "an alias"
  if (node.anchor !== undefined) return "an anchor"
  return node.tag === undefined ? "" : "a tag"
}

/** The aliases, anchors and tags of a document. */
const references = (document: Yaml.Document.Parsed, start: number): ReadonlyArray<Finding> => {
  const found: Array<Finding> = []
  Yaml.visit(document, {
    Node: (_, node) => {
      const name = nameOf(node)
      if (name === "") return undefined
      found.push(invalid(start + (node.range?.[0] ?? 0), `The frontmatter has ${name}, which is not allowed`, "write the value itself"))
      return Yaml.visit.BREAK
    }
  })
  return found
}

const entryOf = (pair: Yaml.Pair<unknown, unknown>, { lines, text }: Source, start: number): Entry => {
  const key = Yaml.isScalar(pair.key) ? pair.key : undefined
  const value = Yaml.isNode(pair.value) ? pair.value : undefined
  const from = start + (key?.range?.[0] ?? 0)
  const colon = text.indexOf(":", start + (key?.range?.[1] ?? 0)) + 1
  const valueStart = Math.max(start + (value?.range?.[0] ?? 0), colon)
  const valueEnd = Math.max(contentEnd(text, start, value), colon)
  const plain = Yaml.isScalar(value) ? value.value : undefined
  return {
    key: String(key?.value ?? ""),
    keyStart: from,
    value: plain === null || SCALARS.includes(typeof plain) ? plain as Scalar : undefined,
    colonEnd: colon,
    valueSpan: valueEnd > valueStart ? { start: valueStart, end: valueEnd } : { start: colon, end: colon },
    span: { start: lines[Lines.indexOf(lines, from)]?.start ?? from, end: lines[Lines.indexOf(lines, valueEnd - 1)]?.next ?? valueEnd }
  }
}

/** The end of a value without the ends of lines behind it, which belong to a block. */
const contentEnd = (text: string, offset: number, value: Yaml.Node | undefined): number => {
  const [start = 0, end = 0] = value?.range ?? []
  return offset + start + text.slice(offset + start, offset + end).trimEnd().length
}

const SCALARS: ReadonlyArray<string> = ["string", "number", "boolean"]

const repeated = (entries: ReadonlyArray<Entry>): ReadonlyArray<Finding> => {
  const keys = new Set<string>()
  const found: Array<Finding> = []
  for (const { key, span } of entries) {
    if (keys.has(key)) found.push(invalid(span.start, `The key "${key}" of the frontmatter is repeated`, "keep one of its lines"))
    keys.add(key)
  }
  return found
}

const ONE_TO_A_LINE = [
  "The keys of the frontmatter do not stand one to a line, so the agent cannot write there",
  "write lines such as status: idle, with the same indent and end of line"
] as const

const LONE_RETURN = [
  "The lines of the file end with a carriage return alone, which YAML does not read as the end of a line",
  "save it with line ends LF or CRLF"
] as const

/** The issue about a version: absent, a text instead of a number, or of another format. */
const versionIssue = (version: Scalar | undefined): Pick<Finding, "message" | "suggestion"> => {
  if (version === undefined) return { message: "The frontmatter has no version", suggestion: "write version: 1" }
  return VERSIONS.includes(Number(version))
    ? { message: `The version ${JSON.stringify(version)} is a text, and no number`, suggestion: "write version: 1, without quotes" }
    : { message: `The version ${String(version)} of the format is unknown`, suggestion: "write version: 1" }
}

/** Checks the keys that the agent reads. */
const checked = (frontmatter: Frontmatter): ReadonlyArray<Finding> => {
  const findings: Array<Finding> = []
  if (frontmatter.indent === undefined) {
    findings.push(invalid(frontmatter.body.start, ...ONE_TO_A_LINE))
  }
  const offsetOf = (key: string): number =>
    frontmatter.entries.find((entry) => entry.key === key)?.valueSpan.start ?? frontmatter.body.start
  const version = get(frontmatter, "version")
  if (!VERSIONS.includes(version)) {
    findings.push({ code: "agent/version-unknown", offset: offsetOf("version"), ...versionIssue(version) })
  }
  const status = get(frontmatter, "status")
  if (status !== undefined && !(STATES as ReadonlyArray<unknown>).includes(String(status).toLowerCase())) {
    const message = `The status "${String(status)}" of the agent is unknown`
    findings.push(invalid(offsetOf("status"), message, `write one of ${STATES.join(", ")}`))
  }
  return findings
}
