import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Backend, type JournalRow, PersistenceError, StoreBusy } from "systole"
import { GroupStore } from "../../src/persistence/GroupStore.ts"

const busy = new PersistenceError({ reason: new StoreBusy({ space: "shop", place: "here" }) })
const entry: JournalRow = { beat: 0, clock: 0, text: "{}", hash: "0" }
const batch = { entry, cells: [], receipts: [], queued: [], dequeued: [], blobs: [], observations: [] }

/** A store over a backend that commits and waits for its disk in the given ways. */
const store = (parts: Pick<Backend.Backend, "commit" | "sync">) =>
  new GroupStore({ space: "shop", place: "here", head: { beat: -1, clock: 0, hash: "" }, due: 0, ...parts } as Backend.Backend, {})

const codeOf = (flush: Effect.Effect<void, PersistenceError>) => Effect.map(Effect.flip(flush), ({ code }) => code)

describe("A flush that finds its store busy", () => {
  it.effect("keeps the group, and commits it when it is repeated", () =>
    Effect.gen(function*() {
      const groups: Array<number> = []
      let refusals = 2
      const shop = store({
        commit: ({ journal }) => {
          if (refusals-- > 0) throw busy
          groups.push(journal.length)
        },
        sync: Effect.void
      })
      shop.append(batch)
      assert.strictEqual(yield* codeOf(shop.flush), "store/busy")
      shop.append({ ...batch, entry: { ...entry, beat: 1 } })
      assert.strictEqual(yield* codeOf(shop.flush), "store/busy")
      yield* shop.flush
      assert.deepStrictEqual(groups, [2])
    }))

  it.effect("is final after the commit: what a wait for the disk means is unknown", () =>
    Effect.gen(function*() {
      const shop = store({ commit: () => {}, sync: Effect.fail(busy) })
      shop.append(batch)
      assert.strictEqual(yield* codeOf(shop.flush), "store/unavailable")
      assert.throws(() => shop.append({ ...batch, entry: { ...entry, beat: 1 } }), "is busy")
    }))
})
