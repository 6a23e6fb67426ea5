/**
 * Reads of a SQL store's rows, each verified against its checksum.
 *
 * @module
 */
import type { BlobPart, JournalRow, ObservationRow, QueueRow, ReceiptRow } from "../Persistence.ts"
import * as Bytes from "../../cell/Bytes.ts"
import * as Address from "../../cell/Address.ts"
import * as ChildNames from "./ChildNames.ts"
import * as LongTexts from "./LongTexts.ts"
import * as RowChecksums from "./RowChecksums.ts"
import * as SortKey from "../SortKey.ts"
import type { SqlRow } from "./SqlDriver.ts"
import * as SqlSchema from "./SqlSchema.ts"

/** Rows of one table that are verified together. */
const PAGE = 64

/** A row of the journal, in the order of its columns. */
type JournalColumns = readonly [beat: number, clock: number, size: number, hash: string, sum: number, callers: string | null, text: string]

/** The location of the parts of one content. */
type Place = readonly [epoch: number, upload: number]

/**
 * Reads the rows of one store. The methods throw {@link PersistenceError}.
 */
export class SqlRows {
  private readonly store: RowChecksums.Store
  private readonly sql: SqlSchema.Statements

  constructor(store: RowChecksums.Store, sql: SqlSchema.Statements) {
    this.store = store
    this.sql = sql
  }

  /** Returns the text of the document with a key in its stored form. */
  cell(stored: string): string | undefined {
    const row = this.sql.cell.get(stored)
    if (row === undefined) return undefined
    const [sum, first] = row as unknown as readonly [number, string]
    const text = LongTexts.isMarked(sum) ? LongTexts.whole(this.sql, ["cell", stored], first) : first
    // The message is built only on failure.
    if (LongTexts.unmark(sum) !== RowChecksums.cell(stored, text)) {
      throw RowChecksums.damagedRow(this.store, `the cell ${SortKey.decode(stored)}`)
    }
    return text
  }

  *journal(from: number, to: number, limit: number): Iterable<JournalRow> {
    for (const row of this.sql.journal.all(from, to, limit)) {
      const { beat, clock, hash, text } = this.entry(row)
      yield { beat, clock, text, hash }
    }
  }

  /** Throws if the journal row of a beat is damaged. */
  confirm(beat: number): void {
    for (const row of this.sql.journal.all(beat, beat, 1)) this.entry(row)
  }

  /** Returns the notes of receipts in journal rows after a beat. */
  notes(after: number): ReadonlyArray<string> {
    return this.sql.notes.all(after).flatMap((row) => this.entry(row).callers ?? [])
  }

  /** Returns the clock of a beat, or of the one before it that is kept; `-Infinity` where none is. */
  clockOf(beat: number): number {
    return (this.sql.clockOf.get(beat)?.[0] ?? -Infinity) as number
  }

  receipts(id: string): Array<ReceiptRow> {
    return this.sql.receipts.all(id).map((row) => this.receipt(row))
  }

  queue(after: number, limit: number): ReadonlyArray<QueueRow> {
    return this.sql.queue.all(after, limit).map((row) => this.queued(row))
  }

  waiting(id: string): ReadonlyArray<QueueRow> {
    return this.sql.waiting.all(id).map((row) => this.queued(row))
  }

  observed(node: string): string | undefined {
    const row = this.sql.observed.get(node)
    return row && this.observation(row).text
  }

  /** Returns receipts without a digest: those of whole beats after one, about `limit` or more of one beat, in any order. */
  receiptsAfter(beat: number, limit: number): ReadonlyArray<ReceiptRow> {
    const rows = this.sql.receiptsByBeat.all(beat, limit).map((row) => this.receipt(row))
    const last = rows.at(-1)?.beat
    if (last === undefined || rows.length < limit) return rows
    const whole = rows.filter((row) => row.beat < last)
    return whole.length > 0 ? whole : this.sql.receiptsOfBeat.all(last).map((row) => this.receipt(row))
  }

  observations(): Array<ObservationRow> {
    return this.sql.observations.all().map((row) => this.observation(row))
  }

  /** Returns the location of the parts of content. */
  place(hash: string): Place | undefined {
    const row = this.sql.blob.get(hash)
    return row === undefined ? undefined : this.blob(row)
  }

  isCode(hash: string): boolean {
    const row = this.sql.blob.get(hash)
    if (row !== undefined) this.blob(row)
    return row?.[4] === 1
  }

  bytes(place: Place): Uint8Array {
    return Bytes.concat(this.sql.parts.all(...place).map((row) => this.part(row, place)))
  }

  blobPart(hash: string, part: number): BlobPart | undefined {
    const place = this.place(hash)
    if (place === undefined) return undefined
    const row = this.sql.onePart.get(...place, part)
    const size = SqlSchema.numberOf(this.sql.sizeOfParts.get(...place))
    return { bytes: row === undefined ? new Uint8Array() : this.part(row, place), size }
  }

  /** Verifies each row except for journal rows, one page per step; throws at the first damaged row. */
  *examine(): Iterable<void> {
    yield* pages("", (after) => this.sql.everyCell.all(after, PAGE), (row) => this.listed(row))
    yield* pages(0, (after) => this.sql.callersAfter.all(after), (row) => this.callers(row))
    yield* pages(0, (after) => this.sql.everyReceipt.all(after, PAGE), ([age, ...row]) => {
      this.receipt(row)
      return age
    })
    yield* pages(-1, (after) => this.sql.queue.all(after, PAGE), (row) => this.queued(row).seq)
    yield* pages("", (after) => this.sql.everyObservation.all(after, PAGE), (row) => this.observation(row).node)
    yield* pages("", (after) => this.sql.everyBlob.all(after, 1), (row) => {
      const place = this.blob(row)
      for (const part of this.sql.parts.all(...place)) this.part(part, place)
      return row[0]
    })
  }

  /** Decodes the text of a row of callers' receipts. Returns its age. */
  callers([age, sum, text]: SqlRow): number {
    this.check(sum, RowChecksums.callers(age as number, text as string), () => `a row of receipts of age ${String(age)}`)
    return age as number
  }

  /** Verifies a cell and its entry among the names of its parent. */
  private listed(row: SqlRow): string {
    const [stored, parent, sum, first] = row as unknown as readonly [string, string | null, number, string]
    const key = SortKey.decode(stored)
    const text = this.whole("cell", stored, [sum, first])
    this.check(LongTexts.unmark(sum), RowChecksums.cell(stored, text), () => `the cell ${key}`)
    const isBelow = parent === ChildNames.parentOf(Address.ofKey(key))
    const isListed = isBelow && (parent === null || SqlSchema.numberOf(this.sql.isListed.get(parent, stored)) === 1)
    if (!isListed) throw RowChecksums.damagedRow(this.store, `the place of ${key} among the names beside it`)
    return stored
  }

  private entry(row: SqlRow): RowChecksums.JournalColumns {
    const [beat, clock, size, hash, sum, callers, text] = row as unknown as JournalColumns
    const columns = { beat, clock, size, hash, callers, text: this.whole("journal", beat, [sum, text]) }
    this.check(LongTexts.unmark(sum), RowChecksums.journal(columns), () => `the journal's row of beat ${beat}`)
    return columns
  }

  private receipt(row: SqlRow): ReceiptRow {
    const [id, enzyme, beat, sum] = row as unknown as readonly [string, string, number, number]
    this.check(sum, RowChecksums.receipt(id, enzyme, beat), () => `the receipt of ${id}`)
    return { id, enzyme, beat }
  }

  private queued(row: SqlRow): QueueRow {
    const [seq, id, sum, first] = row as unknown as readonly [number, string | null, number, string]
    const text = this.whole("queue", seq, [sum, first])
    this.check(LongTexts.unmark(sum), RowChecksums.queued(seq, id, text), () => `the signal that waits under number ${seq}`)
    return { seq, text, ...id === null ? {} : { id } }
  }

  private observation(row: SqlRow): ObservationRow & { readonly text: string } {
    const [node, sum, first] = row as unknown as readonly [string, number, string]
    const text = this.whole("observation", node, [sum, first])
    this.check(LongTexts.unmark(sum), RowChecksums.observation(node, text), () => `the observation of node ${node}`)
    return { node, text }
  }

  private blob(row: SqlRow): Place {
    const [hash, epoch, upload, sum, code] = row as unknown as readonly [string, number, number, number, number]
    this.check(sum, RowChecksums.blob([hash, epoch, upload, code]), () => `the content ${hash}`)
    return [epoch, upload]
  }

  private part(row: SqlRow, [epoch, upload]: Place): Uint8Array {
    const [part, sum, bytes] = row as unknown as readonly [number, number, Uint8Array]
    this.check(sum, RowChecksums.part(part, bytes), () => `part ${part} of the content of upload ${epoch}.${upload}`)
    return bytes
  }

  private whole(kind: LongTexts.Kind, key: string | number, [sum, text]: readonly [sum: number, text: string]): string {
    return LongTexts.isMarked(sum) ? LongTexts.whole(this.sql, [kind, key], text) : text
  }

  private check(written: unknown, found: number, row: () => string): void {
    if (written !== found) throw RowChecksums.damagedRow(this.store, row())
  }
}

/** Pages through a table in the order of the column that `look` returns. */
function* pages<Place extends string | number>(
  first: Place,
  page: (after: Place) => ReadonlyArray<SqlRow>,
  look: (row: SqlRow) => unknown
): Iterable<void> {
  let after = first
  for (let rows = page(after); rows.length > 0; rows = page(after)) {
    for (const row of rows) after = look(row) as Place
    yield
  }
}
