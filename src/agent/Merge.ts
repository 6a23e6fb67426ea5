/**
 * The three-way merge of a control file that a person edited while the agent worked on it.
 *
 * The agent's changes are applied to the person's text. A field, a key or a line that the person changed stays the
 * person's, so no byte that a person wrote is lost.
 *
 * @module
 */
import type { Block } from "./Block.ts"
import { field } from "./Block.ts"
import type { ControlFile } from "./ControlFile.ts"
import type { Change } from "./Edit.ts"
import * as Edits from "./Edit.ts"
import * as Frontmatters from "./Frontmatter.ts"

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
  const kept = changes.filter((change) => isUntouched(base, theirs, change))
  return { text: Edits.update(theirs, kept), left: changes.filter((change) => !kept.includes(change)) }
}

/** Tests whether a person left alone the place that a change concerns. */
const isUntouched = (base: ControlFile, theirs: ControlFile, change: Change): boolean => {
  switch (change.kind) {
    case "field": {
      const before = blockOf(base, change.id)
      const after = blockOf(theirs, change.id)
      return after !== undefined && textOf(base, before, change.key) === textOf(theirs, after, change.key)
    }
    case "frontmatter":
      return Frontmatters.get(base.frontmatter, change.key) === Frontmatters.get(theirs.frontmatter, change.key)
    default:
      return true
  }
}

const blockOf = (file: ControlFile, id: string): Block | undefined => file.blocks.find((block) => block.id === id)

const textOf = (file: ControlFile, block: Block | undefined, key: string): string | undefined => {
  const found = block === undefined ? undefined : field(block, key)
  return found === undefined ? undefined : file.text.slice(found.span.start, found.span.end).trimEnd()
}
