/**
 * The three-way merge of a control file that a person edited while the agent worked on it.
 *
 * The agent's changes are applied to the person's text. A field, a key or a line that the person changed stays the
 * person's, so no byte that a person wrote is lost.
 *
 * @module
 */
import { RECORDED } from "./ActionFields.ts"
import * as Approval from "./Approval.ts"
import type { Block } from "../text/Block.ts"
import * as Blocks from "../text/Block.ts"
import type { ControlFile } from "./ControlFile.ts"
import type { Change } from "./Edit.ts"
import * as Edits from "./Edit.ts"
import * as Frontmatters from "../text/Frontmatter.ts"

/**
 * The result of a merge. `left` lists the changes that gave way to the person's.
 */
export interface MergeResult {
  readonly text: string
  readonly left: ReadonlyArray<Change>
}

/**
 * Applies the changes that the agent made to `base` to the person's text.
 */
export const merge3 = (base: ControlFile, changes: ReadonlyArray<Change>, theirs: ControlFile): MergeResult => {
  const before = { file: base, blocks: Blocks.byId(base.blocks) }
  const after = { file: theirs, blocks: Blocks.byId(theirs.blocks) }
  const isKept = changes.map((change) => isUntouched(before, after, change))
  return { text: Edits.update(theirs, changes.filter((_, i) => isKept[i])), left: changes.filter((_, i) => !isKept[i]) }
}

/** A file and its blocks by their ids. */
interface Version {
  readonly file: ControlFile
  readonly blocks: ReadonlyMap<string, Block>
}

/** Tests whether a person left alone the place that a change concerns. */
const isUntouched = (base: Version, theirs: Version, change: Change): boolean => {
  switch (change.kind) {
    case "field":
      if (isOlder(base, theirs, change.id)) return true
      return theirs.blocks.has(change.id) && textOf(base, change.id, change.key) === textOf(theirs, change.id, change.key)
    case "frontmatter":
      return entryOf(base, change.key) === entryOf(theirs, change.key)
    default:
      return true
  }
}

/**
 * Whether a block is a copy from before the begin of a run, which `base` tells: it waits, lacks the time of that begin, and is the
 * same otherwise. Its status is no change of a person.
 */
const isOlder = (base: Version, theirs: Version, id: string): boolean => {
  const [before, after] = [base.blocks.get(id), theirs.blocks.get(id)]
  if (before === undefined || after === undefined) return false
  const started = Blocks.field(before, "started_at")?.value
  return started !== undefined && Blocks.field(after, "started_at")?.value !== started &&
    WAITING.has(Blocks.field(after, "status")?.value.toLowerCase() ?? "pending") && Approval.textOf(before) === Approval.textOf(after)
}

/** The statuses of an action that waits. */
const WAITING: ReadonlySet<string> = new Set(["pending", "blocked"])

const entryOf = ({ file }: Version, key: string): string | undefined => {
  const found = file.frontmatter?.entries.find((entry) => entry.key === key)
  return found === undefined ? undefined : file.text.slice(found.valueSpan.start, found.valueSpan.end)
}

const textOf = ({ blocks, file }: Version, id: string, key: string): string | undefined => {
  const block = blocks.get(id)
  const found = block === undefined ? undefined : Blocks.field(block, key)
  return found === undefined ? undefined : file.text.slice(found.span.start, found.span.end).trimEnd()
}

/**
 * The changes of the agent that lead from one version of a file to a later one; `undefined` if a person changed it, too.
 */
export const changesBetween = (before: ControlFile, after: ControlFile): ReadonlyArray<Change> | undefined => {
  const changes = [...fieldsBetween(before, after), ...entriesBetween(before, after), ...completedBetween(before, after)]
  return Edits.update(before, changes) === after.text ? changes : undefined
}

const isWritten = (key: string): boolean => key === "status" || RECORDED.has(key)

const fieldsBetween = (before: ControlFile, after: ControlFile): ReadonlyArray<Change> => {
  const blocks = Blocks.byId(before.blocks)
  return [...Blocks.byId(after.blocks)].flatMap(([id, block]) => {
    const old = blocks.get(id)
    const keys = new Set([...block.fields, ...old?.fields ?? []].map(({ key }) => key).filter(isWritten))
    return [...keys].flatMap((key): ReadonlyArray<Change> => {
      const value = Blocks.field(block, key)?.value
      return old !== undefined && Blocks.field(old, key)?.value === value ? [] : [{ kind: "field", id, key, value }]
    })
  })
}

const entriesBetween = ({ frontmatter: before }: ControlFile, { frontmatter: after }: ControlFile): ReadonlyArray<Change> => {
  const keys = new Set([...after?.entries ?? [], ...before?.entries ?? []].map(({ key }) => key))
  return [...keys].flatMap((key): ReadonlyArray<Change> => {
    const value = Frontmatters.get(after, key)
    return Frontmatters.get(before, key) === value ? [] : [{ kind: "frontmatter", key, value }]
  })
}

const completedBetween = (before: ControlFile, after: ControlFile): ReadonlyArray<Change> => {
  const [old, all] = [Edits.completions(before), Edits.completions(after)]
  if (old.some(({ id }) => !all.some((each) => each.id === id))) return [{ kind: "reset" }, ...all]
  return all.filter(({ id, name, time }) => !old.some((each) => each.id === id && each.name === name && each.time === time))
}
