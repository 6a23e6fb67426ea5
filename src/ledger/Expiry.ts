/**
 * Expiry rules: when a record of a ledger is finished, and the documents that go
 * with it once it was kept long enough.
 *
 * @module
 */
import type { SpaceStore } from "../persistence/Persistence.ts"
import type { Stage, Staged } from "../stage/Stage.ts"

/** Documents of a kind that each beat may delete, unless it wrote half as many. */
export const MAX_DOCUMENTS = 1024

/** The state in which finished records are looked up. */
export interface Around {
  readonly stage: Stage
  readonly store: Pick<SpaceStore, "below">
}

/** A record that finished: the beat in which it did, and how many documents may go. */
export interface Found {
  readonly since: number
  readonly left: number
}

/** The documents that go with a record, the one by which it is found last; and whether they are complete. */
export interface Going {
  readonly keys: ReadonlyArray<string>
  readonly isWhole: boolean
}

/**
 * How the finished records of one kind expire.
 *
 * @category models
 * @since 0.1.0
 */
export interface ExpiryRule {
  /** The name of the kind: its folder among the notes below `/sys/index/over`, and its name in the journal. */
  readonly kind: string
  /** The place of the kind among the others in the journal's list; the lowest comes first. */
  readonly order: number
  /** The cells below which its documents lie. The records themselves lie below the first. */
  readonly folders: readonly [string, ...ReadonlyArray<string>]
  /** The name of the record that finished with a change of the beat; `undefined` where none of the kind did. */
  ended(staged: Staged): string | undefined
  /** The documents of a finished record. One that was begun anew since then is another, and has none. */
  find(name: string, found: Found, around: Around): Going
}

/** All documents of a record. */
export const whole = (...keys: ReadonlyArray<string>): Going => ({ keys, isWhole: true })

/** The documents of a record: below a cell, some of which are many, and the one by which it is found. */
interface Documents {
  readonly folder: string
  readonly many: string
  readonly key: string
}

/**
 * All documents of a record; where they are more than a beat deletes, a part of the many.
 *
 * @category getters
 * @since 0.1.0
 */
export const gradual = ({ folder, key, many }: Documents, { left }: Found, { store }: Around): Going => {
  const limit = Math.max(left, MAX_DOCUMENTS)
  const all = store.below(folder, { limit })
  if (all.length < limit) return whole(...all, key)
  const part = store.below(many, { limit })
  return { keys: part.length > 0 ? part : all, isWhole: false }
}

/** The name directly below a folder that a document's key names; `undefined` for any other document. */
export const nameBelow = (folder: string, key: string): string | undefined => {
  if (!key.startsWith(`${folder}/`) || key.includes("?")) return undefined
  const name = key.slice(folder.length + 1)
  return name.includes("/") ? undefined : name
}
