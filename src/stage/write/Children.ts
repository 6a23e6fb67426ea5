/**
 * Children: the names directly below a cell, with the changes of a beat.
 *
 * @module
 */
import * as Address from "../../cell/Address.ts"
import type { WriteSet } from "./WriteSet.ts"

/** Marks a read of the names below a cell in the read log. */
export const CHILDREN = Symbol("children")

/** Returns the names, with the created documents added and the deleted ones removed. */
export const adjust = (
  names: ReadonlyArray<string>,
  over: { readonly scope: string; readonly id: string; readonly own: WriteSet }
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
