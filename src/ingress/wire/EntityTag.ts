/**
 * Entity tags of cells, and the conditions that requests make with them (RFC 9110, section 13).
 *
 * @module
 */
import * as Condition from "../../kernel/model/Condition.ts"
import type { Hash } from "../../persistence/Hash.ts"
import { RequestRefused } from "./Problem.ts"

/** The most tags of one condition. */
const MAX_TAGS = 100

/**
 * The entity tag of a cell with this canonical text.
 */
export const of = (text: string, { hex }: Pick<Hash["Service"], "hex">): string => `"${Condition.tagOfText(text, hex)}"`

/**
 * Whether a list of entity tags names one.
 */
export const names = (tags: string | null, tag: string): boolean => tags !== null && (tags.trim() === "*" || tags.includes(tag))

/**
 * The condition of a write by the headers `If-Match` and `If-None-Match`; `undefined` without them.
 *
 * @throws RequestRefused
 */
export const conditionOf = ({ headers }: Request): Condition.Condition | undefined => {
  const [match, none] = [headers.get("if-match"), headers.get("if-none-match")]
  if (none !== null) {
    if (match === null && none.trim() === "*") return "absent"
    throw refused(match === null ? `If-None-Match: ${none.slice(0, 100)}` : "both If-Match and If-None-Match")
  }
  if (match === null) return undefined
  if (match.trim() === "*") return "present"
  const tags = match.split(",", MAX_TAGS + 1).map((tag) => tag.trim())
  if (tags.length > MAX_TAGS) throw refused(`an If-Match with more than ${MAX_TAGS} tags`)
  if (!tags.every((tag) => /^(?:W\/)?"[^"]*"$/.test(tag))) throw refused(`If-Match: ${match.slice(0, 100)}`)
  // A weak tag, and one of another form, is that of no cell.
  return tags.flatMap((tag) => /^"[0-9a-f]{32}"$/.test(tag) ? [tag.slice(1, -1)] : [])
}

const refused = (given: string) =>
  new RequestRefused({
    code: "cell/condition",
    reason: `The request has ${given}. A write takes If-Match with the ETag of an answer between quotes, If-Match: * for any value, or ` +
      "If-None-Match: * for none"
  })
