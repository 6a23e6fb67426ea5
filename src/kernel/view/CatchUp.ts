/**
 * What a watcher missed: the changes of one place, read back from the journal.
 *
 * @module
 */
import type { Address } from "../../cell/Address.ts"
import * as Change from "../../cell/Change.ts"
import * as Codec from "../../cell/Document.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import * as Journal from "../model/Journal.ts"
import type { Observation } from "./Space.ts"

/** Most values that a watcher may lag behind, or have missed, and still be told each of them. */
export const MAX_MISSED = 1024

/** Most characters of values that wait for one watcher. */
export const MAX_WAITING = 262_144

/** Most characters of journal text that are read for one watcher that comes back. */
export const MAX_READ = 4 * 1_048_576

/**
 * What lay at an address after each beat behind `after` that changed it; or why that cannot be told.
 *
 * @throws PersistenceError
 * @category getters
 * @since 0.1.0
 */
export const since = (store: SpaceStore, address: Address, after: number): ReadonlyArray<Observation> | string => {
  const head = store.head().beat
  const anchor = store.anchor().beat
  if (after > head) return `beat ${after} is not in this space, whose newest is ${head}`
  if (anchor > after) return `the journal is pruned up to beat ${anchor}`
  const read = { path: address.path, shallow: false }
  // An entry's text has the key of each document that it changes as it is, so most entries need no parsing.
  const mark = `["${address.key}",`
  const found: Array<Observation> = []
  let size = 0
  for (const { beat, text } of store.scanJournal(after + 1, head)) {
    size += text.length
    if (size > MAX_READ) return `what happened since takes more than ${MAX_READ} characters of journal`
    if (!text.includes(mark)) continue
    for (const [key, , before, now] of Journal.parse(text).cells) {
      if (key !== address.key) continue
      const [was, is] = [document(before), document(now)]
      if (Change.triggers(read, { path: [], before: Codec.read(was, []), after: Codec.read(is, []) })) found.push({ beat, value: Codec.read(is, address.path) })
    }
    if (found.length > MAX_MISSED) return `more than ${MAX_MISSED} values were missed`
  }
  return found
}

const document = ([value]: readonly [unknown?]): Codec.Document | undefined =>
  value === undefined ? undefined : Codec.decode(JSON.stringify(value))
