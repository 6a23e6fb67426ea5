/**
 * The control file of an agent, `heartbeat.md` [S4].
 *
 * Parsing keeps the text and the place of each part of it, so that an edit changes its own lines alone.
 *
 * @module
 */
import type { Action, Defaults } from "./Action.ts"
import * as Actions from "./Action.ts"
import type { Block } from "../text/Block.ts"
import * as Blocks from "../text/Block.ts"
import * as ChangeLoops from "./ChangeLoops.ts"
import * as IgnoredHeadings from "./IgnoredHeadings.ts"
import { PENDING } from "./IgnoredHeadings.ts"
import * as Dependencies from "./Dependencies.ts"
import type { Frontmatter } from "../text/Frontmatter.ts"
import * as Frontmatters from "../text/Frontmatter.ts"
import type { Finding, Issue } from "../text/Issue.ts"
import * as Issues from "../text/Issue.ts"
import type { Line, Source, Span } from "../text/Line.ts"
import * as Lines from "../text/Line.ts"
import type { Heading, Outline } from "../text/Outline.ts"
import * as Outlines from "../text/Outline.ts"

/**
 * A section: a heading of level 1 or 2 with everything up to the next one.
 */
export interface Section {
  readonly title: string
  readonly level: number
  readonly heading: Span
  readonly span: Span
}

/**
 * A parsed control file.
 */
export interface ControlFile extends Source {
  /** The end of line that the file uses first. */
  readonly eol: string
  readonly frontmatter: Frontmatter | undefined
  readonly sections: ReadonlyArray<Section>
  /** All action blocks, also those with errors. */
  readonly blocks: ReadonlyArray<Block>
  /** The actions of the blocks without errors, in the order of the file. */
  readonly actions: ReadonlyArray<Action>
  readonly issues: ReadonlyArray<Issue>
}

/** The maximum size of a control file: 1 MiB of UTF-8. */
export const MAX_BYTES = 1_048_576

/** The maximum number of action blocks of a file. Above it no action runs. */
export const MAX_BLOCKS = 2_500

/** The maximum number of issues of a file: the first ones by place. */
export const MAX_ISSUES = 1_000

export { PENDING } from "./IgnoredHeadings.ts"

/** The title of the section with the finished actions of the day. */
export const COMPLETED = "Completed Today"

const encoder = new TextEncoder()

/**
 * Decodes the bytes of a control file. Encoding the text gives the same bytes. Answers an issue for bytes that are not
 * UTF-8, and for more than {@link MAX_BYTES}.
 */
export const decode = (bytes: Uint8Array): string | Issue => {
  const refuse = (code: "agent/too-large" | "agent/not-text", message: string, suggestion: string): Issue =>
    Issues.at([], { code, offset: 0, message, suggestion })
  if (bytes.length > MAX_BYTES) {
    const message = `The file has ${bytes.length} bytes, and ${MAX_BYTES} are the limit`
    return refuse("agent/too-large", message, "move finished actions and notes to another file")
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return refuse("agent/not-text", "The file is not UTF-8", "save it as UTF-8, or restore a backup")
  }
}

/** Encodes a text as UTF-8. */
export const encode = (text: string): Uint8Array => encoder.encode(text)

/**
 * Parses a control file. Each text has a result; its errors are issues.
 */
export const parse = (text: string, defaults: Defaults = Actions.defaults): ControlFile => {
  const lines = Lines.split(text)
  const { findings: first, frontmatter, next } = Frontmatters.parse(text, lines)
  const outline = Outlines.scan(text, lines, next)
  const source = { text, lines }
  const sections = sectionsOf(source, outline)
  const blocks = blocksOf(source, outline)
  const checked = blocks.map((block) => Actions.of(block, defaults))
  const repeated = repeatedIds(blocks)
  const single = checked.flatMap(({ action }) => action === undefined || repeated.ids.has(action.id) ? [] : [action])
  const { actions, findings: references } = Dependencies.resolve(single, blocks)
  const own = checked.flatMap(({ findings }) => findings)
  const apart = IgnoredHeadings.findings(source, outline, blocks)
  const whole = [...first, ...structure(outline, sections, lines), ...apart, ...excess(blocks)]
  const findings = [...whole, ...own, ...repeated.findings, ...references, ...ChangeLoops.findings(actions)]
  return {
    text,
    lines,
    eol: Lines.eolOf(text, lines),
    frontmatter,
    sections,
    blocks,
    actions,
    issues: findings.toSorted((a, b) => a.offset - b.offset).slice(0, MAX_ISSUES).map((finding) => Issues.at(lines, finding))
  }
}

/**
 * Tests whether the file as a whole has an error, so that none of its actions may run.
 */
export const isDamaged = ({ issues }: ControlFile): boolean =>
  issues.some(({ block, severity }) => severity === "error" && block === undefined)

/** Tests whether a title names a section, in any letter case. */
export const isTitled = ({ title }: { readonly title: string }, name: string): boolean => title.toLowerCase() === name.toLowerCase()

/** Finds a section by its title. */
export const section = (file: ControlFile, title: string): Section | undefined => file.sections.find((each) => isTitled(each, title))

const isSection = ({ level }: Heading): boolean => level <= SECTION

const SECTION = 2
const BLOCK = 3

const sectionsOf = ({ lines, text }: Source, { headings }: Outline): ReadonlyArray<Section> => {
  const found = headings.filter(isSection)
  return found.map(({ level, line, title }, index) => {
    const { end = 0, start = 0 } = lines[line] ?? {}
    const after = lines[found[index + 1]?.line ?? lines.length]?.start ?? text.length
    return { title, level, heading: { start, end }, span: { start, end: after } }
  })
}

const blocksOf = (source: Source, outline: Outline): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  const { headings } = outline
  let isPending = false
  for (const [i, heading] of headings.entries()) {
    if (isSection(heading)) isPending = heading.level === SECTION && isTitled(heading, PENDING)
    if (!isPending || heading.level !== BLOCK || blocks.length > MAX_BLOCKS) continue
    let after = i + 1
    while ((headings[after]?.level ?? 0) > BLOCK) after++
    const lineOf = (index: number): number => headings[index]?.line ?? source.lines.length
    blocks.push(Blocks.parse(source, outline, { heading, fieldsEnd: lineOf(i + 1), end: lineOf(after), index: blocks.length }))
  }
  return blocks
}

/** The findings about the structure of the file. */
const structure = ({ unclosed }: Outline, sections: ReadonlyArray<Section>, lines: ReadonlyArray<Line>): ReadonlyArray<Finding> => {
  const findings: Array<Finding> = []
  if (!sections.some((each) => each.level === SECTION && isTitled(each, PENDING))) {
    const similar = sections.find((each) => isTitled(each, PENDING))
    const message = `The file has no section "${PENDING}", so it has no actions`
    const suggestion = `write a line ## ${PENDING} above the actions`
    findings.push({ code: "agent/section-missing", severity: "warning", offset: similar?.heading.start ?? 0, message, suggestion })
  }
  if (unclosed !== undefined) {
    const { kind, line } = unclosed
    const message = `The ${kind === "fence" ? "code block" : "HTML block"} that begins here never ends, so no heading below it is an action`
    const suggestion = "close it, or indent it if it belongs to a list"
    findings.push({ code: "agent/unclosed", severity: "warning", offset: lines[line]?.start ?? 0, message, suggestion })
  }
  return findings
}

const excess = (blocks: ReadonlyArray<Block>): ReadonlyArray<Finding> => {
  const block = blocks[MAX_BLOCKS]
  if (block === undefined) return []
  const message = `The file has more than ${MAX_BLOCKS} actions`
  return [{ code: "agent/too-large", offset: block.heading.start, message, suggestion: "split it into several files" }]
}

/** The ids of more than one block. None of these blocks may run, because an id names one history. */
const repeatedIds = (blocks: ReadonlyArray<Block>): { readonly ids: ReadonlySet<string>; readonly findings: ReadonlyArray<Finding> } => {
  const first = new Map<string, Block>()
  const ids = new Set<string>()
  const findings: Array<Finding> = []
  for (const block of blocks) {
    const other = first.get(block.id)
    if (block.id === "") continue
    if (other === undefined) {
      first.set(block.id, block)
      continue
    }
    ids.add(block.id)
    const message = `The id "${block.id}" is also the id of "${other.name}", so neither action runs`
    const offset = Blocks.field(block, "id")?.valueSpan.start ?? block.heading.start
    findings.push({ code: "agent/id-repeated", offset, message, suggestion: "give each action its own id", block: block.index })
  }
  return { ids, findings }
}
