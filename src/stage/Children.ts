/**
 * Children: the names directly below a cell, as a beat changes them.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Document } from "../cell/Document.ts"

/** Stands in the read log for a look at the names below a cell. */
export const CHILDREN = Symbol("children")

/** Names with those added whose documents exist, and those removed whose documents are deleted. */
export const adjusted = (
  names: ReadonlyArray<string>,
  over: { readonly scope: string; readonly id: string; readonly documents: ReadonlyMap<string, Document | undefined> }
): ReadonlyArray<string> => {
  const set = new Set(names)
  for (const [key, document] of over.documents) {
    const address = Address.ofKey(key)
    if (address.scope !== over.scope || Address.parent(address.id) !== over.id) continue
    if (document === undefined) set.delete(Address.name(address.id))
    else set.add(Address.name(address.id))
  }
  return [...set].sort()
}
