/**
 * Errors of persistence: one error class with a tagged reason.
 *
 * @module
 */
import * as Data from "effect/Data"

/** The space does not exist, and `create` was not set. */
export class NoSuchSpace extends Data.TaggedError("NoSuchSpace")<{ readonly space: string }> {
  readonly code = "space/unknown"
  override get message() {
    return `There is no space "${this.space}". Create it with: systole space create ${this.space}`
  }
}

/** The space is being imported: it opens once all of it is there. */
export class SpaceImporting extends Data.TaggedError("SpaceImporting")<{ readonly space: string }> {
  readonly code = "space/importing"
  override get message() {
    return `Space "${this.space}" is being imported, and opens once all of it is there. Wait for the import, or give it up with: ` +
      `systole space delete ${this.space}`
  }
}

/** The name of an import is taken. */
export class SpaceExists extends Data.TaggedError("SpaceExists")<{ readonly space: string }> {
  readonly code = "space/exists"
  override get message() {
    return `There is a space "${this.space}" already, and nothing is imported into it. Give another name, or delete that space for ` +
      `good with: systole space delete ${this.space}`
  }
}

/** The name is not a valid name of a space. */
export class InvalidSpaceName extends Data.TaggedError("InvalidSpaceName")<{ readonly space: string }> {
  readonly code = "space/name"
  override get message() {
    return `${JSON.stringify(this.space.slice(0, 100))} cannot name a space. ` +
      "Use 1 to 63 of a-z, 0-9 and -, and begin with a letter or a digit"
  }
}

/** Another process holds the lock of the store. */
export class StoreLocked extends Data.TaggedError("StoreLocked")<{ readonly space: string; readonly place: string }> {
  readonly code = "store/locked"
  override get message() {
    return `The store of space "${this.space}" at ${this.place} is locked by another process. ` +
      "End that process, or go through the server it belongs to"
  }
}

/** Another writer holds the store for now. A flush with this failure has applied nothing, and can be repeated. */
export class StoreBusy extends Data.TaggedError("StoreBusy")<{ readonly space: string; readonly place: string }> {
  readonly code = "store/busy"
  override get message() {
    return `The store of space "${this.space}" at ${this.place} is busy: another process writes to it. Nothing was applied; try again, ` +
      "and end that process if it does not finish"
  }
}

/** The stored data is damaged. */
export class StoreDamaged extends Data.TaggedError("StoreDamaged")<{
  readonly space: string
  readonly place: string
  readonly detail: string
}> {
  readonly code = "store/damaged"
  override get message() {
    return `The store of space "${this.space}" at ${this.place} cannot be read: ${this.detail}. ` +
      `Put a copy back in its place, or delete the space for good with systole space delete ${this.space}; nothing was changed in it`
  }
}

/** The store has a format that this version does not support. */
export class StoreVersion extends Data.TaggedError("StoreVersion")<{
  readonly space: string
  readonly place: string
  readonly found: number
  /** The oldest and the newest format that are read. */
  readonly reads: readonly [oldest: number, newest: number]
}> {
  readonly code = "store/version"
  override get message() {
    const [oldest, newest] = this.reads
    const remedy = this.found < oldest
      ? "It is from an older version: use the version that wrote it"
      : "A newer version finished an upgrade of it: use that version again. No earlier one takes the space back"
    return `The store of space "${this.space}" at ${this.place} has format ${this.found}, ` +
      `and this version of Systole reads the formats ${oldest} to ${newest}. ${remedy}. Nothing was changed in it`
  }
}

/** A journal entry has a form that this version does not read. */
export class JournalVersion extends Data.TaggedError("JournalVersion")<{
  readonly space?: string | undefined
  readonly beat: number
  /** The number that is not read: the form of the entry, or the rules of its beat. */
  readonly of?: "form" | "semantics"
  /** The number that the entry names; `undefined` without one. */
  readonly found: unknown
  /** The number that is read; of semantics the newest one. */
  readonly reads: number
}> {
  readonly code = "journal/version"
  override get message() {
    const of = this.space === undefined ? "" : ` of space "${this.space}"`
    const [number, reads] = this.of === "semantics"
      ? ["semantics", `knows semantics up to ${this.reads}`]
      : ["version", `reads version ${this.reads}`]
    const found = this.found === undefined ? `no ${number}` : `${number} ${JSON.stringify(this.found)}`
    return `The journal${of} has ${found} in the entry of beat ${this.beat}, and this version of Systole ${reads}. ` +
      "Use the version of Systole that wrote it. Nothing was changed in it"
  }
}

/** Another kernel wrote to the space, so this handle may not write any more. */
export class StaleWriter extends Data.TaggedError("StaleWriter")<{
  readonly space: string
  readonly epoch: number
  readonly current: number
}> {
  readonly code = "store/stale"
  override get message() {
    return `Another kernel wrote to space "${this.space}" since epoch ${this.epoch} opened it (the newest is ${this.current}), ` +
      "so this one may not write. Open it anew"
  }
}

/** A batch does not follow the newest beat. */
export class BeatConflict extends Data.TaggedError("BeatConflict")<{
  readonly space: string
  readonly beat: number
  readonly head: number
}> {
  readonly code = "store/conflict"
  override get message() {
    return `Beat ${this.beat} of space "${this.space}" cannot follow beat ${this.head}. Open the space anew`
  }
}

/** A storage operation failed, such as a write to a full disk. */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{
  readonly space: string
  readonly place: string
  readonly detail: string
}> {
  readonly code = "store/unavailable"
  override get message() {
    return `The store of space "${this.space}" at ${this.place} failed: ${this.detail}. ` +
      "What was acknowledged is safe; see to the disk and try again"
  }
}

/** The store takes no new data, because its size is near the limit of its host. */
export class StoreFull extends Data.TaggedError("StoreFull")<{ readonly space: string; readonly bytes: number }> {
  readonly code = "store/full"
  override get message() {
    return `The store of space "${this.space}" has ${this.bytes} bytes, near the limit of its host, and takes no new data. Delete ` +
      "cells, shorten the retention of the journal, or move work to another space"
  }
}

/** Content has more bytes than a run, a cell or a request of a channel reads at once. */
export class ContentTooLarge extends Data.TaggedError("ContentTooLarge")<{ readonly hash: string; readonly bytes: number }> {
  readonly code = "content/large"
  override get message() {
    return `The content /cas/${this.hash} has ${this.bytes} bytes and is in the content store, where no code reads it whole. ` +
      "Hand its address on, and read it over HTTP with GET /v1/spaces/SPACE/blobs/HASH, by ranges if need be"
  }
}

/** The store has records of a ledger that the runtime is without. */
export class StoreNeedsLedger extends Data.TaggedError("StoreNeedsLedger")<{
  readonly space: string
  /** The slice of the ledger. */
  readonly slice: string
  readonly folder: string
  /** The way to a runtime with the slice. */
  readonly remedy: string
}> {
  readonly code = "store/needs-ledger"
  override get message() {
    return `Space "${this.space}" has records below ${this.folder}, and this runtime is without ${this.slice}. Nothing was changed in ` +
      `it. ${this.remedy}`
  }
}

/**
 * The error of every persistence operation; `reason` distinguishes the causes.
 *
 * @category errors
 * @since 0.1.0
 */
export class PersistenceError extends Data.TaggedError("PersistenceError")<{
  readonly reason:
    | NoSuchSpace | InvalidSpaceName | StoreLocked | StoreBusy | StoreDamaged | StoreVersion | JournalVersion | StaleWriter
    | BeatConflict | StoreUnavailable | StoreFull | StoreNeedsLedger | ContentTooLarge | SpaceImporting | SpaceExists
}> {
  get code() {
    return this.reason.code
  }
  override get message() {
    return this.reason.message
  }
}

/**
 * Whether a failure says that nothing was applied, so that the same flush can be repeated.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isUnapplied = (failure: unknown): boolean => failure instanceof PersistenceError && failure.code === "store/busy"
