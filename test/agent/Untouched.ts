/**
 * The part of a control file that some changes must not touch.
 *
 * @module
 */
import * as ControlFile from "../../plugins/agent/document/ControlFile.ts"
import type { Change, Splice } from "../../plugins/agent/document/Edit.ts"
import * as Edit from "../../plugins/agent/document/Edit.ts"
import type * as Lines from "../../plugins/agent/text/Line.ts"

/** The lines of the frontmatter that are comments. The comment of a removed key becomes one. */
const commentsOf = ({ frontmatter, lines, text }: ControlFile.ControlFile): ReadonlyArray<{ readonly span: Lines.Span }> =>
  lines.flatMap(({ end, next, start }) =>
    frontmatter !== undefined && start >= frontmatter.body.start && start < frontmatter.body.end && /^[ \t]*#/.test(text.slice(start, end))
      ? [{ span: { start, end: next } }]
      : [])

/** The text of a file without the lines of the changed fields, keys and completed actions, and without blank ends. */
export const of = (file: ControlFile.ControlFile, changes: ReadonlyArray<Change>): string => {
  const fields = new Set(changes.flatMap((change) => change.kind === "field" ? [`${change.id} ${change.key}`] : []))
  const keys = new Set(changes.flatMap((change) => change.kind === "frontmatter" ? [change.key] : []))
  const isListed = changes.some(({ kind }) => kind === "completed" || kind === "reset")
  const removed: ReadonlyArray<Splice> = [
    ...file.blocks.flatMap(({ fields: own, id }) => own.filter(({ key }) => fields.has(`${id} ${key}`))),
    ...(file.frontmatter?.entries ?? []).filter(({ key }) => keys.has(key)),
    ...keys.size === 0 ? [] : commentsOf(file)
  ].map(({ span }) => ({ ...span, text: "" }))
  const rest = Edit.apply(file.text, removed)
  if (!isListed) return rest.trimEnd()
  const lines = rest.split(/(?<=\r\n|\n|\r(?!\n))/)
  const isList = (line: string): boolean =>
    /^- \[x\] .*\(\d\d:\d\d:\d\d\)\s*$/s.test(line) || line.startsWith(`## ${ControlFile.COMPLETED}`)
  return lines.filter((line) => line.trim() !== "" && !isList(line)).map((line) => line.trimEnd()).join("\n")
}
