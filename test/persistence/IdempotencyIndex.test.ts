import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect } from "effect"
import type { PersistenceError, ReceiptRow, SpaceStore } from "systole"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"
import { beat, using, write } from "../../src/main/testing/contract/Batches.ts"
import * as SqliteFolder from "./SqliteFolder.ts"

const FLUSHES = 120

/** The retention of receipts, in flushes. */
const KEPT = 40

const idOf = (n: number): string => createHash("sha256").update(String(n)).digest("hex").slice(0, 32)

/** The number of own ids, each of which names many events. */
const OWN = 5000

/** The last write of each id, and its flush. */
type Model = Map<string, { readonly row: ReceiptRow; readonly flush: number }>

/** The receipts of one flush: mostly new ids, and some old ones. */
const flushOf = (flush: number, model: Model, draw: Random.Random): ReadonlyArray<ReceiptRow> =>
  Array.from({ length: draw(12) === 0 ? 3000 : draw(3) === 0 ? draw(4) : draw(1200) }, () => {
    const n = model.size > 0 && draw(10) === 0 ? draw(model.size) : model.size
    const id = idOf(n)
    const row = { id, enzyme: "", beat: flush, digest: `d${draw(1000)}`, ...n % 3 === 0 ? {} : { own: `order-${n % OWN}` } }
    model.set(id, { row, flush })
    return row
  })

interface Drawn {
  readonly flush: number
  readonly model: Model
  readonly draw: Random.Random
}

const check = (store: SpaceStore, { flush, model, draw }: Drawn): void => {
  for (let i = 0; i < 25 && model.size > 0; i++) {
    const id = idOf(draw(model.size))
    const known = model.get(id)!
    if (known.flush > flush - KEPT) assert.deepStrictEqual(store.receipts(id), [known.row])
    assert.deepStrictEqual(store.receipts(`new ${draw(1_000_000)}`), [])
  }
  const own = `order-${draw(OWN)}`
  const events = [...model.values()].filter(({ row }) => row.own === own)
  const all = store.named(own, 10_000)
  const found = new Set(all)
  for (const { flush: last, row } of events) if (last > flush - KEPT) assert.isTrue(found.has(row.id), `${row.id} has ${own}`)
  assert.isEmpty([...found].filter((id) => model.get(id)?.row.own !== own))
  // The newest two flushes may have the same event.
  const newest = store.named(own, 2)
  assert.include([Math.min(1, all.length), Math.min(2, all.length)], newest.length)
  assert.deepStrictEqual(newest, all.slice(0, newest.length))
  assert.deepStrictEqual(store.named(`new ${draw(1_000_000)}`, 10), [])
}

/** Many beats without a caller, in which the store prunes. */
const quiet = (store: SpaceStore, clock: number) =>
  Effect.suspend(() => {
    const { beat: head } = store.head()
    return write(store, ...Array.from({ length: 300 }, (_, i) => at(head + 1 + i, clock, [])))
  })

const at = (number: number, clock: number, ids: ReadonlyArray<number>) => {
  const batch = beat(number, { receipts: ids.map((n) => ({ id: idOf(n), enzyme: "", beat: number, digest: "d" })) })
  return { ...batch, entry: batch.entry && { ...batch.entry, clock } }
}

const thousand = (from: number): ReadonlyArray<number> => Array.from({ length: 1000 }, (_, i) => from + i)

describe("IdempotencyIndex", () => {
  it.effect("calls no id free that came after all older ones were let go of, and the store was opened again", () =>
    Effect.gen(function*() {
      const folder = yield* SqliteFolder.folder
      const life = <A>(body: (store: SpaceStore) => Effect.Effect<A, PersistenceError>) =>
        using("shop", body, {
          create: true,
          retention: { receiptMillis: 1000, journalMillis: 1000 }
        }).pipe(Effect.provide(SqliteFolder.layerIn(folder)))
      const many = (store: SpaceStore, { clock, from, thousands }: {
        readonly clock: number; readonly from: number; readonly thousands: number
      }) =>
        Effect.gen(function*() {
          for (let i = 0; i < thousands; i++) yield* write(store, at(store.head().beat + 1, clock, thousand(from + 1000 * i)))
        })
      yield* life((store) => Effect.gen(function*() {
        yield* many(store, { clock: 0, from: 0, thousands: 200 })
        for (let i = 0; i < 10; i++) yield* quiet(store, 10_000)
        yield* write(store, at(store.head().beat + 1, 10_000, [200_000]))
        for (let i = 0; i < 2; i++) yield* quiet(store, 20_000)
      }))
      const free = yield* life((store) => Effect.gen(function*() {
        yield* many(store, { clock: 20_000, from: 300_000, thousands: 40 })
        return Array.from({ length: 4000 }, (_, i) => 300_000 + 10 * i).filter((n) => store.receipts(idOf(n)).length === 0)
      }))
      assert.lengthOf(free, 0)
    }).pipe(Effect.scoped))

  it.effect("adds no row for a few, which are found all the same, also when the store is opened again", () =>
    Effect.gen(function*() {
      const folder = yield* SqliteFolder.folder
      const life = <A>(body: (store: SpaceStore) => Effect.Effect<A, PersistenceError>) =>
        using("shop", body, { create: true }).pipe(Effect.provide(SqliteFolder.layerIn(folder)))
      const rows = (): unknown => {
        const file = new DatabaseSync(join(folder, "shop.sqlite"), { readOnly: true })
        const { n } = file.prepare("SELECT count(*) AS n FROM caller").get()!
        file.close()
        return n
      }
      const found = (store: SpaceStore, count: number) =>
        Effect.sync(() => {
          for (let n = 0; n < count; n++) assert.lengthOf(store.receipts(idOf(n)), 1, String(n))
          assert.lengthOf(store.receipts(idOf(count)), 0)
        })
      yield* life((store) => Effect.gen(function*() {
        yield* quiet(store, 0)
        yield* write(store, at(store.head().beat + 1, 0, [0, 1, 2]))
        yield* found(store, 3)
      }))
      assert.strictEqual(rows(), 0)
      yield* life((store) => Effect.gen(function*() {
        yield* found(store, 3)
        for (let n = 3; n < 400; n++) yield* write(store, at(store.head().beat + 1, 0, [n]))
        yield* found(store, 400)
      }))
      assert.include([2, 3, 4], rows())
      yield* life((store) => found(store, 400))
      // A receipt in a large flush is newer than a noted receipt of the same id.
      yield* life((store) => write(store, at(store.head().beat + 1, 0, thousand(0))))
      yield* life((store) => Effect.sync(() => assert.strictEqual(store.receipts(idOf(399))[0]?.beat, store.head().beat)))
    }).pipe(Effect.scoped))

  it.effect("keeps receipts that come without a beat", () =>
    Effect.gen(function*() {
      const folder = yield* SqliteFolder.folder
      const life = <A>(body: (store: SpaceStore) => Effect.Effect<A, PersistenceError>) =>
        using("shop", body, { create: true }).pipe(Effect.provide(SqliteFolder.layerIn(folder)))
      yield* life((store) => Effect.andThen(quiet(store, 0), write(store, { ...at(0, 0, [1]), entry: undefined })))
      yield* life((store) => Effect.sync(() => assert.lengthOf(store.receipts(idOf(1)), 1)))
    }).pipe(Effect.scoped))

  it.effect("leaves the anchor of the journal where it was, when many come at once", () =>
    Effect.gen(function*() {
      const folder = yield* SqliteFolder.folder
      const life = <A>(body: (store: SpaceStore) => Effect.Effect<A, PersistenceError>) =>
        using("shop", body, { create: true, retention: { journalMillis: 1000 } }).pipe(Effect.provide(SqliteFolder.layerIn(folder)))
      const anchor = yield* life((store) => Effect.gen(function*() {
        yield* quiet(store, 0)
        for (let i = 0; i < 4; i++) yield* quiet(store, 10_000)
        const { beat } = store.head()
        yield* write(store, at(beat + 1, 10_000, thousand(0)), at(beat + 2, 10_000, []))
        const before = store.anchor()
        yield* write(store, at(beat + 3, 10_000, thousand(2000).slice(0, 40)))
        assert.deepStrictEqual(store.anchor(), before)
        return before
      }))
      assert.isAtLeast(anchor.beat, 0)
      yield* life((store) => Effect.sync(() => assert.deepStrictEqual(store.anchor(), anchor)))
    }).pipe(Effect.scoped))

  for (const seed of Trials.seeds(2, { from: 1 })) {
    it.effect(`finds what was written last under an id, reopened at random, and forgets in time (seed ${seed})`, () =>
      Effect.gen(function*() {
        const draw = Random.make(seed)
        const folder = yield* SqliteFolder.folder
        const model: Model = new Map()
        const options = { create: true, retention: { receiptMillis: KEPT * 1000, journalMillis: KEPT * 1000 } }
        for (let flush = 0; flush < FLUSHES;) {
          const end = Math.min(FLUSHES, flush + 1 + draw(40))
          yield* using("shop", (store) =>
            Effect.gen(function*() {
              check(store, { flush: flush - 1, model, draw })
              for (; flush < end; flush++) {
                yield* write(store, beat(flush, { receipts: flushOf(flush, model, draw) }))
                check(store, { flush, model, draw })
              }
            }), options).pipe(Effect.provide(SqliteFolder.layerIn(folder)))
        }
        const file = new DatabaseSync(join(folder, "shop.sqlite"), { readOnly: true })
        const count = (sql: string): number => (file.prepare(sql).get() as { readonly n: number }).n
        const rows = count("SELECT max(age) - min(age) AS n FROM caller")
        const entries = count("SELECT count(*) AS n FROM caller_index")
        file.close()
        assert.isBelow(rows, 0.7 * model.size, "old rows go")
        assert.isBelow(entries, 4 * rows, "and their entries with them")
        assert.isAbove(entries, 0.3 * rows)
      }).pipe(Effect.scoped))
  }
})
