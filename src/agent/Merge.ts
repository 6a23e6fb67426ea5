/**
 * The three-way merge of a control file that a person edited while the agent worked on it.
 *
 * The agent's changes are applied to the person's text. A field, a key or a line that the person changed stays the
 * person's, so no byte that a person wrote is lost.
 *
 * @module
 */
import type { Block } from "./Block.ts"
import * as Blocks from "./Block.ts"
import type { ControlFile } from "./ControlFile.ts"
import type { Change } from "./Edit.ts"
import * as Edits from "./Edit.ts"

/**
 * The result of a merge. `left` lists the changes that gave way to the person's.
 *
 * @category models
 * @since 0.1.0
 */
export interface Merged {
  readonly text: string
  readonly left: ReadonlyArray<Change>
}

/**
 * Applies the changes that the agent made to `base` to the person's text.
 *
 * @category combinators
 * @since 0.1.0
 */
export const merge3 = (base: ControlFile, changes: ReadonlyArray<Change>, theirs: ControlFile): Merged => {
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
      return theirs.blocks.has(change.id) && textOf(base, change.id, change.key) === textOf(theirs, change.id, change.key)
    case "frontmatter":
      return entryOf(base, change.key) === entryOf(theirs, change.key)
    default:
      return true
  }
}

const entryOf = ({ file }: Version, key: string): string | undefined => {
  const found = file.frontmatter?.entries.find((entry) => entry.key === key)
  return found === undefined ? undefined : file.text.slice(found.valueSpan.start, found.valueSpan.end)
}

const textOf = ({ blocks, file }: Version, id: string, key: string): string | undefined => {
  const block = blocks.get(id)
  const found = block === undefined ? undefined : Blocks.field(block, key)
  return found === undefined ? undefined : file.text.slice(found.span.start, found.span.end).trimEnd()
}
