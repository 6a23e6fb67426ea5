/**
 * The hold of the space of an object. It is stored, because the platform ends an object without notice.
 *
 * @module
 */
import type { Holds } from "../../kernel/model/Holds.ts"
import type { Storage } from "./Platform.ts"

/** The key of the hold, beside the database. */
const KEY = "systole/held"

/** Reads the hold of an object's only space. */
export const read = async (storage: Pick<Storage, "delete" | "get" | "put">): Promise<Holds> => {
  const held = new Set<string>()
  const stored = await storage.get(KEY)
  if (typeof stored === "string") held.add(stored)
  const holds: Holds = {
    has: (space) => held.has(space),
    // The output gate waits for the write. If it fails, the platform resets the object.
    add: (space) => {
      storage.put(KEY, space).catch(() => {})
      return held.add(space)
    },
    delete: (space) => {
      if (!held.delete(space)) return false
      storage.delete(KEY).catch(() => {})
      return true
    }
  }
  return holds
}
