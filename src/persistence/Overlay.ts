/**
 * The overlay: the group under construction, readable at once and not yet durable.
 *
 * It keeps only the net effect. A signal that is queued and dequeued within the group leaves no row, and a document
 * written in each beat is one row. A flush hands the overlay to the backend, and a new overlay replaces it.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import type { Content, Group } from "./Backend.ts"
import type { Anchor, Arrival, Batch, CellRow, Head, JournalRow, Jump, ObservationRow, QueueRow, ReceiptRow } from "./Persistence.ts"

/**
 * The batches appended since the last flush.
 */
export class Overlay implements Group {
  readonly base: Head
  head: Head
  due: number | undefined
  jumps: ReadonlyArray<Jump>
  /** Whether the overlay is unchanged. */
  empty = true
  readonly cells = new Map<string, CellRow>()
  readonly journal: Array<JournalRow> = []
  readonly receipts = new Map<string, Array<ReceiptRow>>()
  readonly queued = new Map<number, QueueRow>()
  readonly dequeued = new Set<number>()
  readonly blobs = new Map<string, Content>()
  readonly observations = new Map<string, ObservationRow>()
  arrival: Arrival | undefined
  anchor: Anchor | undefined
  before: number | undefined
  /** The documents of `cells` in order of arrival. The first `indexed` ones are indexed by their parents. */
  private readonly touched: Array<Address.Address> = []
  private readonly byParent = new Map<string, Array<Address.Address>>()
  private indexed = 0
  /** The queue rows that have an id. The first `filed` ones are indexed by that id. */
  private readonly named: Array<QueueRow> = []
  private readonly byId = new Map<string, Array<QueueRow>>()
  private filed = 0

  constructor(head: Head, { due, jumps }: Pick<Group, "due" | "jumps">) {
    this.due = due
    this.jumps = jumps
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

  arrive(arrival: Arrival, from: Head | undefined): void {
    this.empty = false
    this.arrival = arrival
    if (from === undefined) return
    this.head = from
    this.anchor = { beat: from.beat, hash: from.hash }
  }

  prune(before: number): void {
    this.empty = false
    this.before = before
  }

  isCode(hash: string): boolean {
    const content = this.blobs.get(hash)
    return content !== undefined && "code" in content && content.code
  }

  addBlob(hash: string, content: Content): void {
    this.empty = false
    this.blobs.set(hash, content)
  }

  /** Returns the documents that were written directly below the one with this key. */
  writtenBelow(parentKey: string): ReadonlyArray<Address.Address> | undefined {
    for (const address of this.touched.slice(this.indexed)) {
      const key = parentOf(address)
      const siblings = this.byParent.get(key)
      if (siblings === undefined) this.byParent.set(key, [address])
      else siblings.push(address)
    }
    this.indexed = this.touched.length
    return this.byParent.get(parentKey)
  }

  /** Returns the queued signals with an id. */
  waiting(id: string): ReadonlyArray<QueueRow> {
    for (const row of this.named.slice(this.filed)) {
      if (row.id === undefined) continue
      const rows = this.byId.get(row.id)
      if (rows === undefined) this.byId.set(row.id, [row])
      else rows.push(row)
    }
    this.filed = this.named.length
    return this.byId.get(id)?.filter((row) => this.queued.get(row.seq) === row) ?? []
  }

  /** Returns the ids of the receipts with this own id, newest first. */
  ownedBy(own: string): ReadonlyArray<string> {
    const ids: Array<string> = []
    for (const [id, rows] of this.receipts) if (rows.some((row) => row.own === own)) ids.push(id)
    return ids.reverse()
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
 * Returns the key of a document's parent in the same scope.
 */
export const parentOf = (address: Address.Address): string => keyOf(address.scope, Address.parent(address.id))

/**
 * Returns the key of a document.
 */
export const keyOf = (scope: string, id: string): string => scope === Address.SPACE ? id : Address.make(id, { scope }).key
