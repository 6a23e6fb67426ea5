/**
 * Catch-up: missed changes of one place, read from the journal.
 *
 * @module
 */
import type { Address } from "../../cell/Address.ts"
import * as Change from "../../cell/Change.ts"
import * as Codec from "../../cell/Document.ts"
import type { SpaceStore } from "../../persistence/Persistence.ts"
import * as Journal from "../model/Journal.ts"
import * as Records from "../model/JournalRecords.ts"
import type { Observation } from "./Space.ts"

/** Most values that a subscriber may lag behind, or have missed, and still receive individually. */
export const MAX_MISSED = 1024

/** Most characters of values that wait for one subscriber. */
export const MAX_WAITING = 262_144

/** Most characters of journal text read for one returning subscriber. */
export const MAX_READ = 4 * 1_048_576

/** Most reads whose results wait for further subscribers. */
const MAX_SHARED = 8

/**
 * The missed values of returning subscribers. Subscribers that return to one address from one beat share a read of the journal: the
 * watchers of an object that wakes all return at once.
 *
 * @category models
 * @since 0.1.0
 */
export class Missed {
  private readonly read = new Map<string, ReturnType<typeof since>>()

  /** As {@link since}, read once until {@link Missed.forget}. */
  since(store: SpaceStore, address: Address, after: number): ReturnType<typeof since> {
    const key = `${after} ${address.text}`
    const known = this.read.get(key)
    if (known !== undefined) return known
    if (this.read.size >= MAX_SHARED) this.forget()
    const found = since(store, address, after)
    this.read.set(key, found)
    return found
  }

  /** There is a further beat. */
  forget(): void {
    if (this.read.size > 0) this.read.clear()
  }
}

/**
 * The values at an address after each beat later than `after` that changed it; or the reason why they are unknown.
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
  // An entry contains the keys of its changed documents verbatim, so most entries need no parsing.
  const mark = `["${address.key}",`
  const found: Array<Observation> = []
  let size = 0
  for (const { beat, text } of store.scanJournal(after + 1, head)) {
    size += text.length
    if (size > MAX_READ) return `what happened since takes more than ${MAX_READ} characters of journal`
    if (!text.includes(mark)) continue
    for (const cell of Records.cellsOf(Journal.parse(text))) {
      if (cell.key !== address.key) continue
      const [was, is] = [Records.documentOf(cell.before), Records.documentOf(cell.after)]
      if (Change.triggers(read, { path: [], before: Codec.read(was, []), after: Codec.read(is, []) })) {
        found.push({ beat, value: Codec.read(is, address.path) })
      }
    }
    if (found.length > MAX_MISSED) return `more than ${MAX_MISSED} values were missed`
  }
  return found
}
