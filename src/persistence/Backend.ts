/**
 * What a place to keep data must be able to do, so that a space store can stand on it.
 *
 * A backend keeps what is durable and knows nothing of groups in the making:
 * those are an overlay above it. It takes one group at a time, whole or not at
 * all. (Architecture, sections 1.3 and 8.)
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Anchor, BlobPart, CellRow, Head, JournalRow, ObservationRow, QueueRow, ReceiptRow } from "./Persistence.ts"
import { BeatConflict, PersistenceError, StaleWriter } from "./PersistenceError.ts"

/** Most bytes of one part of a blob. */
export const PART = 1_048_576

/** Most parts of one blob: the whole of it is read into memory. */
export const PARTS = 1024

/**
 * Content on its way in: bytes that came with a batch, or the number of an upload that the backend holds.
 *
 * @category models
 * @since 0.1.0
 */
export type Content = { readonly bytes: Uint8Array; readonly code: boolean } | { readonly upload: number }

/**
 * The net effect of all batches between two flushes: each thing once, in its last form.
 *
 * @category models
 * @since 0.1.0
 */
export interface Group {
  /** The head that the group follows on. */
  readonly base: Head
  /** The head after it. */
  readonly head: Head
  readonly cells: ReadonlyMap<string, CellRow>
  readonly journal: ReadonlyArray<JournalRow>
  /** By the signal's id; the arrays are the group's to give away. */
  readonly receipts: ReadonlyMap<string, ReadonlyArray<ReceiptRow>>
  readonly queued: ReadonlyMap<number, QueueRow>
  /** Numbers that were queued before this group. */
  readonly dequeued: ReadonlySet<number>
  readonly blobs: ReadonlyMap<string, Content>
  readonly observations: ReadonlyMap<string, ObservationRow>
  /** The moment at which the space next has something to do, as `SpaceStore.setDue` takes it. */
  readonly due: number | undefined
}

/**
 * The durable data of one space, as one epoch sees it. Its methods throw {@link PersistenceError}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Backend {
  readonly space: string
  readonly epoch: number
  readonly place: string
  readonly head: Head
  /** The stored moment, as of the opening. */
  readonly due: number | undefined
  anchor(): Anchor
  read(key: string): string | undefined
  /** The names of the documents directly below, in code-unit order. */
  children(scope: string, id: string): ReadonlyArray<string>
  /** At most `limit` keys below `id` that come after `after`, in code-unit order. */
  below(id: string, after: string, limit: number): ReadonlyArray<string>
  /** At most `limit` rows, from and to included, in order. */
  journal(from: number, to: number, limit: number): Iterable<JournalRow>
  receipts(id: string): ReadonlyArray<ReceiptRow>
  /** At most `limit` rows whose numbers come after `after`, in order. */
  queue(after: number, limit: number): ReadonlyArray<QueueRow>
  /** At most `limit` rows in order, the first with this number or one after it; fewer where numbers are missing. */
  queued(seq: number, limit: number): ReadonlyArray<QueueRow>
  /** In the order of their numbers. */
  waiting(id: string): ReadonlyArray<QueueRow>
  /** Those that have a text. */
  observations(): Array<ObservationRow>
  blob(hash: string): Uint8Array | undefined
  blobPart(hash: string, part: number): BlobPart | undefined
  holds(hash: string): boolean
  isCode(hash: string): boolean
  undated(): ReadonlyArray<string>
  /** Looks at each row but those of the journal, some at a time; throws at the first that is not what was written. */
  examine(): Iterable<void>
  /** Begins an upload; its number is used by no other handle. */
  startUpload(): number
  writePart(upload: number, part: number, bytes: Uint8Array): void
  readUpload(upload: number): Uint8Array
  dropUpload(upload: number): void
  /** Applies the group in one atomic step, if epoch and head are still this handle's. */
  commit(group: Group): void
  /** Waits until commits are durable, on hosts where a commit alone is not. */
  readonly sync: Effect.Effect<void, PersistenceError> | undefined
  close(): void
}

/** A part of content that is in memory. */
export const partOf = (bytes: Uint8Array, part: number): BlobPart => ({ bytes: bytes.subarray(part * PART, (part + 1) * PART), size: bytes.length })

/**
 * The writer of a space: its epoch, and how many groups were stored that no beat belongs to.
 *
 * The head tells a reader of each other group.
 *
 * @category models
 * @since 0.1.0
 */
export interface Writer {
  readonly epoch: number
  readonly asides: number
}

/**
 * The turn of one handle to write. Its first write claims an epoch; that nobody else wrote since it opened is checked before.
 *
 * @category models
 * @since 0.1.0
 */
export class Claim {
  private readonly space: string
  private known: Writer
  private isClaimed = false

  constructor(space: string, opened: Writer) {
    this.space = space
    this.known = opened
  }

  get epoch(): number {
    return this.known.epoch
  }

  /**
   * The writer to store with a write; `undefined` where the stored one stays.
   *
   * @throws PersistenceError
   */
  next(stored: Writer, isAside: boolean): Writer | undefined {
    const { epoch } = this.known
    if (stored.epoch !== epoch || (!this.isClaimed && stored.asides !== this.known.asides)) {
      throw new PersistenceError({ reason: new StaleWriter({ space: this.space, epoch, current: stored.epoch }) })
    }
    if (this.isClaimed && !isAside) return undefined
    return { epoch: this.isClaimed ? epoch : epoch + 1, asides: stored.asides + (isAside ? 1 : 0) }
  }

  /** Takes note that a write is stored. */
  wrote(writer: Writer | undefined): void {
    this.isClaimed = true
    if (writer !== undefined) this.known = writer
  }
}

/**
 * Throws unless the stored head is the one that the group follows on.
 *
 * @throws PersistenceError
 * @category guards
 * @since 0.1.0
 */
export const checkHead = (space: string, group: Group, stored: Head): void => {
  if (stored.beat !== group.base.beat || stored.hash !== group.base.hash) {
    const beat = group.journal[0]?.beat ?? group.head.beat
    throw new PersistenceError({ reason: new BeatConflict({ space, beat, head: stored.beat }) })
  }
}

/**
 * The result of `body`, its {@link PersistenceError} as a failure and anything else as a defect.
 *
 * @category combinators
 * @since 0.1.0
 */
export const attempt = <A>(body: () => A): Effect.Effect<A, PersistenceError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(body())
    } catch (cause) {
      return cause instanceof PersistenceError ? Effect.fail(cause) : Effect.die(cause)
    }
  })
