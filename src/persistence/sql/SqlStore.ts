/**
 * Spaces in SQLite on any host: all SQL of the runtime, over a small driver.
 *
 * One flush is one transaction. It first checks that epoch and head are still this handle's, so a superseded writer
 * changes no data.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Address from "../../cell/Address.ts"
import { arrivalAfter, attempt, type Backend, checkHead, type Content, type Group, PART } from "../Backend.ts"
import * as GroupStore from "../GroupStore.ts"
import * as IdempotencyIndex from "./IdempotencyIndex.ts"
import type { BloomFilter } from "./BloomFilter.ts"
import * as ChildNames from "./ChildNames.ts"
import * as ContentReferences from "../ContentReferences.ts"
import * as LongTexts from "./LongTexts.ts"
import {
  type Anchor, type Arrival, type BlobPart, checkSpaceName, type Head, type JournalRow, type ObservationRow, type OpenOptions,
  Persistence, type Progress, type QueueRow, type ReceiptRow, retention
} from "../Persistence.ts"
import { type Budget, Pruning, sizeOf } from "../Pruning.ts"
import * as RowChecksums from "./RowChecksums.ts"
import { ReceiptScan } from "./ReceiptScan.ts"
import * as SqlArrival from "./SqlArrival.ts"
import * as SortKey from "../SortKey.ts"
import { filterOf, SqlContent } from "./SqlContent.ts"
import type { SqlDriver, SqlSource } from "./SqlDriver.ts"
import { begin, progressIn, progressOf, readMeta, readTurn } from "./SqlOpening.ts"
import { prune } from "./SqlRetention.ts"
import type { SqlRows } from "./SqlRows.ts"
import type * as SqlSchema from "./SqlSchema.ts"
import { SqlWriter } from "./SqlWriter.ts"
import type * as StoreFormat from "../StoreFormat.ts"

/**
 * The number of receipts with a digest from which a flush writes them into rows. Fewer are noted in the journal row,
 * which is written in any case.
 */
const MANY_CALLERS = 32

class SqlBackend implements Backend {
  readonly space: string
  readonly place: string
  readonly head: Head
  readonly due: number | undefined
  readonly sync: Backend["sync"]
  readonly formats: StoreFormat.Formats
  private readonly driver: SqlDriver
  private readonly sql: SqlSchema.Statements
  private readonly pruning: Pruning
  /** The receipts with a digest, and the ids of the others. */
  private readonly callers: IdempotencyIndex.IdempotencyIndex
  private readonly pointed: BloomFilter
  private readonly content: SqlContent
  private readonly rows: SqlRows
  private readonly texts: LongTexts.LongTexts
  /** The size of the journal, in characters. */
  private journalSize: number
  private lastUpload = 0
  private readonly writer: SqlWriter
  private storedDue: number | undefined
  /** Whether nothing was committed since the store was created, so that reads need no queries. */
  private isBlank: boolean
  private arriving: Arrival | undefined

  constructor(space: string, driver: SqlDriver, options: OpenOptions) {
    this.space = space
    this.driver = driver
    this.place = driver.place
    this.sync = driver.sync
    const { arrival, due, formats, head, isNew, journalSize, notes, rows, sql, texts, writer } = begin(space, driver, options)
    this.isBlank = isNew
    this.arriving = arrival
    this.pruning = new Pruning({ ...retention, ...options.retention }, isNew)
    this.sql = sql
    this.rows = rows
    this.texts = texts
    this.journalSize = journalSize
    this.callers = new IdempotencyIndex.IdempotencyIndex(this.sql, rows, { isNew, notes })
    this.content = new SqlContent(this.sql, isNew)
    this.pointed = filterOf({ span: this.sql.receiptSpan, after: this.sql.receiptsAfter, isNew })
    this.writer = new SqlWriter(space, { driver, sql, opened: writer })
    this.formats = this.writer.formats(formats, () => texts.hasTable)
    this.head = head
    this.due = due
    this.storedDue = due
  }

  get epoch(): number {
    return this.writer.epoch
  }

  anchor(): Anchor {
    return readMeta(this.sql).anchor
  }

  arrival(): Arrival | undefined {
    return this.arriving
  }

  progress(): Progress {
    return progressOf(this.sql)
  }

  pin(isPinned: boolean): void {
    this.pruning.isPinned = isPinned
  }

  read(key: string): string | undefined {
    return this.isBlank ? undefined : this.rows.cell(SortKey.encode(key))
  }

  children(scope: string, id: string): ReadonlyArray<string> {
    return this.isBlank ? [] : ChildNames.of(this.sql, scope, id)
  }

  below(id: string, after: string, limit: number): ReadonlyArray<string> {
    if (this.isBlank) return []
    const prefix = Address.child(id, "")
    const { end } = SortKey.range(SortKey.encode(prefix))
    return this.sql.below.all(SortKey.encode(after > prefix ? after : prefix), end, limit).map((row) => SortKey.decode(row[0] as string))
  }

  journal(from: number, to: number, limit: number): Iterable<JournalRow> {
    return this.rows.journal(from, to, limit)
  }

  receipts(id: string): ReadonlyArray<ReceiptRow> {
    const rows = this.pointed.mayHave(id) ? this.rows.receipts(id) : []
    const caller = this.callers.find(id)
    if (caller !== undefined) rows.push(caller)
    return rows
  }

  named(own: string, limit: number): ReadonlyArray<string> { return this.callers.named(own, limit) }

  queue(after: number, limit: number): ReadonlyArray<QueueRow> {
    return this.isBlank ? [] : this.rows.queue(after, limit)
  }

  queued(seq: number, limit: number): ReadonlyArray<QueueRow> {
    return this.queue(seq - 1, limit)
  }

  waiting(id: string): ReadonlyArray<QueueRow> {
    return this.rows.waiting(id)
  }

  observations(): Array<ObservationRow> {
    return this.isBlank ? [] : this.rows.observations()
  }

  observation(node: string): string | undefined {
    return this.rows.observed(node)
  }

  everyReceipt(after: number): Iterable<ReadonlyArray<ReceiptRow>> {
    return new ReceiptScan(this.callers, this.rows).rows(after)
  }

  blob(hash: string): Uint8Array | undefined {
    const place = this.rows.place(hash)
    return place === undefined ? undefined : this.rows.bytes(place)
  }

  blobPart(hash: string, part: number): BlobPart | undefined {
    return this.rows.blobPart(hash, part)
  }

  isCode(hash: string): boolean {
    return this.rows.isCode(hash)
  }

  holds(hash: string): boolean {
    return this.sql.blob.get(hash) !== undefined
  }

  undated(): ReadonlyArray<string> {
    return this.isBlank ? [] : this.sql.undatedBlobs.all().map((row) => row[0] as string)
  }

  startUpload(): number {
    return ++this.lastUpload
  }

  writePart(upload: number, part: number, bytes: Uint8Array): void {
    if (part === 0) {
      this.writer.upload()
      this.sql.startUpload.run(this.epoch, upload)
    }
    this.addPart(upload, part, bytes)
  }

  readUpload(upload: number): Uint8Array {
    return this.rows.bytes([this.epoch, upload])
  }

  dropUpload(upload: number): void {
    this.writer.drop(this.epoch, upload)
  }

  commit(group: Group): void {
    this.isBlank = false
    this.driver.transaction(() => {
      const { head, writer } = readTurn(this.sql)
      this.writer.take(writer, group.journal.length === 0)
      checkHead(this.space, group, head)
      this.commitArrival(group)
      this.commitCells(group)
      const budget = this.pruning.budget(group)
      const callers = this.commitReceipts(group)
      const isGathering = budget !== undefined || callers.length >= MANY_CALLERS || (callers.length > 0 && group.journal.length === 0)
      this.commitJournal(group, callers.length === 0 || isGathering ? null : IdempotencyIndex.noteOf(callers))
      this.commitQueue(group)
      this.commitObservations(group)
      for (const [hash, content] of group.blobs) this.commitBlob(hash, content)
      this.content.date(group.journal, group.head.clock + this.pruning.retention.contentMillis)
      if (isGathering) this.gather(group, budget)
      if (group.due !== this.storedDue) this.driver.setDue(group.due)
    })
    this.storedDue = group.due
    this.arriving = arrivalAfter(group, this.arriving)
  }

  close(): void {
    this.driver.close()
  }

  *examine(): Iterable<void> {
    yield* this.rows.examine()
  }

  private addPart(upload: number, part: number, bytes: Uint8Array): void {
    this.sql.addPart.run(this.epoch, upload, part, RowChecksums.part(part, bytes), bytes)
  }

  private commitArrival(group: Group): void {
    const { anchor, arrival } = group
    if (anchor !== undefined) this.sql.setMeta.run(anchor.beat, this.journalSize, anchor.beat, anchor.hash)
    if (arrival !== undefined) SqlArrival.put(this.driver, arrival)
    else if (this.arriving !== undefined && arrivalAfter(group, this.arriving) === undefined) SqlArrival.end(this.driver)
  }

  private commitCells(group: Group): void {
    const { deleteCells, putCells } = this.sql
    const put: Array<string | number | null> = []
    const gone: Array<string> = []
    // In the order of the keys, so that neighbouring rows meet the same pages.
    for (const [key, { address, text }] of [...group.cells].sort(([a], [b]) => a < b ? -1 : 1)) {
      const stored = SortKey.encode(key)
      this.content.hold(key, text)
      this.texts.drop("cell", stored)
      if (text === undefined) gone.push(stored)
      if (text === undefined) continue
      const first = this.texts.put("cell", stored, text)
      put.push(stored, ChildNames.parentOf(address), LongTexts.mark(RowChecksums.cell(stored, text), first === text), first)
    }
    putCells.run(put)
    deleteCells.run(gone)
  }

  private commitObservations(group: Group): void {
    for (const [node, { text }] of group.observations) {
      this.texts.drop("observation", node)
      if (text === undefined) this.sql.dropObservation.run(node)
      else {
        const first = this.texts.put("observation", node, text)
        this.sql.putObservation.run(node, LongTexts.mark(RowChecksums.observation(node, text), first === text), first)
      }
    }
  }

  /** Inserts the journal rows; the last one takes the note of receipts. */
  private commitJournal({ head, journal }: Group, note: string | null): void {
    for (const row of journal) {
      const size = sizeOf(row)
      const callers = row.beat === head.beat ? note : null
      const sum = RowChecksums.journal({ beat: row.beat, clock: row.clock, size, hash: row.hash, callers, text: row.text })
      const first = this.texts.put("journal", row.beat, row.text)
      this.sql.addJournal.run(row.beat, row.clock, size, row.hash, LongTexts.mark(sum, first === row.text), callers, first)
      this.journalSize += size
    }
  }

  /** Inserts receipts. Returns the ones with a digest, to be noted or gathered. */
  private commitReceipts(group: Group): ReadonlyArray<ReceiptRow> {
    const { putReceipt } = this.sql
    const callers: Array<ReceiptRow> = []
    const pointed: Array<string> = []
    for (const [id, rows] of group.receipts) {
      for (const row of rows) {
        if (row.digest !== undefined) {
          callers.push(row)
          continue
        }
        putReceipt.run(id, row.enzyme, row.beat, RowChecksums.receipt(id, row.enzyme, row.beat))
        pointed.push(id)
      }
    }
    this.callers.add(callers)
    this.pointed.add(pointed)
    return callers
  }

  /** Writes the receipts that only the journal notes into rows, and prunes within the budget. */
  private gather(group: Group, budget: Budget | undefined): void {
    const { head } = group
    this.callers.gather(head.clock)
    const { anchor } = readMeta(this.sql)
    const pruned = budget === undefined ? { anchor, size: 0 } : this.prune(group, budget, anchor)
    this.journalSize -= pruned.size
    this.sql.setMeta.run(head.beat, this.journalSize, pruned.anchor.beat, pruned.anchor.hash)
  }

  private prune(group: Group, budget: Budget, anchor: Anchor): ReturnType<typeof prune> {
    const { callers, content, journalSize: size, pruning, sql, texts } = this
    return prune({ callers, content, pruning, sql, texts }, group, { anchor, budget, size })
  }

  private commitQueue(group: Group): void {
    for (const seq of group.dequeued) {
      this.content.hold(ContentReferences.waiting(seq), undefined)
      this.texts.drop("queue", seq)
    }
    this.sql.dequeue.run([...group.dequeued])
    const put: Array<string | number | null> = []
    for (const [seq, { id, text }] of group.queued) {
      this.content.hold(ContentReferences.waiting(seq), text)
      this.texts.drop("queue", seq)
      const first = this.texts.put("queue", seq, text)
      put.push(seq, id ?? null, LongTexts.mark(RowChecksums.queued(seq, id ?? null, text), first === text), first)
    }
    this.sql.enqueue.run(put)
  }

  private commitBlob(hash: string, content: Content): void {
    this.content.came()
    if (this.holds(hash)) {
      this.sql.renewBlob.run(hash)
      if ("upload" in content) this.dropUpload(content.upload)
      return
    }
    const upload = "upload" in content ? content.upload : this.startUpload()
    if ("bytes" in content) {
      const { bytes } = content
      for (let at = 0, part = 0; at < bytes.length; at += PART, part++) this.addPart(upload, part, bytes.subarray(at, at + PART))
    }
    if ("upload" in content) this.sql.endUpload.run(this.epoch, upload)
    const code = "code" in content && content.code ? 1 : 0
    this.sql.addBlob.run(hash, this.epoch, upload, RowChecksums.blob([hash, this.epoch, upload, code]), code)
  }
}

const openBackend = (source: SqlSource, space: string, options: OpenOptions): Backend => {
  checkSpaceName(space)
  const driver = source.open(space, options)
  try {
    return new SqlBackend(space, driver, options)
  } catch (cause) {
    driver.close()
    throw cause
  }
}

/**
 * A layer of {@link Persistence} over the databases of a source.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (source: SqlSource): Layer.Layer<Persistence> =>
  Layer.succeed(Persistence, {
    open: (space, options) => GroupStore.scoped(attempt(() => openBackend(source, space, options)), options),
    progress: (space) => attempt(() => {
      checkSpaceName(space)
      return source.look(space, (driver) => progressIn(space, driver))
    }),
    due: (space) => Effect.flatMap(attempt(() => checkSpaceName(space)), () => attempt(() => source.due(space))),
    remove: (space) => Effect.flatMap(attempt(() => checkSpaceName(space)), () => source.remove(space)),
    spaces: attempt(() => source.spaces()),
    ready: attempt(() => source.ready?.())
  })
