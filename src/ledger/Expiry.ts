/**
 * Expiry rules: how a ledger's records finish, and which documents are deleted
 * after their retention.
 *
 * @module
 */
import type { SpaceStore } from "../persistence/Persistence.ts"
import type { Stage, StagedDocument } from "../stage/Stage.ts"

/** Documents of a kind that each beat may delete, unless it wrote half as many. */
export const MAX_DOCUMENTS = 1024

/** The state from which finished records are read. */
export interface ExpiryState {
  readonly stage: Stage
  readonly store: Pick<SpaceStore, "below">
}

/** A finished record: the beat that finished it, and the number of documents that may be deleted. */
export interface Found {
  readonly since: number
  readonly left: number
}

/** The documents to delete with a record, ending with the record itself; and whether they are complete. */
export interface Going {
  readonly keys: ReadonlyArray<string>
  readonly isWhole: boolean
}

/**
 * The expiry of one kind of finished records.
 */
export interface ExpiryRule {
  /** The name of the kind: its folder among the notes below `/sys/index/over`, and its name in the journal. */
  readonly kind: string
  /** The place of the kind among the others in the journal's list; the lowest is first. */
  readonly order: number
  /** The cells above its documents; the first is above the records themselves. */
  readonly folders: readonly [string, ...ReadonlyArray<string>]
  /** The name of the record that a change of the beat finished; `undefined` if it finished none of the kind. */
  ended(staged: StagedDocument): string | undefined
  /** The documents of a finished record. A record started again since then is a new one, so none are returned. */
  find(name: string, found: Found, state: ExpiryState): Going
}

/** All documents of a record. */
export const whole = (...keys: ReadonlyArray<string>): Going => ({ keys, isWhole: true })

/** The documents of a record: those below a folder, the folder of the numerous ones, and the record itself. */
interface Documents {
  readonly folder: string
  readonly many: string
  readonly key: string
}

/**
 * All documents of a record; if they exceed the limit of a beat, a part of the numerous ones.
 */
export const gradual = ({ folder, key, many }: Documents, { left }: Found, { store }: ExpiryState): Going => {
  const limit = Math.max(left, MAX_DOCUMENTS)
  const all = store.below(folder, { limit })
  if (all.length < limit) return whole(...all, key)
  const part = store.below(many, { limit })
  return { keys: part.length > 0 ? part : all, isWhole: false }
}

/** The name of a document directly below a folder, from its key; `undefined` for any other document. */
export const nameBelow = (folder: string, key: string): string | undefined => {
  if (!key.startsWith(`${folder}/`) || key.includes("?")) return undefined
  const name = key.slice(folder.length + 1)
  return name.includes("/") ? undefined : name
}
