/**
 * A pin of a space: its state as of one durable beat, for an export while later beats run.
 *
 * Documents are those of the present with the later changes undone, and the store copies what it deletes or replaces. A pin ends by
 * itself once both take too much memory, or when it is too old.
 *
 * @module
 */
import * as Data from "effect/Data"
import { NotReplayable } from "../history/NotReplayable.ts"
import type { Anchor, BlobPart, Head, JournalRow, Observed, PinnedRows, QueueRow, ReceiptRow } from "../../persistence/Persistence.ts"
import { HistoricStore } from "../history/HistoricStore.ts"
import type { LiveState } from "../beat/loop/LiveState.ts"
import type { OutputBarrier } from "../beat/loop/OutputBarrier.ts"
import type { Turn } from "../model/Pacemaker.ts"
import { origin } from "../model/SpaceMode.ts"

/** The most characters of all copies of a pin: 16 MiB. */
export const MAX_COPIES = 16_777_216

/** The longest time of a pin, in milliseconds: 1 hour. */
export const MAX_MILLIS = 3_600_000

/** The longest step of a reader of a pin, in milliseconds. */
const STEP_MILLIS = 1

/** The most characters or bytes of rows in a step, as far as whole rows go: clocks of hosts are coarse, or stand still in a turn. */
const STEP_SIZE = 49_152

/** Greater than each key. */
const END = "0"

/**
 * A pin ended: the space changed too much since, or it is too old.
 */
export class ExportOutrun extends Data.TaggedError("ExportOutrun")<{ readonly space: string; readonly reason: string }> {
  readonly code = "export/outrun"
  override get message() {
    return `The export of space "${this.space}" ended: ${this.reason}. Export it again at a quieter time, or to a faster place`
  }
}

/** The members of the state of a space that pins use. */
export type State = Pick<LiveState, "host" | "mode" | "number" | "space" | "store">

/** The parts of a space that pins use. */
export interface Parts {
  readonly barrier: Pick<OutputBarrier, "error">
  readonly turn: Turn
}

/**
 * The state of a space as of one durable beat. Its methods throw {@link ExportOutrun} when the space changed too much since, and
 * the failure of the space when it stopped.
 */
export class Pin {
  readonly space: string
  /** The name of the space with its incarnation. */
  readonly origin: string
  /** The location of its data, for messages. */
  readonly place: string
  /** The beat. */
  readonly head: Head
  /** The predecessor of the oldest journal row. */
  readonly anchor: Anchor
  /** Whether the space is a copy that was not released. */
  readonly isDetached: boolean
  private readonly parts: Parts
  private readonly host: State["host"]
  private readonly store: State["store"]
  private readonly kept: PinnedRows
  private readonly historic: HistoricStore
  private readonly began: number
  private since: number
  /** The size of the rows since then. */
  private taken = 0

  constructor({ host, mode, number, space, store }: State, parts: Parts) {
    this.space = space
    this.isDetached = mode.detached !== undefined
    this.origin = origin(mode, space)
    this.place = store.place
    this.head = store.head()
    this.store = store
    this.parts = parts
    this.host = host
    this.kept = store.pin(number())
    this.anchor = this.kept.anchor
    this.historic = HistoricStore.present(store, MAX_COPIES)
    this.began = this.since = host.now()
  }

  /** Ends the pin. */
  release(): void {
    this.kept.release()
  }

  /**
   * Call it after a row with its size in characters or bytes, and wait for its promise: a reader of a pin works at most 1 ms in a turn
   * of the host.
   */
  rest(size = 0): Promise<void> | undefined {
    const { barrier, turn } = this.parts
    if (barrier.error !== undefined) throw barrier.error
    const now = this.host.now()
    if (now - this.began > MAX_MILLIS) throw this.outrun("it takes more than an hour")
    const copies = this.kept.size + this.historic.past.held
    if (copies > MAX_COPIES) throw this.outrun(`more than ${MAX_COPIES} characters changed since its begin`)
    this.taken += size
    if (now - this.since < STEP_MILLIS && this.taken < STEP_SIZE) return undefined
    return new Promise<void>((resolve) => turn(() => {
      this.since = this.host.now()
      this.taken = 0
      resolve()
    }))
  }

  /** Takes back what changed since the last call, in steps. */
  async follow(): Promise<void> {
    try {
      await this.historic.past.takeBack({ rest: () => this.rest() })
    } catch (error) {
      throw this.failureOf(error)
    }
  }

  /** At most `limit` keys of documents after one, in order. */
  keys(after: string, limit: number): ReadonlyArray<string> {
    return this.bounded(() => this.historic.below("/", { after, limit }))
  }

  /** The text of a document. */
  read(key: string): string | undefined {
    return this.bounded(() => this.historic.read(key))
  }

  /** No document up to this key is read again, or none at all. */
  pass(key = END): void {
    this.historic.past.pass(key)
  }

  /** The journal rows from a beat on, in order. */
  journal(from: number): Iterable<JournalRow> {
    return this.store.scanJournal(from, this.head.beat)
  }

  /** The queued signals in the order of their numbers, some with each step. */
  queue(): Iterable<ReadonlyArray<QueueRow>> {
    return this.kept.queue()
  }

  /** The receipts of the beats after one in the order of beat, id and enzyme, some with each step. `after` is -1 for all. */
  receipts(after: number): Iterable<ReadonlyArray<ReceiptRow>> {
    return this.kept.receipts(this.head.beat, after)
  }

  /** The observations in the order of their nodes. */
  observations(): ReadonlyArray<Observed> {
    return this.kept.observations()
  }

  /** Part number `part` of content; `undefined` for content that is absent or came later. */
  blobPart(hash: string, part: number): BlobPart | undefined {
    return this.kept.isNew(hash) ? undefined : this.store.blobPart(hash, part)
  }

  /** Whether content is the text of a module. */
  isCode(hash: string): boolean {
    return this.store.isCode(hash)
  }

  private outrun(reason: string): ExportOutrun {
    return new ExportOutrun({ space: this.space, reason })
  }

  private failureOf(error: unknown): unknown {
    return error instanceof NotReplayable ? this.outrun(`more than ${MAX_COPIES} characters changed since its begin`) : error
  }

  private bounded<A>(body: () => A): A {
    try {
      return body()
    } catch (error) {
      throw this.failureOf(error)
    }
  }
}
