/**
 * The overlay: the group in the making, readable at once and not yet durable.
 *
 * It keeps the net effect only. A signal that is queued and dequeued within
 * the group leaves nothing, a document that is written in each beat is one row
 * with its last text. A flush hands it to the backend, and another overlay follows.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Content, Group } from "./Backend.ts"
import type { Batch, CellRow, Head, JournalRow, ObservationRow, QueueRow, ReceiptRow } from "./Persistence.ts"

/**
 * What was appended since the last flush.
 *
 * @category models
 * @since 0.1.0
 */
export class Overlay implements Group {
  readonly base: Head
  head: Head
  due: number | undefined
  /** Whether nothing was added. */
  empty = true
  readonly cells = new Map<string, CellRow>()
  readonly journal: Array<JournalRow> = []
  readonly receipts = new Map<string, Array<ReceiptRow>>()
  readonly queued = new Map<number, QueueRow>()
  readonly dequeued = new Set<number>()
  readonly blobs = new Map<string, Content>()
  readonly observations = new Map<string, ObservationRow>()
  /** The documents of `cells` in the order they came, of which the first `indexed` are filed below their parents. */
  private readonly touched: Array<Address.Address> = []
  private readonly byParent = new Map<string, Array<Address.Address>>()
  private indexed = 0
  /** The rows of the queue that came with an id, of which the first `filed` are filed under it. */
  private readonly named: Array<QueueRow> = []
  private readonly byId = new Map<string, Array<QueueRow>>()
  private filed = 0

  constructor(head: Head, due: number | undefined) {
    this.due = due
    this.base = head
    this.head = head
  }

  add(batch: Batch): void {
    this.empty = false
    for (const row of batch.cells) {
      const { key } = row.address
      const before = this.cells.size
      this.cells.set(key, row)
      if (this.cells.size !== before) this.touched.push(row.address)
    }
    for (const row of batch.receipts) this.addReceipt(row)
    for (const row of batch.queued) {
      this.queued.set(row.seq, row)
      if (row.id !== undefined) this.named.push(row)
    }
    for (const seq of batch.dequeued) if (!this.queued.delete(seq)) this.dequeued.add(seq)
    for (const { bytes, code, hash } of batch.blobs) this.blobs.set(hash, { bytes, code: code === true || this.isCode(hash) })
    for (const row of batch.observations) this.observations.set(row.node, row)
    const { entry } = batch
    if (entry === undefined) return
    this.journal.push(entry)
    this.head = { beat: entry.beat, clock: entry.clock, hash: entry.hash }
  }

  isCode(hash: string): boolean {
    const content = this.blobs.get(hash)
    return content !== undefined && "code" in content && content.code
  }

  addBlob(hash: string, content: Content): void {
    this.empty = false
    this.blobs.set(hash, content)
  }

  /** The documents that were written directly below the one with this key. */
  writtenBelow(parentKey: string): ReadonlyArray<Address.Address> | undefined {
    for (; this.indexed < this.touched.length; this.indexed++) {
      const address = this.touched[this.indexed]!
      const key = parentOf(address)
      const siblings = this.byParent.get(key)
      if (siblings === undefined) this.byParent.set(key, [address])
      else siblings.push(address)
    }
    return this.byParent.get(parentKey)
  }

  /** The signals that wait under an id. */
  waiting(id: string): ReadonlyArray<QueueRow> {
    for (; this.filed < this.named.length; this.filed++) {
      const row = this.named[this.filed]!
      const rows = this.byId.get(row.id!)
      if (rows === undefined) this.byId.set(row.id!, [row])
      else rows.push(row)
    }
    return this.byId.get(id)?.filter((row) => this.queued.get(row.seq) === row) ?? []
  }

  private addReceipt(row: ReceiptRow): void {
    const rows = this.receipts.get(row.id)
    if (rows === undefined) {
      this.receipts.set(row.id, [row])
      return
    }
    const known = rows.findIndex((other) => other.enzyme === row.enzyme)
    if (known < 0) rows.push(row)
    else rows[known] = row
  }
}

/**
 * The key of a document's parent in the same scope.
 *
 * @category getters
 * @since 0.1.0
 */
export const parentOf = (address: Address.Address): string => keyOf(address.scope, Address.parent(address.id))

/**
 * The key of a document.
 *
 * @category getters
 * @since 0.1.0
 */
export const keyOf = (scope: string, id: string): string => scope === Address.SPACE ? id : Address.make(id, { scope }).key
