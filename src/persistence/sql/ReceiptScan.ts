/**
 * The receipts of a SQL store after a beat in their order, with bounded memory.
 *
 * Receipts with a digest lie many in a row, in the order of their age, and other receipts have an index of their beats. A first pass
 * notes the beats of each row of many, from the newest row back to those that are older than the beat. The second one goes over the
 * beats, and has only the rows open that overlap.
 *
 * @module
 */
import type { IdempotencyIndex } from "./IdempotencyIndex.ts"
import type { ReceiptRow } from "../Persistence.ts"
import { sorted } from "../ReceiptOrder.ts"
import type { SqlRows } from "./SqlRows.ts"

/** Rows of a page of receipts without a digest. */
const PAGE = 256

/** The most rows of many receipts that one step opens, unless more begin at one beat. */
const OPEN = 1

/** A row of many receipts: its age and its first beat. */
interface Pack {
  readonly age: number
  readonly first: number
}

/** A scan of the receipts of a store. Rows that are written after its begin may be missing. */
export class ReceiptScan {
  private readonly callers: Pick<IdempotencyIndex, "gathering" | "packAfter" | "packsFrom">
  private readonly store: Pick<SqlRows, "clockOf" | "receiptsAfter">

  constructor(callers: ReceiptScan["callers"], store: ReceiptScan["store"]) {
    this.callers = callers
    this.store = store
  }

  /** Some receipts with each step, which may be none. `after` is a beat, and -1 for all receipts. */
  *rows(after: number): Iterable<ReadonlyArray<ReceiptRow>> {
    const isNew = ({ beat }: ReceiptRow): boolean => beat > after
    // Before the rows: those that are in no row yet may be written into one meanwhile.
    let open = this.callers.gathering.filter(isNew)
    const packs: Array<Pack> = []
    const since = this.store.clockOf(after)
    for (const { age, clock, rows } of this.callers.packsFrom(Number.MAX_SAFE_INTEGER)) {
      const first = rows.filter(isNew).reduce((least, { beat }) => Math.min(least, beat), Infinity)
      // A row is not older than its beats. In an import of another writer it may be, so its receipts count, too.
      if (clock < since && first === Infinity) break
      if (first < Infinity) packs.push({ age, first })
      yield []
    }
    packs.sort((a, b) => a.first - b.first)
    let next = 0
    for (let done = after; done < Infinity;) {
      const page = this.store.receiptsAfter(done, PAGE)
      // A page has whole beats, so one with few rows need not be the last.
      const last = page.at(-1)?.beat ?? Infinity
      const to = Math.min(last, Math.max(done + 1, (packs[next + OPEN]?.first ?? Infinity) - 1))
      const rows = page.filter(({ beat }) => beat <= to)
      for (let pack = packs[next]; pack !== undefined && pack.first <= to; pack = packs[++next]) {
        const found = this.callers.packAfter(pack.age - 1)
        if (found?.age === pack.age) open = open.concat(found.rows.filter(isNew))
      }
      yield sorted([...rows, ...open.filter(({ beat }) => beat <= to)])
      open = open.filter(({ beat }) => beat > to)
      done = to
    }
  }
}
