/**
 * The data of a space in memory.
 *
 * @module
 */
import type { Writer } from "../Backend.ts"
import type { Anchor, Arrival, Head, JournalRow, ObservationRow, QueueRow, ReceiptRow } from "../Persistence.ts"
import * as StoreFormat from "../StoreFormat.ts"
import { MemoryContent } from "./MemoryContent.ts"
import type { SortedKeys } from "./SortedKeys.ts"

/** The data of a space, which outlives its handles. */
export class Space {
  formats = StoreFormat.initial
  writer: Writer = { epoch: 0, asides: 0 }
  due: number | undefined = 0
  arrival: Arrival | undefined
  head: Head = { beat: -1, clock: 0, hash: "" }
  readonly cells = new Map<string, string>()
  readonly names = new Map<string, Set<string>>()
  /** All keys in order, as of the newest read of keys below a cell. */
  keys: SortedKeys | undefined
  /** Keys that came or went since that read. */
  readonly changed = new Set<string>()
  readonly journal: Array<JournalRow> = []
  journalSize = 0
  anchor: Anchor = { beat: -1, hash: "" }
  /** Receipts by the signal's id. */
  readonly receipts = new Map<string, ReadonlyArray<ReceiptRow>>()
  /** The ids with a digest, each with the clock of the group that last wrote it, in order of age. */
  readonly callers = new Map<string, number>()
  /** The id with each own id: almost always one, so only several are a set, in order of age. */
  readonly owned = new Map<string, string | Set<string>>()
  /** The ids of the receipts that are stored with the journal row of a beat. */
  readonly pointers = new Map<number, Array<string>>()
  readonly queue = new Map<number, QueueRow>()
  /** The numbers of the rows with an id. */
  readonly waiting = new Map<string, Set<number>>()
  /** All numbers of the queue in order, computed on demand. */
  numbers: ReadonlyArray<number> | undefined
  readonly content = new MemoryContent()
  readonly observations = new Map<string, ObservationRow>()
}
