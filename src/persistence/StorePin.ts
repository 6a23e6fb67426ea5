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

/** Copied rows in their order. They mostly come in it, so an addition costs the search for its place. */
class Copies<Row> {
  private readonly rows: Array<Row> = []
  private readonly compare: (a: Row, b: Row) => number

  constructor(compare: Copies<Row>["compare"]) {
    this.compare = compare
  }

  add(row: Row): void {
    this.rows.splice(this.placeAfter(row), 0, row)
  }

  /** At most `limit` rows after one, up to another. */
  between(after: Row | undefined, last: Row | undefined, limit = Infinity): ReadonlyArray<Row> {
    const from = after === undefined ? 0 : this.placeAfter(after)
    const to = last === undefined ? this.rows.length : this.placeAfter(last)
    return this.rows.slice(from, Math.min(to, from + limit))
  }

  private placeAfter(row: Row): number {
    let [low, high] = [0, this.rows.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const found = this.rows[middle]
      if (found !== undefined && this.compare(found, row) <= 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

const bySeq = (a: Pick<QueueRow, "seq">, b: Pick<QueueRow, "seq">): number => a.seq - b.seq

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
  /** The numbers, nodes and ids that a later batch changed, and the former rows. */
  private readonly queued = new Set<number>()
  private readonly queuedRows = new Copies<QueueRow>(bySeq)
  private readonly observed = new Map<string, string | undefined>()
  private readonly replaced = new Set<string>()
  private readonly replacedRows = new Copies<ReceiptRow>(ReceiptOrder.compare)
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
    this.queued.add(seq)
    if (row?.seq !== seq) return
    this.queuedRows.add(row)
    this.size += ROW + row.text.length
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
    this.replaced.add(key)
    this.replacedRows.add(row)
    this.size += ROW + key.length
  }

  /** The queued signals in the order of their numbers, in pages. */
  *queue(): Iterable<ReadonlyArray<QueueRow>> {
    for (let after = -1; ;) {
      const page = this.rows.queue(after, PAGE)
      const copies = this.queuedRows.between({ seq: after, text: "" }, undefined, PAGE)
      // The next page has the rest of the longer list.
      const [last = Infinity] = [page, copies].flatMap((rows) => rows.length < PAGE ? [] : rows.at(-1)?.seq ?? []).sort((a, b) => a - b)
      const kept = page.filter(({ seq }) => seq <= this.lastSeq && !this.queued.has(seq))
      yield [...kept, ...copies].filter(({ seq }) => seq <= last).sort(bySeq)
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
      const copies = last === undefined ? [] : this.replacedRows.between(done, last)
      const rows = ReceiptOrder.sorted([...page, ...copies].filter(isLeft))
      yield rows
      done = last ?? done
    }
    yield ReceiptOrder.sorted(this.replacedRows.between(done, undefined).filter(isLeft))
  }
}
