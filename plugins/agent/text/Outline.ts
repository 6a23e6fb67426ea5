/**
 * The outline of a Markdown text: its ATX headings at column 0, and its lines of code and HTML.
 *
 * One pass over the lines follows the container blocks of CommonMark, block quotes and list items, as far as they hide
 * headings. A fence inside a list item ends with the item. A fence at the top level hides all headings before its end.
 * Indented headings and setext headings are not part of the outline.
 *
 * @module
 */
import type { Line } from "./Line.ts"

/** A heading. `line` is the index of its line. */
export interface Heading {
  readonly level: number
  readonly title: string
  readonly line: number
}

/** The headings of a text; the lines that are code or HTML, also in containers; the first line of a fence or comment that never ends. */
export interface Outline {
  readonly headings: ReadonlyArray<Heading>
  readonly isOpaque: (line: number) => boolean
  readonly unclosed: { readonly kind: "fence" | "html"; readonly line: number } | undefined
}

/** The maximum depth of containers. Deeper content counts as the content of the deepest one. */
const MAX_DEPTH = 32

/** The minimum indent of indented code. */
const CODE_INDENT = 4

const TAB = 4

/** A list item with the indent of its content, or a block quote with none. */
type Container = { readonly kind: "item"; readonly indent: number; isEmpty: boolean } | { readonly kind: "quote" }

/** The open leaf of the deepest container. */
type Leaf =
  | { readonly kind: "none" | "paragraph" }
  | { readonly kind: "fence"; readonly mark: string; readonly length: number; readonly line: number }
  | { readonly kind: "html"; readonly end: RegExp | undefined; readonly line: number }

const NONE: Leaf = { kind: "none" }
const PARAGRAPH: Leaf = { kind: "paragraph" }

const FENCE = /^(`{3,}(?=[^`]*$)|~{3,})/
const HEADING = /^(#{1,6})(?:[ \t]+(.*))?$/s
const BULLET = /^[-*+](?= |$)/
const ORDERED = /^\d{1,9}[.)](?= |$)/
const SETEXT = /^(?:=+|-+) *$/

const blockTags = "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|" +
  "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|" +
  "noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
const attribute = "[ \\t]+[A-Za-z_:][\\w.:-]*(?:[ \\t]*=[ \\t]*(?:[^\\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?"

/** The kinds of HTML blocks of CommonMark, with the text that ends each; without one, a blank line ends it. */
const html: ReadonlyArray<{ readonly begin: RegExp; readonly end?: RegExp; readonly interrupts: boolean }> = [
  { begin: /^<(?:script|pre|style|textarea)(?:[ \t>]|$)/i, end: /<\/(?:script|pre|style|textarea)>/i, interrupts: true },
  { begin: /^<!--/, end: /-->/, interrupts: true },
  { begin: /^<\?/, end: /\?>/, interrupts: true },
  { begin: /^<![A-Za-z]/, end: />/, interrupts: true },
  { begin: /^<!\[CDATA\[/, end: /\]\]>/, interrupts: true },
  { begin: new RegExp(`^</?(?:${blockTags})(?:[ \\t]|/?>|$)`, "i"), interrupts: true },
  { begin: new RegExp(`^(?:<[A-Za-z][A-Za-z0-9-]*(?:${attribute})*[ \\t]*/?>|</[A-Za-z][A-Za-z0-9-]*[ \\t]*>)[ \\t]*$`), interrupts: false }
]

/** Replaces tabs by spaces up to the next multiple of 4 columns. */
const expand = (text: string): string => {
  if (!text.includes("\t")) return text
  let expanded = ""
  for (const char of text) expanded += char === "\t" ? " ".repeat(TAB - expanded.length % TAB) : char
  return expanded
}

const indentOf = (text: string): number => {
  let indent = 0
  while (text.charCodeAt(indent) === 32) indent++
  return indent
}

/** Whether a line is a thematic break: three or more of one mark, with spaces between them. */
const isBreak = (text: string): boolean => {
  const [mark = ""] = text
  if (mark !== "-" && mark !== "*" && mark !== "_") return false
  let marks = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === mark) marks++
    else if (text[i] !== " " && text[i] !== "\t") return false
  }
  return marks >= MIN_MARKS
}

const MIN_MARKS = 3

/** Returns the content of a heading's line without its marks; undefined for any other line. */
const headingOf = (text: string): { readonly level: number; readonly title: string } | undefined => {
  const match = HEADING.exec(text)
  if (match === null) return undefined
  const [, marks = "", title = ""] = match
  return { level: marks.length, title: withoutClosing(title.trim()) }
}

/** Removes the closing marks of a heading: the last word if it consists of `#`. */
const withoutClosing = (title: string): string => {
  let end = title.length
  while (title[end - 1] === "#") end--
  const isClosing = end < title.length && (end === 0 || title[end - 1] === " " || title[end - 1] === "\t")
  return isClosing ? title.slice(0, end).trimEnd() : title
}

/** The state of the scan: the open containers, the open leaf of the deepest one, and the lines that are code or HTML. */
class Scan {
  readonly headings: Array<Heading> = []
  readonly opaque: Uint8Array
  private readonly containers: Array<Container> = []
  leaf: Leaf = NONE

  constructor(lines: number) {
    this.opaque = new Uint8Array(lines)
  }

  /** Whether the open leaf belongs to no container. */
  get isTop(): boolean {
    return this.containers.length === 0
  }

  /** Takes a line of the text, without its end. */
  take(raw: string, line: number): void {
    const text = expand(raw)
    const { depth, rest } = this.continued(text)
    if (depth === this.containers.length && this.continues(rest, line)) return
    const { leaf } = this
    if (depth < this.containers.length && leaf.kind === "paragraph" && !begins(rest)) return
    if (depth < this.containers.length) {
      this.containers.length = depth
      this.leaf = NONE
    }
    this.open(rest, line)
  }

  /** Walks down the containers that the line continues; answers their number and the rest of the line. */
  private continued(text: string): { readonly depth: number; readonly rest: string } {
    let rest = text
    let depth = 0
    for (; depth < this.containers.length; depth++) {
      const container = this.containers[depth]
      const indent = indentOf(rest)
      const isBlank = indent === rest.length
      if (container === undefined) break
      if (container.kind === "item") {
        if (isBlank ? container.isEmpty : indent < container.indent) break
        if (!isBlank) container.isEmpty = false
        rest = isBlank ? "" : rest.slice(container.indent)
      } else {
        if (indent >= CODE_INDENT || rest[indent] !== ">") break
        rest = rest.slice(rest[indent + 1] === " " ? indent + 2 : indent + 1)
      }
    }
    return { depth, rest }
  }

  /** Takes a line that belongs to an open fence or HTML block. */
  private continues(rest: string, line: number): boolean {
    const { leaf } = this
    if (leaf.kind === "fence") {
      this.mark(line)
      const indent = indentOf(rest)
      const closing = rest.slice(indent).trimEnd()
      if (indent < CODE_INDENT && closing.length >= leaf.length && closing === leaf.mark.repeat(closing.length)) this.leaf = NONE
      return true
    }
    if (leaf.kind !== "html") return false
    if (leaf.end === undefined && indentOf(rest) === rest.length) {
      this.leaf = NONE
      return true
    }
    this.mark(line)
    if (leaf.end?.test(rest) === true) this.leaf = NONE
    return true
  }

  private mark(line: number): void {
    this.opaque[line] = 1
  }

  /** Opens the blocks that begin in the rest of a line. */
  private open(rest: string, line: number): void {
    let text = rest
    for (;;) {
      const indent = indentOf(text)
      if (indent === text.length) {
        if (this.leaf.kind === "paragraph") this.leaf = NONE
        return
      }
      const isParagraph = this.leaf.kind === "paragraph"
      if (indent >= CODE_INDENT) return
      text = text.slice(indent)
      const container = this.containers.length < MAX_DEPTH ? containerOf(text, isParagraph) : undefined
      if (container === undefined) break
      const { opened } = container
      this.containers.push(opened.kind === "item" ? { ...opened, indent: opened.indent + indent } : opened)
      this.leaf = NONE
      text = container.rest
    }
    this.leaf = this.leafOf(text, line)
    if (this.leaf.kind === "fence" || this.leaf.kind === "html") this.mark(line)
    if (this.leaf.kind === "html" && this.leaf.end?.test(text) === true) this.leaf = NONE
  }

  private leafOf(text: string, line: number): Leaf {
    const isParagraph = this.leaf.kind === "paragraph"
    const heading = headingOf(text)
    if (heading !== undefined) return NONE
    const fence = FENCE.exec(text)?.[1]
    if (fence !== undefined) return { kind: "fence", mark: fence.slice(0, 1), length: fence.length, line }
    if (isBreak(text) || (isParagraph && SETEXT.test(text))) return NONE
    const block = html.find(({ begin, interrupts }) => (interrupts || !isParagraph) && begin.test(text))
    return block === undefined ? PARAGRAPH : { kind: "html", end: block.end, line }
  }
}

/** Reads the mark of a block quote or a list item. */
const containerOf = (text: string, isParagraph: boolean): { readonly opened: Container; readonly rest: string } | undefined => {
  if (text.startsWith(">")) return { opened: { kind: "quote" }, rest: text.slice(text[1] === " " ? 2 : 1) }
  if (isBreak(text) || (isParagraph && SETEXT.test(text))) return undefined
  return itemOf(text, isParagraph)
}

/** Reads the mark of a list item. Inside a paragraph, an empty item and a number other than 1 are text. */
const itemOf = (text: string, isParagraph: boolean): { readonly opened: Container; readonly rest: string } | undefined => {
  const mark = BULLET.exec(text)?.[0] ?? ORDERED.exec(text)?.[0]
  if (mark === undefined) return undefined
  const rest = text.slice(mark.length)
  const gap = indentOf(rest)
  const isEmpty = gap === rest.length
  if (isParagraph && (isEmpty || (mark.length > 1 && Number.parseInt(mark, 10) !== 1))) return undefined
  const width = isEmpty || gap > CODE_INDENT ? 1 : gap
  return { opened: { kind: "item", indent: mark.length + width, isEmpty }, rest: rest.slice(width) }
}

/** Whether a line that leaves a container begins a block, rather than being a lazy continuation of a paragraph. */
const begins = (rest: string): boolean => {
  const indent = indentOf(rest)
  if (indent === rest.length) return true
  if (indent >= CODE_INDENT) return false
  const text = rest.slice(indent)
  return text.startsWith(">") || headingOf(text) !== undefined || FENCE.test(text) || isBreak(text) ||
    itemOf(text, false) !== undefined || html.some(({ begin, interrupts }) => interrupts && begin.test(text))
}

/**
 * Scans a text from a line on. The cost is linear in its length.
 */
export const scan = (text: string, lines: ReadonlyArray<Line>, from: number): Outline => {
  const state = new Scan(lines.length)
  for (let i = from; i < lines.length; i++) {
    const { end = 0, start = 0 } = lines[i] ?? {}
    const raw = text.slice(start, end)
    const isHidden = state.isTop && (state.leaf.kind === "fence" || state.leaf.kind === "html")
    const heading = isHidden ? undefined : headingOf(raw)
    if (heading !== undefined) state.headings.push({ ...heading, line: i })
    state.take(raw, i)
  }
  const { leaf } = state
  const isOpen = state.isTop && (leaf.kind === "fence" || (leaf.kind === "html" && leaf.end !== undefined))
  return {
    headings: state.headings,
    isOpaque: (line) => state.opaque[line] === 1,
    unclosed: isOpen && (leaf.kind === "fence" || leaf.kind === "html") ? { kind: leaf.kind, line: leaf.line } : undefined
  }
}
