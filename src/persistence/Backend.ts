/**
 * The port of a store: the durable data of one space.
 *
 * A store over any database is one class that implements {@link Backend}, and a layer of
 * `Persistence` that opens it through `GroupStore.scoped`. `GroupStore` keeps the batches
 * between two flushes in memory and hands them to the backend as one {@link Group}: the
 * backend sees durable data alone. `plugins/README.md` shows how to write one, and
 * `persistenceContract` of `systole/testing` tests it.
 *
 * All calls are synchronous. Texts are well-formed and without U+0000. Keys and names are
 * ordered by UTF-16 code units, as `<` orders strings. Moments and clocks are milliseconds
 * since 1970. Failures are {@link PersistenceError}s; any other error is a defect.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Anchor, Arrival, BlobPart, CellRow, Head, JournalRow, Jump } from "./Persistence.ts"
import type { ObservationRow, OpenOptions, Progress, QueueRow, ReceiptRow } from "./Persistence.ts"
import { BeatConflict, PersistenceError, SpaceExists, SpaceImporting, StaleWriter } from "./PersistenceError.ts"
import type * as StoreFormat from "./StoreFormat.ts"

export { pages as receiptPages } from "./ReceiptOrder.ts"

/** Most bytes of one part of content: 1 MiB. */
export const PART = 1_048_576

/** Most parts of one content: 1 GiB in all. The whole of it is read into memory. */
export const PARTS = 1024

/**
 * Content that a group brings: bytes from a batch, or the number of an upload of this handle. `code` marks the text of a
 * module; content that is known already stays as it is.
 *
 * @category models
 * @since 0.1.0
 */
export type Content = { readonly bytes: Uint8Array; readonly code: boolean } | { readonly upload: number }

/**
 * The net effect of all batches between two flushes: each row once, in its last form.
 *
 * @category models
 * @since 0.1.0
 */
export interface Group {
  /** The head before the group. `checkHead` compares it with the stored one. */
  readonly base: Head
  /** The head after the group. */
  readonly head: Head
  /** Documents by key; a row without a text deletes. */
  readonly cells: ReadonlyMap<string, CellRow>
  /** New rows in the order of their beats, which may have gaps. Empty for a group without a beat. */
  readonly journal: ReadonlyArray<JournalRow>
  /** By the signal's id. A row replaces the stored one of the same id and enzyme. The backend may keep the arrays. */
  readonly receipts: ReadonlyMap<string, ReadonlyArray<ReceiptRow>>
  /** New rows by number. A text is made at its first read, and that may throw: read all before the first change. */
  readonly queued: ReadonlyMap<number, QueueRow>
  /** Numbers to delete; some are not stored. */
  readonly dequeued: ReadonlySet<number>
  /** By digest: 64 lower-case hexadecimal digits of SHA-256. The backend takes a digest as given. */
  readonly blobs: ReadonlyMap<string, Content>
  /** By node; a row without a text deletes. */
  readonly observations: ReadonlyMap<string, ObservationRow>
  /** The moment of the next work, as `SpaceStore.setDue` takes it: 0 for at once, `undefined` for never. */
  readonly due: number | undefined
  /** The jumps of the clock that make nothing older, in their order. `Pruning.cutoff` takes them into account. */
  readonly jumps: ReadonlyArray<Jump>
  /** Journal rows before this beat are too old, whatever their age: as many go as the budget has. `Pruning` takes it into account. */
  readonly before?: number | undefined
  /** The state of an import. `undefined` leaves the stored one, or ends it if that is whole and the group has a beat. */
  readonly arrival?: Arrival | undefined
  /** In the first group of an import: the predecessor of the oldest journal row to come. It is the stored head until that row. */
  readonly anchor?: Anchor | undefined
}

/**
 * The durable data of one space, as one handle sees it. Several handles of a space may be open; the first one to write
 * stops the others. Reads show the last commit of any handle. Only the handle that created the space may read nothing until
 * its own first commit.
 *
 * Methods throw {@link PersistenceError}, with `StoreUnavailable` where the database fails and `StoreDamaged` where a row
 * is not as it was written.
 *
 * @category models
 * @since 0.1.0
 */
export interface Backend {
  /** The name of the space. */
  readonly space: string
  /** The epoch of the handle: {@link Claim.epoch}. */
  readonly epoch: number
  /** The location of the data, for messages. */
  readonly place: string
  /** The head as of the opening: beat -1, clock 0 and hash "" for a new space. */
  readonly head: Head
  /** The stored moment of the next work as of the opening: 0 for a new space. */
  readonly due: number | undefined
  /** How far the commits of all handles have come. */
  progress(): Progress
  /** The stored state of an import; `undefined` for any other space. */
  arrival(): Arrival | undefined
  /** Whether commits prune nothing from now on. Rows that are too old by then are pruned later. */
  pin(isPinned: boolean): void
  /** The newest journal row that was pruned: beat -1 and hash "" before the first. */
  anchor(): Anchor
  /** The text of a document, by the key of its address. */
  read(key: string): string | undefined
  /** The names of the documents directly below `id` in a scope, in order. */
  children(scope: string, id: string): ReadonlyArray<string>
  /** At most `limit` keys below `id` in any scope that come after `after`, in order; `after` is "" at first. */
  below(id: string, after: string, limit: number): ReadonlyArray<string>
  /** At most `limit` rows with numbers from `from` to `to`, both included, in order. */
  journal(from: number, to: number, limit: number): Iterable<JournalRow>
  /** The rows of a signal's id, in any order. */
  receipts(id: string): ReadonlyArray<ReceiptRow>
  /** The ids of the receipts with this own id, each once: the newest flush first, and at most `limit`, of as many flushes. */
  named(own: string, limit: number): ReadonlyArray<string>
  /** At most `limit` rows with numbers above `after`, in order; `after` is -1 at first. */
  queue(after: number, limit: number): ReadonlyArray<QueueRow>
  /** At most `limit` rows in order: the first with this number or one above it. It may return fewer where numbers are missing. */
  queued(seq: number, limit: number): ReadonlyArray<QueueRow>
  /** The rows with this id, in the order of their numbers. */
  waiting(id: string): ReadonlyArray<QueueRow>
  /** All rows with a text, in any order. */
  observations(): Array<ObservationRow>
  /** The text of the observation of a node. */
  observation(node: string): string | undefined
  /**
   * The receipts of all beats after one in the order of beat, id and enzyme, some with each step, which may be none; `after` is -1
   * for all. Rows that are written meanwhile may be missing, and a row may come twice in succession.
   */
  everyReceipt(after: number): Iterable<ReadonlyArray<ReceiptRow>>
  /** The bytes of content; `undefined` where there is none. */
  blob(hash: string): Uint8Array | undefined
  /** Part number `part`, from 0, with {@link PART} bytes or the rest; no bytes after the end. `undefined` where there is no content. */
  blobPart(hash: string, part: number): BlobPart | undefined
  /** Whether there is content. It reads no bytes. */
  holds(hash: string): boolean
  /** Whether content first came as the text of a module. */
  isCode(hash: string): boolean
  /** Digests of content that came after the newest beat and that no kept journal row mentions. */
  undated(): ReadonlyArray<string>
  /** Checks each row except the journal's, a few at a time. It throws at the first row that differs from the written one. */
  examine(): Iterable<void>
  /** Begins an upload; no other handle may use its number. */
  startUpload(): number
  /** Keeps the next part of an upload: {@link PART} bytes, the last one fewer. The buffer is reused after the call. */
  writePart(upload: number, part: number, bytes: Uint8Array): void
  /** The bytes of an upload. */
  readUpload(upload: number): Uint8Array
  /** Forgets an upload. */
  dropUpload(upload: number): void
  /**
   * Writes a group in one atomic step, and prunes old rows, in the same step or a later one. Before the first change it
   * calls {@link Claim.next} and {@link checkHead} with the stored values. After a throw, `GroupStore` uses the handle for
   * reads alone. After `StoreBusy` it commits the group again: a backend throws that where it applied nothing, and as its
   * first step.
   *
   * @throws PersistenceError
   */
  commit(group: Group): void
  /** The formats of the store; absent where its rows have one form alone. */
  readonly formats?: StoreFormat.Formats
  /** Waits until all commits are durable; `undefined` where `commit` does so. */
  readonly sync: Effect.Effect<void, PersistenceError> | undefined
  /** Releases the handle. Uploads that no group named are gone. */
  close(): void
}

/**
 * A part of content in memory.
 *
 * @category getters
 * @since 0.1.0
 */
export const partOf = (bytes: Uint8Array, part: number): BlobPart =>
  ({ bytes: bytes.subarray(part * PART, (part + 1) * PART), size: bytes.length })

/**
 * The writer of a space, stored beside the head: its epoch, and the number of groups without a beat.
 *
 * A group with a beat changes the head, and one without changes `asides`: together they show each write of another
 * handle. Both are 0 for a new space.
 *
 * @category models
 * @since 0.1.0
 */
export interface Writer {
  readonly epoch: number
  readonly asides: number
}

/**
 * How far a store has come, from its head, its writer, and whether a signal waits.
 *
 * @category getters
 * @since 0.2.0
 */
export const progressOf = ({ beat, hash }: Anchor, { asides, epoch }: Writer, isQueued: boolean): Progress =>
  ({ head: { beat, hash }, turn: `${epoch}.${asides}`, isQueued })

/**
 * The right of one handle to write. The first write claims the next epoch, after a check that no other handle wrote since
 * this one was opened.
 *
 * @example Two writes of one handle
 * ```ts
 * import { Backend } from "systole"
 *
 * const claim = new Backend.Claim("shop", { epoch: 0, asides: 0 })
 * const first = claim.next({ epoch: 0, asides: 0 }, false)
 * if (first?.epoch !== 1) throw new Error("no claim")
 * claim.wrote(first)
 * if (claim.next(first, false) !== undefined) throw new Error("claimed twice")
 * ```
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
   * The writer to store with a group; `undefined` where the stored one stays. `isAside` is `true` for a group without a beat.
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

  /** Reports that the group is stored, with the writer that {@link next} returned. */
  wrote(writer: Writer | undefined): void {
    this.isClaimed = true
    if (writer !== undefined) this.known = writer
  }
}

/**
 * Throws `BeatConflict` unless the stored head is the base of the group.
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
 * The state of an import after a group, from the one before it: the first beat of a complete one ends it.
 *
 * @category getters
 * @since 0.2.0
 */
export const arrivalAfter = ({ arrival, journal }: Pick<Group, "arrival" | "journal">, stored: Arrival | undefined): Arrival | undefined =>
  arrival ?? (stored?.isWhole === true && journal.length > 0 ? undefined : stored)

/**
 * Throws `SpaceImporting` for the opening of a store with an unfinished import as a space, and `SpaceExists` for that of a space as
 * an import.
 *
 * @throws PersistenceError
 * @category guards
 * @since 0.2.0
 */
export const checkArrival = (space: string, arrival: Arrival | undefined, { importing = false }: Pick<OpenOptions, "importing">): void => {
  if ((arrival?.isWhole === false) === importing) return
  throw new PersistenceError({ reason: importing ? new SpaceExists({ space }) : new SpaceImporting({ space }) })
}

/**
 * The result of `body`. A {@link PersistenceError} that it throws is a failure, and any other error a defect.
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
