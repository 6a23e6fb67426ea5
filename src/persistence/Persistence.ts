/**
 * Persistence: the port that each backend implements.
 *
 * A space is one store: its cells, its journal, the signals that wait, the
 * index of receipts and the content that is kept by its hash. All that a beat
 * makes goes in as one batch, applied whole or not at all; what was appended is
 * readable at once and durable after the next flush. (Architecture, section 8.)
 *
 * @module
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Address } from "../cell/Address.ts"
import { InvalidSpaceName, PersistenceError } from "./PersistenceError.ts"

/** What is stored of one document; `text` is `undefined` where it is deleted. */
export interface CellRow {
  readonly address: Address
  readonly text: string | undefined
}

/** One beat in the journal. */
export interface JournalRow {
  readonly beat: number
  /** The captured clock, in milliseconds since 1970. */
  readonly clock: number
  readonly text: string
  /** The digest of the text, which holds the digest of the row before. */
  readonly hash: string
}

/**
 * Where to find a receipt: the beat whose journal row holds it.
 *
 * A row goes with that journal row, unless it has a digest: it then says by
 * itself that its id is taken, and is kept for as long as the retention says
 * from when it was last written.
 */
export interface ReceiptRow {
  readonly id: string
  /** Empty in a row that stands for the event itself. */
  readonly enzyme: string
  readonly beat: number
  /** Of the payload, in the row of an event whose id its caller chose. */
  readonly digest?: string
}

/** A signal that waits, and its number, from 0 up, which is its own as long as it waits. `id` finds it, where it has one; several may share it. `text` may be made when it is read: few rows outlive the group they came in. */
export interface QueueRow {
  readonly seq: number
  readonly id?: string | undefined
  readonly text: string
}

/** Content that is kept by the digest of its bytes, as long as a document, a signal that waits or a journal row that was written since it came holds its address, `/cas/<digest>`, and for a while after it came. */
export interface BlobRow {
  readonly hash: string
  readonly bytes: Uint8Array
  /** The text of a module, which came with its activation. */
  readonly code?: boolean
}

/** What is kept of a reactive node, outside the cell tree; no text takes it away. */
export interface ObservationRow {
  readonly node: string
  readonly text: string | undefined
}

/**
 * What one beat makes visible, or, without `entry`, what the inbox keeps between beats.
 *
 * @category models
 * @since 0.1.0
 */
export interface Batch {
  readonly entry: JournalRow | undefined
  readonly cells: ReadonlyArray<CellRow>
  readonly receipts: ReadonlyArray<ReceiptRow>
  readonly queued: ReadonlyArray<QueueRow>
  readonly dequeued: ReadonlyArray<number>
  readonly blobs: ReadonlyArray<BlobRow>
  readonly observations: ReadonlyArray<ObservationRow>
}

/** The newest beat of a store; `beat` is -1 and `hash` empty before the first. */
export interface Head {
  readonly beat: number
  readonly clock: number
  readonly hash: string
}

/** The newest row that pruning took from the journal; `beat` is -1 and `hash` empty before it took any. */
export interface Anchor {
  readonly beat: number
  readonly hash: string
}

/** A part of content. */
export interface BlobPart {
  /** 1 MiB, or what is left of the content; none after its end. */
  readonly bytes: Uint8Array
  /** How many bytes the whole content has. */
  readonly size: number
}

/** Receives content of unknown length, piece by piece. */
export interface BlobWriter {
  /** Takes at most 1 MiB. */
  readonly write: (chunk: Uint8Array) => void
  /** Names the content by its digest; readable at once, durable after the next flush. */
  readonly finish: (hash: string) => void
  readonly abort: () => void
}

/**
 * The open store of one space.
 *
 * Reads are synchronous and see everything appended. `append` refuses a batch
 * whose entry does not follow the head, and one from a handle that another one
 * overtook; it does so at the latest in `flush`, before anything of the group is
 * durable. A handle claims its epoch with its first write, which is refused where
 * another handle wrote since this one opened. After a crash the store is at the head of some flush, or of
 * a batch after it: never inside a batch. All texts are well-formed and without
 * U+0000, as JSON texts are.
 *
 * Its methods throw {@link PersistenceError}.
 *
 * @category services
 * @since 0.1.0
 */
export interface SpaceStore {
  readonly space: string
  /** The epoch that the handle writes in: one more than the newest from its first write on. Opening and reading write nothing. */
  readonly epoch: number
  /** Where the data lies, for messages. */
  readonly place: string
  readonly head: () => Head
  /** What the oldest journal row that is left is chained to. */
  readonly anchor: () => Anchor
  /** The text of the document with this key. */
  readonly read: (key: string) => string | undefined
  /** The names directly below `id` in `scope`, in code-unit order. */
  readonly children: (scope: string, id: string) => ReadonlyArray<string>
  /** The keys of all documents below `id` in every scope, in code-unit order, after `after`. */
  readonly below: (id: string, page: { readonly after?: string; readonly limit: number }) => ReadonlyArray<string>
  readonly entry: (beat: number) => JournalRow | undefined
  /** Journal rows from `from` to `to`, both included, in order. */
  readonly scanJournal: (from: number, to: number) => Iterable<JournalRow>
  readonly receipts: (id: string) => ReadonlyArray<ReceiptRow>
  /** The signals that wait, in the order of their numbers; those after a number, where one is given. */
  readonly queue: (after?: number) => Iterable<QueueRow>
  /** The signal that waits under this number, and perhaps some that follow it in order, at most `limit` in all; none where no signal has the number. */
  readonly queued: (seq: number, limit: number) => ReadonlyArray<QueueRow>
  /** The signals that wait under this id, in the order of their numbers. */
  readonly waiting: (id: string) => ReadonlyArray<QueueRow>
  /** What is kept of nodes, each once, in the code-unit order of their names. */
  readonly observations: () => ReadonlyArray<ObservationRow>
  readonly blob: (hash: string) => Uint8Array | undefined
  /** The part of content with this number, from 0; `undefined` where there is no such content. */
  readonly blobPart: (hash: string, part: number) => BlobPart | undefined
  /** Whether there is content with this digest; its bytes are not read. */
  readonly holds: (hash: string) => boolean
  /** Whether content came first as the text of a module. */
  readonly isCode: (hash: string) => boolean
  /** Content that came after the newest beat, as of the last flush: no journal row names it yet. */
  readonly undated: () => ReadonlyArray<string>
  /** Looks at each durable row but those of the journal, some at a time; throws at the first that is not what was written. */
  readonly examine: () => Iterable<void>
  readonly writeBlob: () => BlobWriter
  readonly append: (batch: Batch) => void
  /**
   * Sets the moment at which the space next has something to do, in milliseconds since 1970: 0 for at once, `undefined` for
   * never. The next flush that carries something stores it.
   */
  readonly setDue: (moment: number | undefined) => void
  /** After it, all that was appended is durable. A failure is final for this handle. */
  readonly flush: Effect.Effect<void, PersistenceError>
}

/** How long what is not state is kept, measured against the head's clock. */
export interface Retention {
  /** Age of journal rows, in milliseconds. Default 30 days. */
  readonly journalMillis: number
  /** Characters of journal text. Default 1 GiB. */
  readonly journalBytes: number
  /** Age of receipt rows with a digest, in milliseconds, from when they were written; a store may count from some 256 rows later. Default 7 days. */
  readonly receiptMillis: number
  /** How long content is kept that nothing mentions any more, or not yet, in milliseconds. Default 24 hours. */
  readonly contentMillis: number
}

/** What is kept unless the configuration says otherwise. */
export const retention: Retention = {
  journalMillis: 30 * 86_400_000,
  journalBytes: 1_073_741_824,
  receiptMillis: 7 * 86_400_000,
  contentMillis: 86_400_000
}

export interface OpenOptions {
  /** Creates the space where there is none. */
  readonly create: boolean
  readonly retention?: Partial<Retention>
  /** The digest of a journal row's text, by which rows are checked when they are read. Without it they are not. */
  readonly digest?: (text: string) => string
}

/**
 * Opens the stores of spaces.
 *
 * @category services
 * @since 0.1.0
 */
export class Persistence extends Context.Service<Persistence, {
  /** Opens a space's store until the scope closes. */
  readonly open: (space: string, options: OpenOptions) => Effect.Effect<SpaceStore, PersistenceError, Scope.Scope>
  /**
   * The moment that the last flush of a space set, read without opening it: at most a second earlier, never later. 0 before
   * the first flush.
   */
  readonly due: (space: string) => Effect.Effect<number | undefined, PersistenceError>
  /** The names of the spaces there are, in code-unit order. */
  readonly spaces: Effect.Effect<ReadonlyArray<string>, PersistenceError>
}>()("systole/persistence/Persistence") {}

const spaceName = /^[a-z0-9][a-z0-9-]{0,62}$/

/**
 * Throws unless `space` can name a space.
 *
 * @throws PersistenceError
 * @category guards
 * @since 0.1.0
 */
export const checkSpaceName = (space: string): void => {
  if (!spaceName.test(space)) throw new PersistenceError({ reason: new InvalidSpaceName({ space: String(space) }) })
}
