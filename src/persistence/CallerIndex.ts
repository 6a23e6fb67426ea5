/**
 * The receipts of callers' ids in SQL: found by id, though written by age.
 *
 * Callers' ids are digests, so an index in their order would have each of them
 * change a page of its own. Receipts are therefore appended, many in one row, and the
 * newest are found in memory: those that are in no row yet, which the journal
 * notes, and those whose rows are in no index yet. When many of these have
 * gathered, they go into an index on disk in the order of the index, a slice at a
 * time: so one page takes many of them. What is not in the index yet is read again
 * when the store opens.
 *
 * @module
 */
import * as IdFilter from "./IdFilter.ts"
import type { ReceiptRow } from "./Persistence.ts"
import * as Sealed from "./Sealed.ts"
import type { SqlRows } from "./SqlRows.ts"
import type { Statements } from "./SqlSchema.ts"

/** Receipts that gather in memory before they go into the index. */
const GATHERED = 16_384

/** Receipts in one row, at most. */
const ROW = 1024

/** Entries that go into the index with one flush, at least; and of those that are looked at for ones that lead nowhere any more. */
const SLICE = 64
const LOOKED_AT = 256

/** A receipt as it stands in a row. */
type Stored = readonly [id: string, digest: string, beat: number]

/** What gathered, by id; each with the age of its row. */
type Gathered = Map<string, number>

/** A walk through the index, up to the entry that it came to. */
interface Sweep {
  /** Rows before this one are gone. */
  readonly to: number
  readonly hash: number
  readonly age: number
}

/** Gathered receipts on their way into the index. */
interface Moving {
  readonly gathered: Gathered
  /** Hash and age of each, as one number that sorts by hash. */
  readonly sorted: Float64Array
  readonly first: number
  readonly last: number
  next: number
}

/**
 * Keeps the callers' receipts of one space. Its writes belong into the transaction of a flush.
 *
 * @category models
 * @since 0.1.0
 */
export class CallerIndex {
  private readonly sql: Statements
  private readonly rows: SqlRows
  private readonly filter: IdFilter.IdFilter
  /** Those that are in no row yet: no more than come between two looks at what is too old. After a flush that failed, only a new handle has them. */
  private loose = new Map<string, ReceiptRow>()
  private fresh: Gathered = new Map()
  private moving: Moving | undefined
  /** The age of the newest row; rows are numbered by the receipts up to them. */
  private newest: number
  /** The age of the oldest row, where it is known. */
  private first: number | undefined
  /** Of the rows up to this one all is in the index. */
  private indexed: number
  /** The oldest row when the index was last swept. */
  private swept: number
  private sweep: Sweep | undefined

  constructor(sql: Statements, rows: SqlRows, notes: ReadonlyArray<string>) {
    this.sql = sql
    this.rows = rows
    for (const note of notes) for (const [id, digest, beat] of parse(note)) this.loose.set(id, { id, enzyme: "", digest, beat })
    const [indexed, swept, to, hash, age] = sql.callerState.get() as unknown as readonly [number, number, number | null, number, number]
    this.indexed = indexed
    this.swept = swept
    this.sweep = to === null ? undefined : { to, hash, age }
    // An age is given once, even where all rows are pruned: a sweep under way takes older ones for gone.
    this.newest = Math.max((sql.lastCallers.get()?.[0] ?? 0) as number, indexed, swept, to ?? 0)
    this.filter = new IdFilter.IdFilter({ size: () => this.newest - this.oldest(), page: (after, limit) => this.page(after, limit), hash: hashOf })
    for (let page = this.page(indexed, ROW); page.length > 0; page = this.page(page.at(-1)![0], ROW)) {
      for (const [age, id] of page) this.fresh.set(id, age)
    }
  }

  /** The newest receipt with this id. */
  find(id: string): ReceiptRow | undefined {
    const loose = this.loose.get(id)
    if (loose !== undefined) return loose
    if (!this.filter.mayHave(id)) return undefined
    const age = this.fresh.get(id) ?? this.moving?.gathered.get(id)
    if (age !== undefined) return this.read(age, id)
    for (const [age] of this.sql.indexedAges.all(hashOf(id))) {
      const row = this.read(age as number, id)
      if (row !== undefined) return row
    }
    return undefined
  }

  /** Adds the receipts of a flush, which has to note them or to gather. */
  add(rows: ReadonlyArray<ReceiptRow>): void {
    for (const row of rows) this.loose.set(row.id, row)
  }

  /** Puts all that are in no row into rows. */
  gather(clock: number): void {
    if (this.loose.size === 0) return
    const rows = [...this.loose.values()]
    this.loose = new Map()
    for (let start = 0; start < rows.length; start += ROW) {
      const part = rows.slice(start, start + ROW)
      this.append(part, clock)
      if (this.moving === undefined && this.newest - this.indexed >= GATHERED) this.begin()
      if (this.moving !== undefined) this.move(this.moving, Math.max(SLICE, 2 * part.length))
    }
    this.filter.add(rows.map(({ id }) => id))
    this.clean(LOOKED_AT + 4 * rows.length)
  }

  private append(rows: ReadonlyArray<ReceiptRow>, clock: number): void {
    const age = this.newest + rows.length
    const text = noteOf(rows)
    this.sql.addCallers.run(age, clock, text.length, Sealed.callers(age, text), text)
    for (const { id } of rows) this.fresh.set(id, age)
    this.newest = age
  }

  private read(age: number, id: string): ReceiptRow | undefined {
    const row = this.sql.callers.get(age)
    if (row === undefined) return undefined
    this.rows.callers([age, ...row])
    const found = parse(row[1] as string).findLast(([other]) => other === id)
    return found === undefined ? undefined : { id, enzyme: "", digest: found[1], beat: found[2] }
  }

  /** Has what gathered go into the index, in its order, so that each page is changed once. */
  private begin(): void {
    const gathered = this.fresh
    const first = this.indexed
    const sorted = Float64Array.from(gathered, ([id, age]) => (hashOf(id) + 2 ** 31) * SPAN + (age - first)).sort()
    this.moving = { gathered, sorted, first, last: this.newest, next: 0 }
    this.fresh = new Map()
  }

  private move(moving: Moving, count: number): void {
    const { first, last, sorted } = moving
    const entries: Array<number> = []
    for (const end = Math.min(sorted.length, moving.next + count); moving.next < end; moving.next++) {
      const entry = sorted[moving.next]!
      const offset = entry % SPAN
      entries.push((entry - offset) / SPAN - 2 ** 31, first + offset)
    }
    this.sql.addIndexed.add(entries)
    if (moving.next < sorted.length) return
    this.indexed = last
    this.moving = undefined
    this.saveState()
  }

  /** Takes out of the index what leads to rows that were pruned, once that is a quarter of it. */
  private clean(count: number): void {
    const oldest = this.oldest()
    if (this.sweep === undefined && oldest - this.swept <= (this.newest - oldest) / 4) return
    const { age, hash, to } = this.sweep ?? { to: oldest, hash: -(2 ** 31), age: 0 }
    const entries = this.sql.indexedAfter.all(hash, age, count) as unknown as ReadonlyArray<readonly [hash: number, age: number]>
    for (const [hash, age] of entries) if (age < to) this.sql.dropIndexed.run(hash, age)
    const last = entries.at(-1)
    this.sweep = last === undefined ? undefined : { to, hash: last[0], age: last[1] }
    if (this.sweep === undefined) this.swept = to
    this.saveState()
  }

  private saveState(): void {
    const { indexed, sweep, swept } = this
    this.sql.setCallerState.run(indexed, swept, sweep?.to ?? null, sweep?.hash ?? 0, sweep?.age ?? 0)
  }

  /** Lets go of the rows up to an age. */
  prune(age: number): void {
    this.sql.pruneCallers.run(age)
    this.first = undefined
  }

  private oldest(): number {
    this.first ??= (this.sql.firstCallers.get()?.[0] ?? undefined) as number | undefined
    return this.first ?? this.newest
  }

  /** At least `limit` ids after a row, in the order of their age; fewer where there are no more. */
  private page(after: number, limit: number): ReadonlyArray<readonly [number, string]> {
    const page: Array<readonly [number, string]> = []
    for (let row = this.sql.callersAfter.get(after); row !== undefined && page.length < limit; row = this.sql.callersAfter.get(row[0]!)) {
      const age = this.rows.callers(row)
      for (const [id] of parse(row[2] as string)) page.push([age, id])
    }
    return page
  }
}

/** Callers' ids are digests, so some of their characters tell them apart as well as all. */
const TAIL = 12

const hashOf = (id: string): number => IdFilter.hashOf(id, Math.max(0, id.length - TAIL))

/** More than the ages of what gathered can lie apart: the last flush may bring it far beyond the limit. */
const SPAN = 2 ** 20

/**
 * Receipts as one text.
 *
 * @category getters
 * @since 0.1.0
 */
export const noteOf = (rows: ReadonlyArray<ReceiptRow>): string => JSON.stringify(rows.map(({ beat, digest, id }): Stored => [id, digest!, beat]))

const parse = (text: string): ReadonlyArray<Stored> => JSON.parse(text) as ReadonlyArray<Stored>
