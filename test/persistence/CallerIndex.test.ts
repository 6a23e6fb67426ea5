import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect } from "effect"
import type { ReceiptRow, SpaceStore } from "systole"
import * as Dice from "../support/Dice.ts"
import { beat, using, write } from "./Batches.ts"
import * as SqliteFolder from "./SqliteFolder.ts"

const FLUSHES = 120

/** Flushes that receipts are kept for. */
const KEPT = 40

const idOf = (n: number): string => createHash("sha256").update(String(n)).digest("hex").slice(0, 32)

/** What was written last under each id, and in which flush. */
type Model = Map<string, { readonly row: ReceiptRow; readonly flush: number }>

/** The receipts of one flush: mostly of new ids, some of ids that were there before. */
const flushOf = (flush: number, model: Model, roll: Dice.Dice): ReadonlyArray<ReceiptRow> =>
  Array.from({ length: roll(12) === 0 ? 3000 : roll(1200) }, () => {
    const id = idOf(model.size > 0 && roll(10) === 0 ? roll(model.size) : model.size)
    const row = { id, enzyme: "", beat: flush, digest: `d${roll(1000)}` }
    model.set(id, { row, flush })
    return row
  })

const check = (store: SpaceStore, { flush, model, roll }: { readonly flush: number; readonly model: Model; readonly roll: Dice.Dice }): void => {
  for (let i = 0; i < 25 && model.size > 0; i++) {
    const id = idOf(roll(model.size))
    const known = model.get(id)!
    if (known.flush > flush - KEPT) assert.deepStrictEqual(store.receipts(id), [known.row])
    assert.deepStrictEqual(store.receipts(`new ${roll(1_000_000)}`), [])
  }
}

describe("CallerIndex", () => {
  for (const seed of [1, 2]) {
    it.effect(`finds what was written last under an id, reopened at random, and forgets in time (seed ${seed})`, () =>
      Effect.gen(function*() {
        const roll = Dice.make(seed)
        const folder = yield* SqliteFolder.folder
        const model: Model = new Map()
        const options = { create: true, retention: { receiptMillis: KEPT * 1000, journalMillis: KEPT * 1000 } }
        for (let flush = 0; flush < FLUSHES;) {
          const end = Math.min(FLUSHES, flush + 1 + roll(40))
          yield* using("shop", (store) =>
            Effect.gen(function*() {
              check(store, { flush: flush - 1, model, roll })
              for (; flush < end; flush++) {
                yield* write(store, beat(flush, { receipts: flushOf(flush, model, roll) }))
                check(store, { flush, model, roll })
              }
            }), options).pipe(Effect.provide(SqliteFolder.layerIn(folder)))
        }
        const file = new DatabaseSync(join(folder, "shop.sqlite"), { readOnly: true })
        const count = (sql: string): number => (file.prepare(sql).get() as { readonly n: number }).n
        const rows = count("SELECT max(age) - min(age) AS n FROM caller")
        const entries = count("SELECT count(*) AS n FROM caller_index")
        file.close()
        assert.isBelow(rows, 0.7 * model.size, "old rows go")
        assert.isBelow(entries, 2 * rows, "and their entries with them")
        assert.isAbove(entries, 0.3 * rows)
      }).pipe(Effect.scoped), 60_000)
  }
})
