/**
 * Approvals of actions that start programs.
 *
 * @module
 */
import type { Action } from "./Action.ts"
import { RECORDED } from "./ActionFields.ts"
import type { Block, Item } from "../text/Block.ts"
import * as Dependencies from "./Dependencies.ts"

/** The types of actions that need an approval. */
const TYPES: ReadonlySet<string> = new Set(["shell"])

/** The fields without a meaning for an approval: the ones that the agent writes. */
const isWritten = (key: string): boolean => key === "status" || RECORDED.has(key)

const itemOf = ({ items, key = "", value }: Item): ReadonlyArray<unknown> => [key, value, items.map(itemOf)]

/**
 * The text by which an action is approved: the fields of its block as they are written, without the ones of the agent.
 */
export const textOf = ({ fields }: Block): string =>
  JSON.stringify(fields.filter(({ key }) => !isWritten(key)).map(({ items, key, value }) => [key, value, items.map(itemOf)]))

/**
 * The actions with programs that an action starts: itself, or the members of a composite action.
 */
export const programsOf = (action: Action, byId: ReadonlyMap<string, Action>): ReadonlyArray<Action> => {
  const found = new Map<string, Action>()
  const visited = new Set<string>()
  const visit = (each: Action): void => {
    if (visited.has(each.id)) return
    visited.add(each.id)
    if (TYPES.has(each.type)) found.set(each.id, each)
    for (const id of Dependencies.membersOf(each)) {
      const member = byId.get(id)
      if (member !== undefined) visit(member)
    }
  }
  visit(action)
  return [...found.values()]
}
