/**
 * Edits: the smallest splices by which the agent updates a control file.
 *
 * A splice replaces the value of one field, or inserts or removes whole lines. All other bytes stay as they are.
 *
 * @module
 */
import type { Block, Field } from "../text/Block.ts"
import * as Blocks from "../text/Block.ts"
import type { ControlFile, Section } from "./ControlFile.ts"
import * as ControlFiles from "./ControlFile.ts"
import type { Entry, Scalar } from "../text/Frontmatter.ts"
import * as Lines from "../text/Line.ts"

/**
 * A change that the agent makes. A value of undefined removes the field or the key, and so does an empty one of a field.
 *
 * `completions` adds the line of an action to the section "Completed Today", or replaces its line there. `reset` removes all
 * lines of that form.
 */
export type Change =
  | { readonly kind: "field"; readonly id: string; readonly key: string; readonly value: string | undefined }
  | { readonly kind: "frontmatter"; readonly key: string; readonly value: Scalar | undefined }
  | { readonly kind: "completed"; readonly id: string; readonly name: string; readonly time: string }
  | { readonly kind: "reset" }

/** A replacement of the half-open range from `start` to `end`. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The maximum length of a value that the agent writes; a longer one is cut. */
export const MAX_VALUE = 500

/** A line of the section "Completed Today": `- [x] id: name (HH:MM:SS)`. */
const DONE = /^- \[x\] ([A-Za-z0-9][\w.-]{0,99}): (.*)\((\d\d:\d\d:\d\d)\)[ \t]*$/s

/** The actions that a file lists under "Completed Today", as the changes that list them. */
export const completions = (file: ControlFile): ReadonlyArray<Extract<Change, { readonly kind: "completed" }>> =>
  new CompletedLines(file).lines().flatMap(({ line: { end, start } }) => {
    const [, id = "", name = "", time = ""] = DONE.exec(file.text.slice(start, end)) ?? []
    return [{ kind: "completed", id, name: name.trim(), time }]
  })

/**
 * Applies changes in their order, each to the text that the previous one left. Changes of absent actions are left out.
 */
export const update = (file: ControlFile, changes: ReadonlyArray<Change>): string => apply(file.text, splices(file, changes))

/** Applies splices, which must not overlap. Splices at one place apply in their order. */
export const apply = (text: string, all: ReadonlyArray<Splice>): string => {
  const sorted = all.toSorted((a, b) => a.start - b.start || a.end - b.end)
  let result = ""
  let from = 0
  for (const { end, start, text: inserted } of sorted) {
    result += text.slice(from, start) + inserted
    from = Math.max(end, from)
  }
  return result + text.slice(from)
}

/** Returns the splices of changes. The last change of a field, a key or a completed action counts. */
export const splices = (file: ControlFile, changes: ReadonlyArray<Change>): ReadonlyArray<Splice> => {
  const last = new Map<string, Change>()
  for (const change of changes) {
    const key = keyOf(change)
    if (change.kind === "reset") for (const [other, { kind }] of last) if (kind === "completed") last.delete(other)
    last.delete(key)
    last.set(key, change)
  }
  const byId = Blocks.byId(file.blocks)
  const lines = new CompletedLines(file)
  const found = [...last.values()].flatMap((change) => {
    switch (change.kind) {
      case "field": {
        const block = byId.get(change.id)
        return block === undefined ? [] : fieldSplices(file, block, change)
      }
      case "frontmatter":
        return frontmatterSplices(file, change.key, change.value)
      case "completed":
        return lines.add(change)
      case "reset":
        return lines.reset()
    }
  })
  return [...found, ...lines.inserted()]
}

const keyOf = (change: Change): string => {
  switch (change.kind) {
    case "field":
      return `field ${change.id} ${change.key}`
    case "frontmatter":
      return `frontmatter ${change.key}`
    case "completed":
      return `completed ${change.id}`
    case "reset":
      return "reset"
  }
}

/** Brings a text onto one line: control characters and ends of lines become spaces, and a text over the limit is cut. */
export const inline = (text: string): string => {
  // oxlint-disable-next-line no-control-regex
  const line = text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim()
  const cut = line.length > MAX_VALUE ? `${line.slice(0, MAX_VALUE - 1).toWellFormed()}…` : line.toWellFormed()
  return cut === "|" || cut === "|-" ? `\`${cut}\`` : cut
}

const fieldSplices = (
  file: ControlFile,
  block: Block,
  { key, value }: { readonly key: string; readonly value: string | undefined }
): ReadonlyArray<Splice> => {
  const found = Blocks.field(block, key)
  const text = inline(value ?? "")
  if (text === "") return found === undefined ? [] : removal(file, found)
  if (found === undefined) return [insertion(file, block, `- **${key}**: ${text}`)]
  return found.value === text && found.items.length === 0 ? [] : replacement(file, found, text)
}

/** Replaces the value of a field, and removes the lines below that belong to it. */
const replacement = ({ lines, text }: ControlFile, { span, valueSpan }: Field, value: string): ReadonlyArray<Splice> => {
  const { end, start } = valueSpan
  const gap = start === end && !/[ \t]/.test(text[start - 1] ?? "") ? " " : ""
  const { next } = lines[Lines.indexOf(lines, start)] ?? { next: span.end }
  const below = span.end > next ? [{ start: next, end: span.end, text: "" }] : []
  return [{ start, end, text: gap + value }, ...below]
}

/**
 * Removes a field. Where an indented line follows, which would become part of the field above, the value is replaced by a
 * dash instead.
 */
const removal = (file: ControlFile, field: Field): ReadonlyArray<Splice> => {
  const { span } = field
  const isIndented = /^(?: {2}|\t| \t)/.test(file.text.slice(span.end, span.end + DEEPER))
  return isIndented ? replacement(file, field, NONE) : [{ ...span, text: "" }]
}

/** The indent of a line that may belong to the field above. */
const DEEPER = 2

/** The value of a field that cannot be removed. */
const NONE = "-"

/** Inserts a line behind the last field of a block, or behind its heading. */
const insertion = (file: ControlFile, block: Block, line: string): Splice => {
  const last = block.fields.at(-1)?.span.end ?? file.lines[Lines.indexOf(file.lines, block.heading.start)]?.next ?? block.heading.end
  return inserted(file, last, line)
}

/** Inserts a line at the beginning of a line, or behind a last line without an end. */
const inserted = (file: ControlFile, offset: number, line: string): Splice => {
  const eol = eolBefore(file, offset)
  return { start: offset, end: offset, text: isOpen(file, offset) ? eol + line : line + eol }
}

/** The end of the line before an offset, or the first one of the file. */
const eolBefore = ({ eol, lines, text }: ControlFile, offset: number): string => {
  const { end = 0, next = 0 } = lines[Lines.indexOf(lines, Math.max(offset - 1, 0))] ?? {}
  return next > end ? text.slice(end, next) : eol
}

/** Whether the line before an offset has no end. */
const isOpen = ({ lines, text }: ControlFile, offset: number): boolean =>
  offset > (lines[0]?.start ?? 0) && text[offset - 1] !== "\n" && text[offset - 1] !== "\r"

const frontmatterSplices = (file: ControlFile, key: string, value: Scalar | undefined): ReadonlyArray<Splice> => {
  const { frontmatter } = file
  if (frontmatter?.indent === undefined) return []
  const entry = frontmatter.entries.find((each) => each.key === key)
  if (value === undefined) return entry === undefined ? [] : [{ ...entry.span, text: commentsOf(file, entry) }]
  const text = scalar(value)
  if (entry === undefined) return [inserted(file, frontmatter.body.end, `${frontmatter.indent}${key}: ${text}`)]
  if (entry.value === value) return []
  return entrySplices(file, entry, text)
}

/** The comment behind the mark of a block value. */
const BLOCK_COMMENT = /^[|>][-+\d]*([ \t]+#[^\r\n]*)/

const blockComment = (value: string): string => BLOCK_COMMENT.exec(value)?.[1] ?? ""

/** The comments of an entry, each on a line with the indent of the key. With more, it would belong to a block above. */
const commentsOf = ({ text }: ControlFile, { colonEnd, keyStart, span, valueSpan: { end, start } }: Entry): string => {
  const value = blockComment(text.slice(start, end))
  const rest = text.slice(colonEnd, start) + value + text.slice(end, span.end)
  const indent = text.slice(span.start, keyStart)
  return rest.split(/(?<=\n)/).flatMap((line) => line.trim() === "" ? [] : [indent + line.trimStart()]).join("")
}

/** Replaces the value of an entry. One below the key has its place there, unless its lines have no deeper indent than the key. */
const entrySplices = ({ lines, text }: ControlFile, entry: Entry, value: string): ReadonlyArray<Splice> => {
  const { colonEnd, keyStart, valueSpan: { end, start } } = entry
  if (start === end) return [{ start, end, text: ` ${value}` }]
  const { start: lineStart = start } = lines[Lines.indexOf(lines, start)] ?? {}
  const isOutdented = lineStart > colonEnd && start - lineStart <= keyStart - entry.span.start
  if (!isOutdented) return [{ start, end, text: value + blockComment(text.slice(start, end)) }]
  const last = lines[Lines.indexOf(lines, end - 1)] ?? { end, next: end }
  const isWhole = text.slice(end, last.end).trim() === ""
  return [{ start: colonEnd, end: colonEnd, text: ` ${value}` }, { start: lineStart, end: isWhole ? last.next : end, text: "" }]
}

/** Renders a value as YAML: plain where YAML reads it back as the same text, else in double quotes. */
const scalar = (value: Scalar): string => {
  if (typeof value !== "string") return String(value)
  const text = inline(value)
  return PLAIN.test(text) && !RESERVED.test(text) ? text : JSON.stringify(text)
}

const PLAIN = /^[A-Za-z0-9](?:[\w.+/-]|:(?=[\w.+/-]))*$/

/** Texts that YAML reads as another type. */
const RESERVED = /^(?:true|false|null|y|n|yes|no|on|off|[\d.][\d.eE+_-]*|0[xob]\w+)$/i

/** The lines of the section "Completed Today". */
class CompletedLines {
  private readonly file: ControlFile
  private readonly section: Section | undefined
  private readonly added: Array<string> = []
  private isReset = false

  constructor(file: ControlFile) {
    this.file = file
    this.section = ControlFiles.section(file, ControlFiles.COMPLETED)
  }

  /** The lines of finished actions: the range of each, and the id that it names. */
  lines(): ReadonlyArray<{ readonly line: Lines.Line; readonly id: string }> {
    const { lines, text } = this.file
    if (this.section === undefined) return []
    const { end, start } = this.section.span
    const first = Lines.indexOf(lines, start)
    const found: Array<{ line: Lines.Line; id: string }> = []
    for (let i = first; i < lines.length; i++) {
      const line = lines[i]
      if (line === undefined || line.start >= end) break
      const id = DONE.exec(text.slice(line.start, line.end))?.[1]
      if (id !== undefined) found.push({ line, id })
    }
    return found
  }

  add({ id, name, time }: { readonly id: string; readonly name: string; readonly time: string }): ReadonlyArray<Splice> {
    const text = `- [x] ${id}: ${inline(name)} (${time})`
    const found = this.isReset ? undefined : this.lines().find((each) => each.id === id)
    if (found === undefined) this.added.push(text)
    return found === undefined ? [] : [{ start: found.line.start, end: found.line.end, text }]
  }

  reset(): ReadonlyArray<Splice> {
    this.isReset = true
    return this.lines().map(({ line }) => ({ start: line.start, end: line.next, text: "" }))
  }

  /** The splice that inserts the added lines, with a new section where the file has none. */
  inserted(): ReadonlyArray<Splice> {
    if (this.added.length === 0) return []
    const { section } = this
    if (section === undefined) {
      const pending = ControlFiles.section(this.file, ControlFiles.PENDING)
      const offset = pending?.span.end ?? this.file.text.length
      const lines = [`## ${ControlFiles.COMPLETED}`, "", ...this.added]
      const isLast = offset === this.file.text.length
      return [inserted(this.file, offset, (isLast ? ["", ...lines] : [...lines, ""]).join(eolBefore(this.file, offset)))]
    }
    const offset = this.lastOf(section)
    return [inserted(this.file, offset, this.added.join(eolBefore(this.file, offset)))]
  }

  /** The offset behind the last line of a section that is not blank. */
  private lastOf({ span }: Section): number {
    const { lines, text } = this.file
    let last = Lines.indexOf(lines, span.start)
    for (let i = last; i < lines.length && (lines[i]?.start ?? span.end) < span.end; i++) {
      if (text.slice(lines[i]?.start, lines[i]?.end).trim() !== "") last = i
    }
    return lines[last]?.next ?? span.end
  }
}
