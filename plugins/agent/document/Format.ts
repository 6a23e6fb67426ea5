/**
 * The plain form of the fields and headings of actions.
 *
 * @module
 */
import { PRIORITIES, STATUSES } from "./Action.ts"
import type { Block, Field } from "../text/Block.ts"
import { field } from "../text/Block.ts"
import type { ControlFile } from "./ControlFile.ts"
import * as ControlFiles from "./ControlFile.ts"
import type { Splice } from "./Edit.ts"
import * as Edits from "./Edit.ts"
import * as Lines from "../text/Line.ts"

/**
 * Brings the headings and fields of actions into their plain form: `### [HIGH] name` and `- **key**: value`, without
 * spaces at the end. An action without a status becomes `pending`. All other lines stay as they are, and so does a file
 * whose meaning would change.
 */
export const format = (file: ControlFile): string => {
  const splices = file.blocks.flatMap((block) => [headingSplice(block), ...block.fields.map(fieldSplice(file))])
  const text = Edits.apply(file.text, splices)
  const plain = ControlFiles.parse(text)
  return meaningOf(plain) === meaningOf(file) ? Edits.update(plain, absentStatuses(plain)) : file.text
}

const absentStatuses = ({ actions }: ControlFile): ReadonlyArray<Edits.Change> =>
  actions.flatMap(({ block, id }) => field(block, "status") === undefined ? [{ kind: "field", id, key: "status", value: "pending" }] : [])

const headingSplice = ({ heading, name, priority }: Block): Splice => {
  const upper = priority?.trim().toUpperCase()
  const label = priority === undefined ? "" : `[${PRIORITIES.find((known) => known === upper) ?? priority}] `
  return { ...heading, text: `### ${label}${name}`.trimEnd() }
}

const fieldSplice = ({ lines, text }: ControlFile) => ({ key, keySpan, span, valueSpan }: Field): Splice => {
  const line = lines[Lines.indexOf(lines, keySpan.start)] ?? { start: span.start, end: span.end }
  const indent = /^ */.exec(text.slice(line.start, line.end))?.[0] ?? ""
  const value = text.slice(valueSpan.start, valueSpan.end)
  const lower = value.toLowerCase()
  const plain = key === "status" ? STATUSES.find((status) => status === lower) ?? value : value
  return { start: line.start, end: line.end, text: `${indent}- **${key}**: ${plain}`.trimEnd() }
}

/** The parts of the actions that their runs depend on. Priorities and statuses have one meaning in each letter case. */
const meaningOf = ({ blocks }: ControlFile): string =>
  JSON.stringify(blocks.map(({ fields, name, priority }) => [
    name,
    priority?.trim().toUpperCase(),
    fields.map(({ items, key, value }) => [key, key === "status" ? value.toLowerCase() : value, items.map(plainItem)])
  ]))

const plainItem = ({ items, key, value }: Field["items"][number]): unknown => [key, value, items.map(plainItem)]
