/**
 * Action blocks: a heading of level 3 with a list of fields, as the person wrote them.
 *
 * ```markdown
 * ### [HIGH] Check API health
 * - **id**: action-001
 * - **params**:
 *   - key: value
 * - **prompt**: |
 *     several lines
 * ```
 *
 * @module
 */
import type { Source, Span } from "./Line.ts"
import type { Heading, Outline } from "./Outline.ts"

/** An entry of a nested list: `- key: value`, or `- value` without a key. */
export interface Item {
  readonly key: string | undefined
  readonly value: string
  readonly start: number
  /** The entries below this one, in a second level. */
  readonly items: ReadonlyArray<Item>
}

/**
 * A field of a block. Its value stands on its line, or in lines below that are indented deeper, but never in both.
 *
 * `span` covers whole lines, ends of lines and nested lines included. `valueSpan` covers the value on the line of the key;
 * it is empty for a field without one. `key` is in lower case.
 */
export interface Field {
  readonly key: string
  /** The value: of the line, or the lines of a `|` block without their indent, separated by LF. */
  readonly value: string
  readonly items: ReadonlyArray<Item>
  readonly span: Span
  readonly keySpan: Span
  readonly valueSpan: Span
  /** The columns before its mark. */
  readonly indent: number
}

/** A line of a block that is no part of a field, and is neither blank nor code. */
export interface Unread {
  readonly text: string
  readonly start: number
  /** The field to which the line belongs by its indent. */
  readonly below: Field | undefined
}

/**
 * An action block.
 */
export interface Block {
  /** The position of the block among the blocks of its file, from 0. */
  readonly index: number
  /** The text in the brackets of the heading; undefined without brackets. */
  readonly priority: string | undefined
  readonly name: string
  /** The heading, without its end of line. */
  readonly heading: Span
  /** The whole block, up to the next heading. */
  readonly span: Span
  readonly fields: ReadonlyArray<Field>
  readonly unread: ReadonlyArray<Unread>
  /** The value of the field `id`; "" without one. */
  readonly id: string
}

/** The maximum number of fields of a block, and of items of a field. Further ones are text. */
export const MAX_FIELDS = 200

const FIELD = /^( {0,3})([-*+])([ \t]+)\*\*([^*\n]{1,100}?)(?:\*\*[ \t]*:|:\*\*)[ \t]*/
const ITEM = /^([ \t]+)[-*+][ \t]+(?:([A-Za-z_][\w.-]{0,99})[ \t]*:(?:[ \t]+|$))?/
/** The minimum difference of the indents of a field and of the lines that belong to it. */
const DEEPER = 2

const TITLE = /^\[([^\]\n]{0,100})\]\s*/

/** Finds a field of a block by its key. The first one counts. */
export const field = (block: Block, key: string): Field | undefined => block.fields.find((each) => each.key === key)

/** Returns the blocks by their ids. A block without an id, or with the id of another one, is left out. */
export const byId = (blocks: ReadonlyArray<Block>): ReadonlyMap<string, Block> => {
  const found = new Map<string, Block>()
  const repeated = new Set<string>([""])
  for (const block of blocks) {
    if (found.has(block.id)) repeated.add(block.id)
    found.set(block.id, block)
  }
  for (const id of repeated) found.delete(id)
  return found
}

/** Parses the block under a heading of level 3. */
export const parse = (source: Source, outline: Outline, { end, fieldsEnd, heading, index }: Place): Block => {
  const { lines, text } = source
  const line = lines[heading.line] ?? { start: 0, end: 0, next: 0 }
  const brackets = TITLE.exec(heading.title)
  const { fields, unread } = fieldsOf(source, outline, { from: heading.line + 1, end: fieldsEnd })
  return {
    index,
    priority: brackets?.[1],
    name: heading.title.slice(brackets?.[0].length ?? 0).trim(),
    heading: { start: line.start, end: line.end },
    span: { start: line.start, end: lines[end - 1]?.next ?? text.length },
    fields,
    unread: [...unread, ...unreadOf(source, outline, { from: fieldsEnd, end })],
    id: fields.find(({ key }) => key === "id")?.value ?? ""
  }
}

/** The heading of a block; the indexes of the first lines after its fields and after all of it; the index of the block. */
export interface Place {
  readonly heading: Heading
  readonly fieldsEnd: number
  readonly end: number
  readonly index: number
}

/** A range of lines, by their indexes. */
interface Range {
  readonly from: number
  readonly end: number
}

const HEADING = /^#{1,6}(?:[ \t]|$)/
const MARK = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]/

/** The columns of the white space at the beginning of a line: a tab goes to the next multiple of 4, as in CommonMark. */
const indentOf = (text: string): number => {
  let columns = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\t") columns += TAB - columns % TAB
    else if (text[i] === " ") columns++
    else break
  }
  return columns
}

const TAB = 4

/** The lines of a range that are neither blank, nor code, nor headings. */
export const unreadOf = ({ lines, text }: Source, outline: Outline, { end, from }: Range): ReadonlyArray<Unread> => {
  const found: Array<Unread> = []
  for (let i = from; i < end; i++) {
    const { end: to = 0, start = 0 } = lines[i] ?? {}
    const line = text.slice(start, to)
    if (line.trim() !== "" && !outline.isOpaque(i) && !HEADING.test(line)) found.push({ text: line, start, below: undefined })
  }
  return found
}

const isEmpty = ({ items, value }: Field): boolean => value === "" && items.length === 0

/** Reads the fields of a range, and collects the other lines. */
const fieldsOf = (source: Source, outline: Outline, { end, from }: Range): Pick<Block, "fields" | "unread"> => {
  const fields: Array<Field> = []
  const unread: Array<Unread> = []
  let isApart = true
  for (let i = from; i < end;) {
    const line = source.lines[i]
    const text = line === undefined ? "" : source.text.slice(line.start, line.end)
    const isBlank = text.trim() === ""
    const match = isBlank || outline.isOpaque(i) || fields.length === MAX_FIELDS ? null : FIELD.exec(text)
    if (line === undefined || match === null) {
      const last = fields.at(-1)
      // Behind a blank line, only an item continues a field. An item directly below a field without a value is meant as its entry.
      const isDeeper: boolean = last !== undefined && indentOf(text) >= last.indent + DEEPER
      const isEntry: boolean = MARK.test(text) && (isDeeper || (!isApart && last !== undefined && isEmpty(last)))
      const isBelow: boolean = isEntry || (isDeeper && !isApart)
      isApart ||= isBlank || !isBelow
      if (!isBlank && !outline.isOpaque(i)) unread.push({ text, start: line?.start ?? 0, below: isBelow ? last : undefined })
      i++
      continue
    }
    const [prefix, indent = "", , , key = ""] = match
    const own = valueOf(source, line.start + prefix.length, line.end)
    const nested = new Nested(source, { from: i + 1, end, indent: indent.length, isOpaque: outline.isOpaque })
    const block = own.value === "|" || own.value === "|-" ? nested.block(indent.length) : undefined
    const items = own.value === "" ? nested.items() : []
    const keyStart = line.start + prefix.indexOf("**") + 2
    fields.push({
      key: key.trim().toLowerCase(),
      value: block ?? own.value,
      items,
      span: { start: line.start, end: source.lines[nested.next - 1]?.next ?? line.next },
      keySpan: { start: keyStart, end: keyStart + key.length },
      valueSpan: own.span,
      indent: indent.length
    })
    isApart = false
    i = nested.next
  }
  return { fields, unread }
}

/** Reads a value: spaces around it are left out, and a code span around all of it is opened. */
const valueOf = ({ text }: Source, start: number, end: number): { readonly value: string; readonly span: Span } => {
  const raw = text.slice(start, end)
  const value = raw.trim()
  const begin = start + (raw.length - raw.trimStart().length)
  const span = { start: value === "" ? start : begin, end: value === "" ? start : begin + value.length }
  const isCode = value.length > 2 && value.startsWith("`") && value.indexOf("`", 1) === value.length - 1
  return { value: isCode ? value.slice(1, -1) : value, span }
}

/** The lines below a field with a deeper indent: nested items, or the lines of a `|` block. A line of a field is no item. */
class Nested {
  /** The index of the first line that is not part of the field. */
  next: number
  private readonly source: Source
  private readonly end: number
  private readonly indent: number
  private readonly isOpaque: Outline["isOpaque"]

  constructor(source: Source, { end, from, indent, isOpaque }: Range & Pick<Outline, "isOpaque"> & { readonly indent: number }) {
    this.source = source
    this.next = from
    this.end = end
    this.indent = indent
    this.isOpaque = isOpaque
  }

  private textOf(index: number): string {
    const { end = 0, start = 0 } = this.source.lines[index] ?? {}
    return this.source.text.slice(start, end)
  }

  /**
   * Reads the lines of a `|` block: those with a deeper indent, and the blank ones between them. A field with less indent
   * than the first line ends it. The least indent is cut.
   */
  block(indent: number): string {
    const lines: Array<string> = []
    let margin = Number.POSITIVE_INFINITY
    let first = 0
    let blank = 0
    for (let i = this.next; i < this.end; i++) {
      const text = this.textOf(i)
      const own = indentOf(text)
      if (text.trim() === "") {
        blank++
        continue
      }
      if (own < indent + DEEPER || (own < first && FIELD.test(text))) break
      first = first === 0 ? own : first
      margin = Math.min(margin, text.length - text.trimStart().length)
      for (; blank > 0; blank--) lines.push("")
      lines.push(text)
      this.next = i + 1
    }
    return lines.map((line) => line.slice(margin)).join("\n")
  }

  /** Reads the nested items. Blank lines between them are allowed. */
  items(): ReadonlyArray<Item> {
    const items: Array<Item> = []
    let below: Array<Item> = []
    let first = 0
    for (let i = this.next; i < this.end && items.length < MAX_FIELDS; i++) {
      const text = this.textOf(i)
      if (text.trim() === "") continue
      const [prefix, , key] = ITEM.exec(text) ?? []
      const indent = indentOf(text)
      if (prefix === undefined || indent < this.indent + DEEPER || this.isOpaque(i) || FIELD.test(text)) break
      const start = this.source.lines[i]?.start ?? 0
      const { value } = valueOf(this.source, start + prefix.length, start + text.length)
      this.next = i + 1
      const lines = value === "|" || value === "|-" ? this.block(indent) : undefined
      if (items.length === 0) first = indent
      const into = indent > first && below.length < MAX_FIELDS ? below : items
      if (into === items) below = []
      into.push({ key, value: lines ?? value, start: start + text.length - text.trimStart().length, items: into === items ? below : [] })
      i = this.next - 1
    }
    return items
  }
}
