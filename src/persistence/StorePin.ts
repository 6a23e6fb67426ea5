/**
 * A pin: the state of a store at one moment, beside later changes.
 *
 * The rows of the queue, observations and receipts that a later batch deletes or replaces are copied before it. Documents are not:
 * the journal has their versions.
 *
 * @module
 */
import type { Backend } from "./Backend.ts"
import type { Anchor, Batch, Observed, PinnedRows, QueueRow, ReceiptRow } from "./Persistence.ts"
import * as ReceiptOrder from "./ReceiptOrder.ts"

/** Rows of a page of the queue. */
const PAGE = 64

/** Rows of the store that a pin reads. */
type Rows = Pick<Backend, "anchor" | "everyReceipt" | "holds" | "observation" | "observations" | "queue" | "queued" | "receipts">

/** The characters of a row beside its texts, as a copy counts them. */
const ROW = 64

/**
 * The pinned state of one store.
 */
export class StorePin implements PinnedRows {
  /** The predecessor of the oldest journal row. Nothing is pruned while there is a pin. */
  readonly anchor: Anchor
  /** Ends the pin. */
  readonly release: () => void
  /** The characters of all copies. */
  size = 0
  private readonly rows: Rows
  private readonly lastSeq: number
  /** The former row under each number, node and id that a later batch changed. */
  private readonly queued = new Map<number, QueueRow | undefined>()
  private readonly observed = new Map<string, string | undefined>()
  private readonly replaced = new Map<string, ReceiptRow>()
  private readonly came = new Set<string>()

  constructor(rows: Rows, lastSeq: number, release: () => void) {
    this.rows = rows
    this.lastSeq = lastSeq
    this.anchor = rows.anchor()
    this.release = release
  }

  /** Copies the rows that a batch deletes or replaces. */
  before({ blobs, dequeued, observations, queued, receipts }: Batch): void {
    for (const seq of dequeued) this.keepQueued(seq)
    for (const { seq } of queued) this.keepQueued(seq)
    for (const { node } of observations) this.keepObservation(node)
    for (const row of receipts) this.keepReceipt(row)
    for (const { hash } of blobs) this.beforeContent(hash)
  }

  /** Notes content that comes later. */
  beforeContent(hash: string): void {
    if (!this.came.has(hash) && !this.rows.holds(hash)) this.came.add(hash)
  }

  /** Whether content came later. */
  isNew(hash: string): boolean {
    return this.came.has(hash)
  }

  private keepQueued(seq: number): void {
    if (seq > this.lastSeq || this.queued.has(seq)) return
    const [row] = this.rows.queued(seq, 1)
    this.queued.set(seq, row?.seq === seq ? row : undefined)
    if (row?.seq === seq) this.size += ROW + row.text.length
  }

  private keepObservation(node: string): void {
    if (this.observed.has(node)) return
    const text = this.rows.observation(node)
    this.observed.set(node, text)
    this.size += ROW + node.length + (text?.length ?? 0)
  }

  private keepReceipt({ beat, enzyme, id }: ReceiptRow): void {
    const key = `${id} ${enzyme}`
    if (this.replaced.has(key)) return
    const row = this.rows.receipts(id).find((row) => row.enzyme === enzyme)
    if (row === undefined || row.beat === beat) return
    this.replaced.set(key, row)
    this.size += ROW + key.length
  }

  /** The queued signals in the order of their numbers, in pages. */
  *queue(): Iterable<ReadonlyArray<QueueRow>> {
    for (let after = -1; ;) {
      const page = this.rows.queue(after, PAGE)
      const last = page.length < PAGE ? Infinity : page.at(-1)!.seq
      const kept = page.filter(({ seq }) => seq <= this.lastSeq && !this.queued.has(seq))
      for (const [seq, row] of this.queued) if (row !== undefined && seq > after && seq <= last) kept.push(row)
      yield kept.sort((a, b) => a.seq - b.seq)
      if (last >= this.lastSeq) return
      after = last
    }
  }

  /** The observations in the order of their nodes. */
  observations(): ReadonlyArray<Observed> {
    const found: Array<Observed> = []
    for (const { node, text } of this.rows.observations()) if (text !== undefined && !this.observed.has(node)) found.push({ node, text })
    for (const [node, text] of this.observed) if (text !== undefined) found.push({ node, text })
    return found.sort((a, b) => a.node < b.node ? -1 : 1)
  }

  /** The receipts of beats up to the head, and after `after`, in their order, in pages. */
  *receipts(head: number, after = -1): Iterable<ReadonlyArray<ReceiptRow>> {
    let done: ReceiptRow | undefined
    const isLeft = (row: ReceiptRow): boolean =>
      row.beat <= head && row.beat > after && (done === undefined || ReceiptOrder.compare(row, done) > 0)
    for (const page of this.rows.everyReceipt(after)) {
      const last = page.at(-1)
      const copies = last === undefined ? [] : [...this.replaced.values()].filter((row) => ReceiptOrder.compare(row, last) <= 0)
      const rows = ReceiptOrder.sorted([...page, ...copies].filter(isLeft))
      yield rows
      done = last ?? done
    }
    yield ReceiptOrder.sorted([...this.replaced.values()].filter(isLeft))
  }
}
