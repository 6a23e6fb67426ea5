/**
 * Persistence: the port between the runtime and its stores.
 *
 * A space is one store: its cells, its journal, its queued signals, its receipts, and content addressed by hash. A beat
 * is appended as one batch, applied whole or not at all. Appended data is readable at once, and durable after the next
 * flush.
 *
 * @module
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Address } from "../cell/Address.ts"
import { InvalidSpaceName, PersistenceError } from "./PersistenceError.ts"
import { isSpaceName } from "./SpaceName.ts"
import type * as StoreFormat from "./StoreFormat.ts"

/** The stored form of a document; `text` is `undefined` if the document is deleted. */
export interface CellRow {
  readonly address: Address
  readonly text: string | undefined
}

/** One beat in the journal. */
export interface JournalRow {
  /** The number of the beat; rows have increasing numbers, with gaps for empty beats. */
  readonly beat: number
  /** The captured clock, in milliseconds since 1970. */
  readonly clock: number
  /** The entry: JSON on the first line, and optional further lines. */
  readonly text: string
  /** The digest of the text. The text contains the digest of the previous row. */
  readonly hash: string
}

/**
 * The location of a receipt: the beat with the journal row that holds it.
 *
 * A row without a digest is pruned together with that journal row. A row with a digest marks its id as used, and is
 * retained for {@link Retention.receiptMillis} after it was last written.
 */
export interface ReceiptRow {
  /** The id of the signal. */
  readonly id: string
  /** The enzyme of the handling; empty in the row of the event itself. */
  readonly enzyme: string
  /** The number of the beat with that journal row. */
  readonly beat: number
  /** The digest of the payload, in the row of an event with an id chosen by its caller. */
  readonly digest?: string
  /** The id as its caller gave it, up to 512 characters; only beside a digest. */
  readonly own?: string
  /** The label of the event, which outlives its journal row; only beside a digest, and in no row of before it was kept. */
  readonly label?: ReadonlyArray<string>
}

/**
 * A queued signal.
 *
 * `seq` is a number from 0 up, unique while the signal is queued. `id` is optional, and several signals may share one.
 * `text` may be a getter, because few rows outlive their group.
 */
export interface QueueRow {
  readonly seq: number
  readonly id?: string | undefined
  readonly text: string
}

/**
 * Content, addressed by the digest of its bytes.
 *
 * It is kept while a document, a queued signal or a later journal row contains its address, `/cas/<digest>`. New
 * content is also kept for {@link Retention.contentMillis}.
 */
export interface BlobRow {
  /** The SHA-256 digest of the bytes: 64 lower-case hexadecimal characters. */
  readonly hash: string
  readonly bytes: Uint8Array
  /** Whether it is the source text of a module, stored at the module's activation. */
  readonly code?: boolean
}

/** The stored observation of a reactive node, outside the cell tree. A row without a text deletes it. */
export interface ObservationRow {
  /** The name of the node. */
  readonly node: string
  readonly text: string | undefined
}

/**
 * The changes of one beat; without `entry`, changes of the inbox between beats.
 *
 * @category models
 * @since 0.1.0
 */
export interface Batch {
  /** The journal row of the beat. */
  readonly entry: JournalRow | undefined
  /** The changed documents, each once, in their final form. */
  readonly cells: ReadonlyArray<CellRow>
  readonly receipts: ReadonlyArray<ReceiptRow>
  /** Signals to add to the queue. */
  readonly queued: ReadonlyArray<QueueRow>
  /** The numbers of signals to remove from the queue. */
  readonly dequeued: ReadonlyArray<number>
  /** New content, or known content with a renewed grace period. */
  readonly blobs: ReadonlyArray<BlobRow>
  readonly observations: ReadonlyArray<ObservationRow>
}

/** The newest beat of a store; `beat` is -1 and `hash` empty before the first. */
export interface Head {
  readonly beat: number
  readonly clock: number
  readonly hash: string
}

/** A jump of the clock that makes nothing older: the clock after it, and its length in milliseconds. */
export interface Jump {
  readonly clock: number
  readonly millis: number
}

/** The newest pruned journal row; `beat` is -1 and `hash` empty before the first pruning. */
export interface Anchor {
  readonly beat: number
  readonly hash: string
}

/** A part of content. */
export interface BlobPart {
  /** 1 MiB, or the rest of the content; empty after its end. */
  readonly bytes: Uint8Array
  /** The size of the whole content in bytes. */
  readonly size: number
}

/** The state of an import: of a store that is filled from outside, and which nobody else opens before it is whole. */
export interface Arrival {
  /** A text of the importer: its progress, and then the source of the space. */
  readonly note: string
  /** Whether all is there. The first beat of the space ends the state. */
  readonly isWhole: boolean
}

/** Receives content of unknown length in chunks. */
export interface BlobWriter {
  /** Adds a chunk of at most 1 MiB. */
  readonly write: (chunk: Uint8Array) => void
  /** Ends the content and stores it under its digest: readable at once, durable after the next flush. */
  readonly finish: (hash: string) => void
  /** Discards the content written so far. */
  readonly abort: () => void
}

/**
 * The open store of one space.
 *
 * Reads are synchronous and see all appended data. `append` refuses a batch with an entry that does not follow the
 * head, and a batch of a superseded handle. The refusal is raised at the latest in `flush`, before any of the group is
 * durable.
 *
 * A handle claims its epoch with its first write. That write is refused if another handle wrote since this one opened.
 * After a crash the head of the store is a flush, or a batch after it, and never inside a batch. All texts are
 * well-formed and without U+0000, like JSON.
 *
 * The methods throw {@link PersistenceError}.
 *
 * @category services
 * @since 0.1.0
 */
export interface SpaceStore {
  /** The name of the space. */
  readonly space: string
  /**
   * The writer epoch of this handle: from its first write on, one more than the newest stored epoch. Opening and
   * reading write no data.
   */
  readonly epoch: number
  /** The location of the data, for error messages. */
  readonly place: string
  /** Returns the newest appended beat. */
  readonly head: () => Head
  /** Returns the predecessor of the oldest retained journal row. */
  readonly anchor: () => Anchor
  /** Returns the text of the document with this key. */
  readonly read: (key: string) => string | undefined
  /** Returns the names directly below `id` in `scope`, in code-unit order. */
  readonly children: (scope: string, id: string) => ReadonlyArray<string>
  /** Returns the keys of all documents below `id` in every scope, in code-unit order, after `after`. */
  readonly below: (id: string, page: { readonly after?: string; readonly limit: number }) => ReadonlyArray<string>
  /** Returns the journal row of a beat, if it is retained. */
  readonly entry: (beat: number) => JournalRow | undefined
  /** Iterates over the journal rows from `from` to `to`, both included, in order. */
  readonly scanJournal: (from: number, to: number) => Iterable<JournalRow>
  /** Returns the receipt rows of a signal: one per enzyme, and one for the event itself. */
  readonly receipts: (id: string) => ReadonlyArray<ReceiptRow>
  /**
   * Returns the ids of the events whose receipt has this own id, each once: the newest flush first, and at most `limit`. A store
   * need not look at more than `limit` flushes. The own id of an event never changes.
   */
  readonly named: (own: string, limit: number) => ReadonlyArray<string>
  /** Iterates over the queued signals in the order of their numbers, optionally only over numbers greater than `after`. */
  readonly queue: (after?: number) => Iterable<QueueRow>
  /**
   * Returns the queued signal with this number and, optionally, some that follow it in order, at most `limit` in all.
   * The result is empty if no signal has the number.
   */
  readonly queued: (seq: number, limit: number) => ReadonlyArray<QueueRow>
  /** Returns the queued signals with this id, in the order of their numbers. */
  readonly waiting: (id: string) => ReadonlyArray<QueueRow>
  /** Returns the stored observations, one per node, in the code-unit order of their names. */
  readonly observations: () => ReadonlyArray<ObservationRow>
  /** Returns the bytes of content; `undefined` if it is absent. */
  readonly blob: (hash: string) => Uint8Array | undefined
  /** Returns part number `part` of content, counted from 0; `undefined` if the content is absent. */
  readonly blobPart: (hash: string, part: number) => BlobPart | undefined
  /** Tests whether content with this digest is stored, without reading its bytes. */
  readonly holds: (hash: string) => boolean
  /** Tests whether content was first stored as the source text of a module. */
  readonly isCode: (hash: string) => boolean
  /** Returns content that arrived after the newest beat, as of the last flush. No journal row refers to it yet. */
  readonly undated: () => ReadonlyArray<string>
  /** Verifies each durable row except for journal rows, one page per step; throws at the first damaged row. */
  readonly examine: () => Iterable<void>
  /** Returns the format of the store, as this handle knows it; `undefined` where all rows have one form. */
  readonly format: () => StoreFormat.Status | undefined
  /**
   * Raises the format of the store, or notes that all rows have its form; durable at the end. It takes the same time for each size
   * of the store, stops all other handles, and lowers nothing. A store whose rows have one form stays as it is.
   */
  readonly raise: (to: StoreFormat.Status) => Effect.Effect<void, PersistenceError>
  /** Starts to store content of unknown length. */
  readonly writeBlob: () => BlobWriter
  /** Appends a batch: readable at once, durable after the next flush. */
  readonly append: (batch: Batch) => void
  /**
   * Sets the wake time of the space, in milliseconds since 1970: 0 for at once, less for at once and before other spaces,
   * `undefined` for never. The next flush with data stores it.
   */
  readonly setDue: (moment: number | undefined) => void
  /** Sets the jumps of the clock, in their order, that do not count for the {@link Retention}. None before the first call. */
  readonly setJumps: (jumps: ReadonlyArray<Jump>) => void
  /**
   * Makes all appended data durable. A failure is final for this handle, except for `StoreBusy`: that flush applied
   * nothing, and can be repeated.
   */
  readonly flush: Effect.Effect<void, PersistenceError>
}

/** An observation with its text. */
export interface Observed {
  readonly node: string
  readonly text: string
}

/** How far a store has come: equal ones of a space mean that nothing was written between. */
export interface Progress {
  /** The newest beat. */
  readonly head: Anchor
  /** Distinguishes groups without a beat, such as those of waiting signals. */
  readonly turn: string
  /** Whether a signal waits. */
  readonly isQueued: boolean
}

/** The state of a store at one moment, beside later changes. Documents are not part of it: the journal has their versions. */
export interface PinnedRows {
  /** The predecessor of the oldest journal row. */
  readonly anchor: Anchor
  /** The characters of all copies. */
  readonly size: number
  /** Ends the pin. */
  readonly release: () => void
  /** The queued signals in the order of their numbers, in pages. */
  readonly queue: () => Iterable<ReadonlyArray<QueueRow>>
  /** The receipts of beats up to one, and after another, in the order of beat, id and enzyme, in pages. `after` is -1 by default. */
  readonly receipts: (head: number, after?: number) => Iterable<ReadonlyArray<ReceiptRow>>
  /** The observations in the order of their nodes. */
  readonly observations: () => ReadonlyArray<Observed>
  /** Whether content came later. */
  readonly isNew: (hash: string) => boolean
}

/**
 * The store of a space at its place, with all that an export and an import need.
 *
 * @category services
 * @since 0.2.0
 */
export interface PlacedStore extends SpaceStore {
  /** Returns how far the flushes have come. */
  readonly progress: () => Progress
  /** Returns the state of an import; `undefined` for any other space. */
  readonly arrival: () => Arrival | undefined
  /**
   * Stores the state of an import with the next flush. `from`, in the first group only, is the predecessor of the oldest journal
   * row to come, with the clock of the space.
   */
  readonly arrive: (arrival: Arrival, from?: Head) => void
  /**
   * Has the next flush remove some journal rows before a beat, the oldest first and never the newest row, with the receipts that point
   * to them. It removes none while there is a pin. `anchor` tells how far it came.
   */
  readonly prune: (before: number) => void
  /**
   * Begins to keep the present state beside later changes. All appended data has to be durable, and queued signals have numbers
   * up to `lastSeq`. Nothing is pruned before the end of all pins.
   */
  readonly pin: (lastSeq: number) => PinnedRows
}

/** The retention of data other than state, measured against the head's clock. */
export interface Retention {
  /** The maximum age of journal rows, in milliseconds. Default: 30 days. */
  readonly journalMillis: number
  /** The maximum size of the journal's texts, in characters. Default: 1 GiB. */
  readonly journalBytes: number
  /**
   * The retention of receipt rows with a digest since their last write, in milliseconds. A store may start the period
   * up to 256 rows later. Default: 7 days.
   */
  readonly receiptMillis: number
  /** The grace period of content without a reference, in milliseconds. Default: 24 hours. */
  readonly contentMillis: number
}

/** The default retention. */
export const retention: Retention = {
  journalMillis: 30 * 86_400_000,
  journalBytes: 1_073_741_824,
  receiptMillis: 7 * 86_400_000,
  contentMillis: 86_400_000
}

/** The options of opening a space. */
export interface OpenOptions {
  /** Whether to create the space if it does not exist. */
  readonly create: boolean
  /** Replaces single limits of {@link retention}. */
  readonly retention?: Partial<Retention>
  /** Whether it is an import: it opens an unfinished one, or creates one where no space has the name. */
  readonly importing?: boolean
  /** Computes the digest of a journal row's text, which verifies rows when they are read. Without it they are not verified. */
  readonly digest?: (text: string) => string
}

/**
 * The service that opens the stores of spaces.
 *
 * @category services
 * @since 0.1.0
 */
export class Persistence extends Context.Service<Persistence, {
  /** Opens a space's store until the scope closes. */
  readonly open: (space: string, options: OpenOptions) => Effect.Effect<PlacedStore, PersistenceError, Scope.Scope>
  /**
   * Returns the wake time that the last flush of a space stored, without opening the space. The result may be up to one
   * second early, never late. It is 0 before the first flush, and may be 0 if the last flush lies in the future by the
   * clock of the host, which has been set back since.
   */
  readonly due: (space: string) => Effect.Effect<number | undefined, PersistenceError>
  /** Returns how far the flushes of a space have come, without opening the space. An unfinished import is not read. */
  readonly progress: (space: string) => Effect.Effect<Progress, PersistenceError>
  /** Removes a space with all its data. Its handles are closed before; one that is left open writes no more. */
  readonly remove: (space: string) => Effect.Effect<void, PersistenceError>
  /** The names of the existing spaces, in no order. They are read while they are taken, which may throw `PersistenceError`. */
  readonly spaces: Effect.Effect<Iterable<string>, PersistenceError>
  /** Fails while the place takes no more data, as on a full disk. Absent for a place that cannot determine it. */
  readonly ready?: Effect.Effect<void, PersistenceError>
}>()("systole/persistence/Persistence") {}

/**
 * Throws `InvalidSpaceName` unless `space` is a valid name of a space.
 *
 * @throws PersistenceError
 * @category guards
 * @since 0.1.0
 */
export const checkSpaceName = (space: string): void => {
  if (!isSpaceName(space)) throw new PersistenceError({ reason: new InvalidSpaceName({ space: String(space) }) })
}
