/**
 * Lines that a person wrote and no action reads: misspelt fields, entries in a wrong form, lines that only look like a field.
 *
 * An action runs without them, so they are told. A line that belongs to a known field is an error, because the action would run
 * with a part of that field. A line that only looks like a field is a warning. All other lines are prose.
 *
 * @module
 */
import type { Block, Field, Item, Unread } from "../text/Block.ts"
import { MAX_FIELDS } from "../text/Block.ts"
import type { Finding } from "../text/Issue.ts"
import * as ActionFields from "./ActionFields.ts"

/** Signs that look like a colon, and an equals sign. */
const COLON = "[:\u02d0\u2236\ua789\ufe55\uff1a=\uff1d]"

/** The signs that begin a line of a list, of a task or of a table, and spaces of any kind. */
const BEGIN = /^[\s>]*(?:[-*+\u2010-\u2015\u2022\u2023\u25aa\u25cf\u00b7](?=[\s[*_`"'A-Za-z]|$)|\d{1,9}[.)]|\|)?\s*(?:\[[ xX]?\]\s*)?/

const NAME = "[^*_`\"'\\n]{1,60}?"
const MARKED = new RegExp(`^(\\*{1,3}|_{1,3}|\`|"|')(${NAME}(?:_${NAME}){0,3})\\s{0,20}(${COLON})?\\1\\s{0,20}(${COLON})?`, "u")
const PLAIN = new RegExp(`^([A-Za-z][\\w -]{0,40}?)\\s{0,20}${COLON}(?!\\/\\/)`, "u")

const BLOCKQUOTE = /^\s*>/

/** A line that looks like a field: its name, and whether it is marked as the name of a field is. */
interface Likeness {
  readonly name: string
  readonly isMarked: boolean
}

/** Finds the name of a field at the beginning of a line. */
const likenessOf = (text: string): Likeness | undefined => {
  if (BLOCKQUOTE.test(text)) return undefined
  const rest = text.replace(BEGIN, "")
  const [, mark = "", inner, within, behind] = MARKED.exec(rest) ?? []
  if (inner !== undefined) {
    const isItem = rest.length < text.trimStart().length
    return { name: inner.trim(), isMarked: isItem && mark.length === 2 && (within ?? behind) !== undefined }
  }
  const name = PLAIN.exec(rest)?.[1]
  return name === undefined ? undefined : { name: name.trim(), isMarked: false }
}

const EXAMPLE = "write - **key**: value at the beginning of a line, or make it a sentence"

/** Checks the lines of a block. */
class Check {
  readonly findings: Array<Finding> = []
  private readonly block: Block
  private readonly type: string
  /** Whether the fields of the type are known. */
  private readonly isKnown: boolean

  constructor(block: Block, type: string) {
    this.block = block
    this.type = type
    this.isKnown = ActionFields.TYPES.has(type)
  }

  run(): ReadonlyArray<Finding> {
    for (const [i, field] of this.block.fields.entries()) {
      this.name(field)
      this.form(field)
      this.behind(field, this.block.fields[i + 1])
    }
    this.unread()
    this.excess()
    return this.findings
  }

  private find(offset: number, message: string, suggestion: string): void {
    this.findings.push({ code: "agent/line-unread", offset, message, suggestion, block: this.block.index })
  }

  private formOf({ key }: Field): ActionFields.Form | undefined {
    return ActionFields.RECORDED.has(key) ? undefined : ActionFields.formOf(this.type, key)
  }

  /** Finds a name that is nearly that of a field. A type of a plugin may have fields with such names. */
  private name({ key, keySpan }: Field): void {
    if (ActionFields.formOf(this.type, key) === undefined) this.misspelt(key, keySpan.start)
  }

  private misspelt(key: string, offset: number): void {
    const remedy = ActionFields.remedyOf(this.type, key)
    if (remedy === undefined) return
    this.findings.push({
      code: "agent/field-unknown",
      severity: this.isKnown ? "error" : "warning",
      offset,
      message: `No action of the type ${this.type} reads the field "${key}"`,
      suggestion: `write ${remedy}`,
      block: this.block.index
    })
  }

  /** Checks that the value of a field has a form in which it is read. */
  private form(field: Field): void {
    const { items, key, value, valueSpan } = field
    const form = this.formOf(field)
    const [first] = items
    if (key === "params") for (const item of items) this.parameter(item)
    if (form === "table" && value !== "") {
      const message = `The field "${key}" has a value on its line, and is a table`
      this.find(valueSpan.start, message, `write its entries below it, each as ${ENTRY}`)
    } else if (form === "table") {
      this.entries(key, items)
    } else if (form === "list") {
      const deep = items.find((item) => item.items.length > 0)?.items[0]
      if (deep !== undefined) this.find(deep.start, `The entry below an entry of "${key}" is not read`, "write it one level higher")
    } else if (form === "text" && first !== undefined && (ActionFields.COMMON.has(key) || items.some((item) => item.key !== undefined))) {
      this.find(first.start, `The field "${key}" is a text, and has entries below it`, `write the value on its line, or ${BLOCK}`)
    }
  }

  /** Checks the entries of a table of texts. */
  private entries(table: string, items: ReadonlyArray<Item>): void {
    for (const { items: below, key, start, value } of items) {
      const [deep] = below
      if (key === undefined) this.find(start, `"${value.slice(0, 100)}" is no entry of ${table}: it has no name`, `write ${ENTRY}`)
      else if (deep !== undefined && table !== "params") this.find(deep.start, `The entry "${key}" of ${table} is a text`, `write ${ENTRY}`)
      else if (deep !== undefined && value !== "") this.find(deep.start, `The entry "${key}" has a value, and entries below it`, "keep one")
    }
  }

  /** Checks an entry of `params`, which is a field of the type. */
  private parameter({ items, key, start }: Item): void {
    const name = key?.toLowerCase()
    if (name === undefined || !this.isKnown) return
    const form = ActionFields.formOf(this.type, name)
    if (ActionFields.COMMON.has(name)) {
      this.find(start, `The field "${name}" is not read below params`, `write - **${name}**: VALUE as a field of the block`)
    } else if (form === undefined) {
      this.misspelt(name, start)
    } else if (form === "table") {
      this.entries(name, items)
    }
  }

  /** Checks a field without a value: the next one may be meant as its entry, and a `|` may have no lines. */
  private behind(field: Field, next: Field | undefined): void {
    const { indent, items, key, span, value, valueSpan } = field
    const form = this.formOf(field)
    if (form === undefined || value !== "" || items.length > 0) return
    if (valueSpan.end > valueSpan.start) {
      this.find(valueSpan.start, `The field "${key}" has a | and no lines below it`, "indent its lines by four spaces")
    } else if (next?.span.start === span.end && next.indent >= indent + DEEPER) {
      const message = `"${next.key}" is a field of its own here, and no entry of "${key}"`
      this.find(next.span.start, message, `write ${ENTRY} without ** for an entry, or begin the line at the margin for a field`)
    }
  }

  /** Tells the lines of known fields that are not read, the first one of each field, and those that look like a field. */
  private unread(): void {
    const told = new Set<Field>()
    for (const line of this.block.unread) {
      const { below, start, text } = line
      const form = below === undefined ? undefined : this.formOf(below)
      if (below === undefined || form === undefined) {
        const finding = likeness(line, this.type)
        if (finding !== undefined) this.findings.push({ ...finding, block: this.block.index })
      } else if (!told.has(below)) {
        told.add(below)
        const message = `The field "${below.key}" does not include the line "${text.trim().slice(0, 100)}" below it`
        this.find(start + text.length - text.trimStart().length, message, REMEDIES[form])
      }
    }
  }

  private excess(): void {
    const { fields, heading } = this.block
    const full = fields.length === MAX_FIELDS ? this.block.heading.start : undefined
    if (full !== undefined) this.find(heading.start, `The action has more than ${MAX_FIELDS - 1} fields`, "move texts to files")
  }
}

/** The difference of the indents of a field and of an entry below it. */
const DEEPER = 2

const ENTRY = "- name: value"
const BLOCK = "write | on it and the lines below it"

const REMEDIES: Readonly<Record<ActionFields.Form, string>> = {
  text: `write the value on one line, or ${BLOCK}; begin a note at the margin`,
  list: "write each entry as - value, two spaces deeper than the field; begin a note at the margin",
  table: `write each entry as ${ENTRY}, two spaces deeper than the field; begin a note at the margin`
}

/**
 * The warning about a line that looks like a field; `undefined` for prose. The type is that of its action, or none.
 */
export const likeness = ({ start, text }: Unread, type: string): Finding | undefined => {
  const found = likenessOf(text)
  if (found === undefined) return undefined
  const name = found.name.toLowerCase()
  const isField = found.isMarked || ActionFields.formOf(type, name) !== undefined || ActionFields.remedyOf(type, name) !== undefined
  if (!isField) return undefined
  return {
    code: "agent/line-unread",
    severity: "warning",
    offset: start + text.length - text.trimStart().length,
    message: `The line "${text.trim().slice(0, 100)}" looks like a field, and is none`,
    suggestion: EXAMPLE
  }
}

/**
 * Finds the lines of a block that its action does not read.
 */
export const findings = (block: Block, type: string): ReadonlyArray<Finding> => new Check(block, type).run()
