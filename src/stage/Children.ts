/**
 * Children: the names directly below a cell, as a beat changes them.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Own } from "./Own.ts"

/** Stands in the read log for a look at the names below a cell. */
export const CHILDREN = Symbol("children")

/** Names with those added whose documents exist, and those removed whose documents are deleted. */
export const adjusted = (
  names: ReadonlyArray<string>,
  over: { readonly scope: string; readonly id: string; readonly own: Own }
): ReadonlyArray<string> => {
  const set = new Set(names)
  for (const [i, key] of over.own.keys.entries()) {
    const address = Address.ofKey(key)
    if (address.scope !== over.scope || Address.parent(address.id) !== over.id) continue
    if (over.own.documents[i] === undefined) set.delete(Address.name(address.id))
    else set.add(Address.name(address.id))
  }
  return [...set].sort()
}
