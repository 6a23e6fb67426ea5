/**
 * The index of idempotency keys in SQL: receipts found by a caller's id, and written in the order of age.
 *
 * Callers' ids are digests, so an index ordered by id would change one page per id. Receipts are therefore appended,
 * many per row. Memory holds the newest ones: receipts in no row yet, noted in the journal, and receipts of rows that
 * are not indexed yet.
 *
 * Once many receipts have gathered, they move into an index on disk in its order. Each flush moves one slice, so one
 * page takes many receipts. Opening a store reads the receipts that are not indexed yet.
 *
 * A receipt with its caller's own id has a second entry, by that id. One own id may be in many receipts, so these
 * entries have a range of their own, and a search by an event's id meets none of them.
 *
 * @module
 */
import * as BloomFilter from "./BloomFilter.ts"
import type { ReceiptRow } from "../Persistence.ts"
import * as RowChecksums from "./RowChecksums.ts"
import type { SqlRows } from "./SqlRows.ts"
import type { Statements } from "./SqlSchema.ts"

/** The number of receipts in memory that starts a move into the index. */
const GATHERED = 16_384

/** The maximum number of receipts per row. */
const ROW = 1024

/** The most characters of own ids per row. A character takes at most six in the row's text. */
const OWNED = 131_072

/** The minimum number of entries per flush that move into the index, or that the sweep for dangling entries examines. */
const SLICE = 64
const LOOKED_AT = 256

/**
 * A receipt as its row stores it. Beside a label, a receipt without an own id has an empty one: earlier versions leave the label
 * unread, and take the own id for a text.
 */
type Stored = readonly [id: string, digest: string, beat: number, own?: string, label?: ReadonlyArray<string>]

/** The stored state of the index. A sweep that runs has the age of the oldest row at its begin. */
type State = readonly [indexed: number, swept: number, sweep: number | null, hash: number, age: number]

const UNUSED: State = [0, 0, null, 0, 0]

/** Gathered receipts that are not indexed yet. */
class Gathered {
  /** By id, each with the age of its row. */
  readonly ages = new Map<string, number>()
  /** The hash of each own id, followed by the age of its row. */
  readonly owned: Array<number> = []

  add({ id, own }: Pick<ReceiptRow, "id" | "own">, age: number): void {
    this.ages.set(id, age)
    if (own !== undefined) this.owned.push(hashOfOwn(own), age)
  }

  /** The ages of the rows with the hash of an own id, newest first. */
  agesOf(hash: number): ReadonlyArray<number> {
    const ages: Array<number> = []
    for (let i = this.owned.length - 2; i >= 0; i -= 2) if (this.owned[i] === hash) ages.push(this.owned[i + 1]!)
    return ages
  }

  /** Hash and age of each entry as one number, which sorts by hash. Ages count from `first`. */
  sorted(first: number): Float64Array {
    const entries = new Float64Array(this.ages.size + this.owned.length / 2)
    let next = 0
    for (const [id, age] of this.ages) entries[next++] = (hashOf(id) + 2 ** 31) * SPAN + (age - first)
    for (let i = 0; i < this.owned.length; i += 2) entries[next++] = (this.owned[i]! + 2 ** 31) * SPAN + (this.owned[i + 1]! - first)
    return entries.sort()
  }
}

/** A sweep through the index, with the last entry examined. */
interface Sweep {
  /** Rows below this age are pruned. */
  readonly to: number
  readonly hash: number
  readonly age: number
}

/** Gathered receipts that move into the index. */
interface Moving {
  readonly gathered: Gathered
  /** Hash and age of each receipt as one number, which sorts by hash. */
  readonly sorted: Float64Array
  readonly first: number
  readonly last: number
  next: number
}

/**
 * The callers' receipts of one space. Writes happen in the transaction of a flush.
 */
export class IdempotencyIndex {
  private readonly sql: Statements
  private readonly rows: SqlRows
  private readonly filter: BloomFilter.BloomFilter
  /** Receipts that are in no row yet. Pruning bounds their number. After a failed flush only a new handle has them. */
  private loose = new Map<string, ReceiptRow>()
  private fresh = new Gathered()
  private moving: Moving | undefined
  /** The age of the newest row: the number of receipts up to it. */
  private newest: number
  /** The age of the oldest row, if it is known. */
  private first: number | undefined
  /** The receipts of all rows up to this age are indexed. */
  private indexed: number
  /** The oldest row at the last sweep of the index. */
  private swept: number
  private sweep: Sweep | undefined

  /** `isNew` means that the store was just created, so no row is read. */
  constructor(sql: Statements, rows: SqlRows, { isNew, notes }: { readonly isNew: boolean; readonly notes: ReadonlyArray<string> }) {
    this.sql = sql
    this.rows = rows
    for (const note of notes) for (const stored of parse(note)) this.loose.set(stored[0], rowOf(stored))
    const [indexed, swept, to, hash, age] = isNew ? UNUSED : sql.callerState.get() as unknown as State
    this.indexed = indexed
    this.swept = swept
    this.sweep = to === null ? undefined : { to, hash, age }
    // An age is never reused, even if all rows are pruned: a running sweep takes older ages for pruned rows.
    this.newest = isNew ? 0 : Math.max((sql.lastCallers.get()?.[0] ?? 0) as number, indexed, swept, to ?? 0)
    this.filter = new BloomFilter.BloomFilter({
      size: () => this.newest - this.oldest(),
      page: (after, limit) => this.page(after, limit).map(([age, [id]]) => [age, id]),
      hash: hashOf
    })
    let last = indexed
    for (let page = this.page(last, ROW); page.length > 0; page = this.page(last, ROW)) {
      for (const [age, stored] of page) {
        this.fresh.add(rowOf(stored), age)
        last = age
      }
    }
  }

  /** Returns the newest receipt with this id. */
  find(id: string): ReceiptRow | undefined {
    const loose = this.loose.get(id)
    if (loose !== undefined) return loose
    if (!this.filter.mayHave(id)) return undefined
    const age = this.fresh.ages.get(id) ?? this.moving?.gathered.ages.get(id)
    if (age !== undefined) return this.read(age, id)
    for (const [age] of this.sql.indexedAges.all(hashOf(id))) {
      const row = this.read(age as number, id)
      if (row !== undefined) return row
    }
    return undefined
  }

  /** Returns the ids of the receipts with this own id, newest first: at most `limit`, of at most as many rows. */
  named(own: string, limit: number): ReadonlyArray<string> {
    const found = new Set<string>()
    for (const row of [...this.loose.values()].reverse()) if (row.own === own) found.add(row.id)
    const hash = hashOfOwn(own)
    const gathered = [...this.fresh.agesOf(hash), ...this.moving?.gathered.agesOf(hash) ?? []]
    const indexed = this.sql.newestIndexed.all(hash, limit).map(([age]) => age as number)
    for (const age of [...new Set([...gathered, ...indexed])].slice(0, limit)) {
      if (found.size >= limit) break
      for (const stored of this.rowAt(age).toReversed()) if (stored[3] === own) found.add(stored[0])
    }
    return [...found].slice(0, limit)
  }

  /** The receipts that are in no row yet. */
  get gathering(): ReadonlyArray<ReceiptRow> {
    return [...this.loose.values()]
  }

  /** The first row after an age, with its receipts; `undefined` for none. */
  packAfter(age: number): { readonly age: number; readonly rows: ReadonlyArray<ReceiptRow> } | undefined {
    const row = this.sql.callersAfter.get(age)
    return row && { age: this.rows.callers(row), rows: parse(row[2] as string).map(rowOf) }
  }

  /** The rows up to an age, the newest first, each with the clock at which it was written. */
  *packsFrom(age: number): Iterable<{ readonly age: number; readonly clock: number; readonly rows: ReadonlyArray<ReceiptRow> }> {
    for (let row = this.sql.callersUpTo.get(age); row !== undefined;) {
      const [age, sum, text, clock] = row as unknown as readonly [number, number, string, number]
      this.rows.callers([age, sum, text])
      yield { age, clock, rows: parse(text).map(rowOf) }
      row = this.sql.callersUpTo.get(age - 1)
    }
  }

  /** Adds the receipts of a flush, which must then note them in the journal or call {@link gather}. */
  add(rows: ReadonlyArray<ReceiptRow>): void {
    for (const row of rows) this.loose.set(row.id, row)
  }

  /** Writes all receipts that are in no row into rows. */
  gather(clock: number): void {
    if (this.loose.size === 0) return
    const rows = [...this.loose.values()]
    this.loose = new Map()
    for (let start = 0; start < rows.length;) {
      const part = partAt(rows, start)
      start += part.length
      this.append(part, clock)
      if (this.moving === undefined && this.newest - this.indexed >= GATHERED) this.begin()
      if (this.moving !== undefined) this.move(this.moving, Math.max(SLICE, ENTRIES * part.length))
    }
    this.filter.add(rows.map(({ id }) => id))
    this.clean(LOOKED_AT + 2 * ENTRIES * rows.length)
  }

  private append(rows: ReadonlyArray<ReceiptRow>, clock: number): void {
    const age = this.newest + rows.length
    const text = noteOf(rows)
    this.sql.addCallers.run(age, clock, text.length, RowChecksums.callers(age, text), text)
    for (const row of rows) this.fresh.add(row, age)
    this.newest = age
  }

  private read(age: number, id: string): ReceiptRow | undefined {
    const found = this.rowAt(age).findLast(([other]) => other === id)
    return found === undefined ? undefined : rowOf(found)
  }

  /** The receipts of a row; none if it is pruned. */
  private rowAt(age: number): ReadonlyArray<Stored> {
    const row = this.sql.callers.get(age)
    if (row === undefined) return []
    this.rows.callers([age, ...row])
    return parse(row[1] as string)
  }

  /** Starts the move of the gathered receipts into the index, in its order, so that each page is changed once. */
  private begin(): void {
    const gathered = this.fresh
    const first = this.indexed
    this.moving = { gathered, sorted: gathered.sorted(first), first, last: this.newest, next: 0 }
    this.fresh = new Gathered()
  }

  private move(moving: Moving, count: number): void {
    const { first, last, sorted } = moving
    const entries: Array<number> = []
    const slice = sorted.subarray(moving.next, moving.next + count)
    moving.next += slice.length
    for (const entry of slice) {
      const offset = entry % SPAN
      entries.push((entry - offset) / SPAN - 2 ** 31, first + offset)
    }
    this.sql.addIndexed.run(entries)
    if (moving.next < sorted.length) return
    this.indexed = last
    this.moving = undefined
    this.saveState()
  }

  /** Removes index entries of pruned rows, once they are a quarter of the index. */
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

  /** Removes the rows up to an age. */
  prune(age: number): void {
    this.sql.pruneCallers.run(age)
    this.first = undefined
  }

  private oldest(): number {
    // Without rows there never was an age.
    if (this.newest === 0) return 0
    this.first ??= (this.sql.firstCallers.get()?.[0] ?? undefined) as number | undefined
    return this.first ?? this.newest
  }

  /** Returns at least `limit` receipts after a row, in order of age; fewer if there are no more. */
  private page(after: number, limit: number): ReadonlyArray<readonly [number, Stored]> {
    const page: Array<readonly [number, Stored]> = []
    if (after >= this.newest) return page
    let age = after
    for (let row = this.sql.callersAfter.get(age); row !== undefined && page.length < limit; row = this.sql.callersAfter.get(age)) {
      age = this.rows.callers(row)
      for (const stored of parse(row[2] as string)) page.push([age, stored])
    }
    return page
  }
}

/** Callers' ids are digests, so a few of their characters are as distinctive as all. */
const TAIL = 12

const hashOf = (id: string): number => BloomFilter.hashOf(id, Math.max(0, id.length - TAIL))

/** The hash of an own id, greater than that of any id. */
const hashOfOwn = (own: string): number => BloomFilter.hashOf(own) + 2 ** 32

/** The slots of a receipt in a slice: two for each entry that it has at most, so that a move ends before the next begins. */
const ENTRIES = 4

/** Greater than the largest difference in age of gathered receipts: the last flush may exceed the limit by far. */
const SPAN = 2 ** 20

/**
 * Encodes the receipts that have a digest as one text.
 */
export const noteOf = (rows: ReadonlyArray<ReceiptRow>): string =>
  JSON.stringify(rows.flatMap(({ beat, digest, id, label, own }): ReadonlyArray<Stored> => {
    if (digest === undefined) return []
    if (label !== undefined) return [[id, digest, beat, own ?? "", label]]
    return own === undefined ? [[id, digest, beat]] : [[id, digest, beat, own]]
  }))

/** The characters of the own id of a receipt, and of its label. */
const lengthOf = ({ label = [], own = "" }: Pick<ReceiptRow, "label" | "own">): number =>
  label.reduce((length, atom) => length + atom.length, own.length)

/** The receipts of the next row: at most {@link ROW}, with own ids and labels of at most {@link OWNED} characters. */
const partAt = (rows: ReadonlyArray<ReceiptRow>, start: number): ReadonlyArray<ReceiptRow> => {
  let [end, size] = [start, 0]
  for (const row of rows.slice(start, start + ROW)) {
    size += lengthOf(row)
    if (end > start && size > OWNED) break
    end++
  }
  return rows.slice(start, end)
}

const rowOf = ([id, digest, beat, own, label]: Stored): ReceiptRow =>
  ({ id, enzyme: "", digest, beat, ...own === undefined || own === "" ? {} : { own }, ...label === undefined ? {} : { label } })

const parse = (text: string): ReadonlyArray<Stored> => JSON.parse(text) as ReadonlyArray<Stored>
