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

const LABEL = `\\[\\s*(?:${PRIORITIES.join("|")}|BACKGROUND)\\s*\\]`

/** A heading with spaces before it, one without a space behind its marks, or a priority in brackets without any mark. */
const ALIKE = new RegExp(`^[ \\t]+#{1,6}[ \\t]|^\\s*#{1,6}\\s*${LABEL}|^\\s*[*_]{0,3}${LABEL}`, "i")

const TITLE = new RegExp(`^${LABEL}`, "i")

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
 *
 * @category getters
 * @since 0.1.0
 */
export const findings = (source: Source, outline: Outline, blocks: ReadonlyArray<Block>): ReadonlyArray<Finding> => {
  const { lines } = source
  const levels = outline.headings.flatMap(({ level, line, title }) =>
    level !== LEVEL && TITLE.test(title) ? [finding(lines[line]?.start ?? 0, title, `write ### ${title.slice(0, 100)}`)] : [])
  const above = aboveOf(source, outline).flatMap((line) => {
    const field = UnreadLines.likeness(line, "")
    if (ALIKE.test(line.text)) return [finding(line.start, line.text, MARGIN)]
    return field === undefined ? [] : [{ ...field, suggestion: "write ### [PRIORITY] NAME above the fields of an action" }]
  })
  const inside = blocks.flatMap(({ index, unread }) =>
    unread.flatMap(({ start, text }) => ALIKE.test(text) ? [{ ...finding(start, text, MARGIN), block: index }] : []))
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
