/**
 * What a beat changed up to now, for nodes that come back within it: what is kept
 * of them is as the newest beat that was committed left it.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Change from "../cell/Change.ts"
import * as Codec from "../cell/Document.ts"
import type { Locations } from "../scheduler/Locations.ts"
import type { ObservedRead } from "../scheduler/Persistence.ts"
import type { Stage } from "../stage/Stage.ts"

/** Where a beat has its changes: those that joined the stage, and those that nodes made since. */
interface Changes {
  readonly stage: Stage
  readonly locations: Locations
}

/** Whether the beat made something else of what was read. Costs nothing where it did not touch the document. */
export const differs = ([text, depth]: ObservedRead, changes: Changes): boolean => {
  const address = Address.parse(text)
  if (depth === "children") return isListed(address, changes)
  const { locations, stage } = changes
  const { key, path } = address
  const root = locations.known(key)
  const isDerived = root !== undefined && locations.isChanged(root)
  if (!isDerived && !stage.documents.has(key)) return false
  const step = { path: [], before: Codec.read(stage.committed.read(key), []), after: Codec.read(isDerived ? locations.document(root) : stage.newest(key), []) }
  return Change.triggers({ path, shallow: depth === "shallow" }, step)
}

/** Whether a document directly below came to be or went. */
const isListed = ({ id, scope }: Address.Address, { locations, stage }: Changes): boolean => {
  const isBelow = (address: Address.Address): boolean => address.scope === scope && Address.parent(address.id) === id
  for (const { address, after, before } of stage.documents.values()) {
    if ((before === undefined) !== (after === undefined) && isBelow(address)) return true
  }
  for (let i = 0; i < locations.changes; i++) {
    const root = locations.changed[i]!
    if (isBelow(Address.ofKey(root.key)) && locations.exists(root) !== (stage.committed.read(root.key) !== undefined)) return true
  }
  return false
}
