/**
 * Rows of a SQL store, as they are read: each is checked against its checksum.
 *
 * @module
 */
import type { BlobPart, JournalRow, ObservationRow, QueueRow, ReceiptRow } from "./Persistence.ts"
import * as Bytes from "../cell/Bytes.ts"
import * as Address from "../cell/Address.ts"
import { parentOf } from "./Overlay.ts"
import * as Sealed from "./Sealed.ts"
import * as SortKey from "./SortKey.ts"
import type { SqlRow } from "./SqlDriver.ts"
import type { Statements } from "./SqlSchema.ts"

/** Rows of one table that are looked at together. */
const PAGE = 64

/** Where the parts of one content lie. */
type Place = readonly [epoch: number, upload: number]

/**
 * Reads the rows of one store. Its methods throw {@link PersistenceError}.
 *
 * @category models
 * @since 0.1.0
 */
export class SqlRows {
  private readonly store: Sealed.Store
  private readonly sql: Statements

  constructor(store: Sealed.Store, sql: Statements) {
    this.store = store
    this.sql = sql
  }

  /** The text of the document with a key in its stored form. */
  cell(stored: string): string | undefined {
    const row = this.sql.cell.get(stored)
    if (row === undefined) return undefined
    const [sum, text] = row as unknown as readonly [number, string]
    // The usual read asks for no message.
    if (sum !== Sealed.cell(stored, text)) throw Sealed.damaged(this.store, `the cell ${SortKey.decode(stored)}`)
    return text
  }

  *journal(from: number, to: number, limit: number): Iterable<JournalRow> {
    for (const row of this.sql.journal.all(from, to, limit)) {
      const { beat, clock, hash, text } = this.entry(row)
      yield { beat, clock, text, hash }
    }
  }

  /** Throws where the journal's row of a beat is not what was written. */
  confirm(beat: number): void {
    for (const row of this.sql.journal.all(beat, beat, 1)) this.entry(row)
  }

  /** The notes of receipts in journal rows after a beat. */
  notes(after: number): ReadonlyArray<string> {
    return this.sql.notes.all(after).map((row) => this.entry(row).callers!)
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

  observations(): Array<ObservationRow> {
    return this.sql.observations.all().map((row) => this.observation(row))
  }

  /** Where the parts of content lie. */
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
    const size = this.sql.sizeOfParts.get(...place)![0] as number
    return { bytes: row === undefined ? new Uint8Array() : this.part(row, place), size }
  }

  /** Looks at each row but those of the journal, page by page; throws at the first that is not what was written. */
  *examine(): Iterable<void> {
    yield* pages("", (after) => this.sql.everyCell.all(after, PAGE), (row) => this.listed(row))
    yield* pages(0, (after) => this.sql.callersAfter.all(after), (row) => this.callers(row))
    yield* pages(0, (after) => this.sql.everyReceipt.all(after, PAGE), ([age, ...row]) => {
      this.receipt(row)
      return age!
    })
    yield* pages(-1, (after) => this.sql.queue.all(after, PAGE), (row) => this.queued(row).seq)
    yield* pages("", (after) => this.sql.everyObservation.all(after, PAGE), (row) => this.observation(row).node)
    yield* pages("", (after) => this.sql.everyBlob.all(after, 1), (row) => {
      const place = this.blob(row)
      for (const part of this.sql.parts.all(...place)) this.part(part, place)
      return row[0]!
    })
  }

  /** The text of a row of callers' receipts; answers its age. */
  callers([age, sum, text]: SqlRow): number {
    this.check(sum, Sealed.callers(age as number, text as string), () => `a row of receipts of age ${String(age)}`)
    return age as number
  }

  /** A cell among all: its place among the names of its parent is looked at, too. */
  private listed([stored, parent, sum, text]: SqlRow): string {
    const key = SortKey.decode(stored as string)
    this.check(sum, Sealed.cell(stored as string, text as string), () => `the cell ${key}`)
    const isListed = parent === SortKey.encode(parentOf(Address.ofKey(key))) && this.sql.isListed.get(parent, stored!)![0] === 1
    if (!isListed) throw Sealed.damaged(this.store, `the place of ${key} among the names beside it`)
    return stored as string
  }

  private entry(row: SqlRow): Sealed.JournalColumns {
    const [beat, clock, size, hash, sum, callers, text] = row as unknown as readonly [number, number, number, string, number, string | null, string]
    const columns = { beat, clock, size, hash, callers, text }
    this.check(sum, Sealed.journal(columns), () => `the journal's row of beat ${beat}`)
    return columns
  }

  private receipt(row: SqlRow): ReceiptRow {
    const [id, enzyme, beat, sum] = row as unknown as readonly [string, string, number, number]
    this.check(sum, Sealed.receipt(id, enzyme, beat), () => `the receipt of ${id}`)
    return { id, enzyme, beat }
  }

  private queued(row: SqlRow): QueueRow {
    const [seq, id, sum, text] = row as unknown as readonly [number, string | null, number, string]
    this.check(sum, Sealed.queued(seq, id, text), () => `the signal that waits under number ${seq}`)
    return { seq, text }
  }

  private observation(row: SqlRow): ObservationRow & { readonly text: string } {
    const [node, sum, text] = row as unknown as readonly [string, number, string]
    this.check(sum, Sealed.observation(node, text), () => `the observation of node ${node}`)
    return { node, text }
  }

  private blob(row: SqlRow): Place {
    const [hash, epoch, upload, sum, code] = row as unknown as readonly [string, number, number, number, number]
    this.check(sum, Sealed.blob([hash, epoch, upload, code]), () => `the content ${hash}`)
    return [epoch, upload]
  }

  private part(row: SqlRow, [epoch, upload]: Place): Uint8Array {
    const [part, sum, bytes] = row as unknown as readonly [number, number, Uint8Array]
    this.check(sum, Sealed.part(part, bytes), () => `part ${part} of the content of upload ${epoch}.${upload}`)
    return bytes
  }

  private check(written: unknown, found: number, row: () => string): void {
    if (written !== found) throw Sealed.damaged(this.store, row())
  }
}

/** Goes through a table in the order of a column that `look` answers. */
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
