/**
 * Lines that look like the heading of an action and are none, and fields that no heading precedes.
 *
 * @module
 */
import type { Block } from "../text/Block.ts"
import * as Blocks from "../text/Block.ts"
import type { Finding } from "../text/Issue.ts"
import type { Source } from "../text/Line.ts"
import type { Outline } from "../text/Outline.ts"
import { PRIORITIES } from "./Action.ts"
import * as UnreadLines from "./UnreadLines.ts"

/** A heading with spaces before it. */
const INDENTED = /^[ \t]{1,100}#{1,6}[ \t]/

/** A word in brackets behind the marks of a heading or of emphasis, or without any mark. */
const LABELLED = /^\s{0,100}(?:#{1,6}\s{0,20}|[*_]{0,3})\[\s{0,20}([A-Za-z]{1,20})\s{0,20}\]/

/** The same at the beginning of a title. */
const TITLE = /^\[\s{0,20}([A-Za-z]{1,20})\s{0,20}\]/

const labels: ReadonlySet<string> = new Set([...PRIORITIES, "BACKGROUND"].map((label) => label.toUpperCase()))

const isLabel = (word: string | undefined): boolean => word !== undefined && labels.has(word.toUpperCase())

/** Whether a line looks like the heading of an action. */
const isAlike = (text: string): boolean => INDENTED.test(text) || isLabel(LABELLED.exec(text)?.[1])

const LEVEL = 3

const finding = (offset: number, text: string, suggestion: string): Finding => ({
  code: "agent/heading-ignored",
  severity: "warning",
  offset,
  message: `The line "${text.trim().slice(0, 100)}" is no heading of an action`,
  suggestion
})

const MARGIN = "write ### [PRIORITY] NAME, with ### at the margin and a space behind it"

/**
 * Finds headings of actions in a wrong form, and fields above the first heading.
 */
export const findings = (source: Source, outline: Outline, blocks: ReadonlyArray<Block>): ReadonlyArray<Finding> => {
  const { lines } = source
  const levels = outline.headings.flatMap(({ level, line, title }) =>
    level !== LEVEL && isLabel(TITLE.exec(title)?.[1]) ? [finding(lines[line]?.start ?? 0, title, `write ### ${title.slice(0, 100)}`)] : [])
  const above = aboveOf(source, outline).flatMap((line) => {
    const field = UnreadLines.likeness(line, "")
    if (isAlike(line.text)) return [finding(line.start, line.text, MARGIN)]
    return field === undefined ? [] : [{ ...field, suggestion: "write ### [PRIORITY] NAME above the fields of an action" }]
  })
  const inside = blocks.flatMap(({ index, unread }) =>
    unread.flatMap(({ start, text }) => isAlike(text) ? [{ ...finding(start, text, MARGIN), block: index }] : []))
  return [...levels, ...above, ...inside]
}

/** The lines between a heading of pending actions and the next heading. */
const aboveOf = (source: Source, outline: Outline): ReadonlyArray<Blocks.Unread> =>
  outline.headings.flatMap(({ level, line, title }, i) => {
    if (level !== LEVEL - 1 || title.toLowerCase() !== PENDING.toLowerCase()) return []
    return Blocks.unreadOf(source, outline, { from: line + 1, end: outline.headings[i + 1]?.line ?? source.lines.length })
  })

/** The title of the section with the actions. */
export const PENDING = "Pending Actions"
