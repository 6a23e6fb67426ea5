/**
 * The contract of persistence: a flush is durable and whole.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { same } from "./Check.ts"
import { beat, cell, reason, thrown, using, write } from "./Batches.ts"
import type { Group } from "./StoreTest.ts"

/** Flushes that succeed, that break off, and handles that are closed. */
export const durability: Group = {
  "keeps what was flushed, and nothing of what was only appended": () =>
    Effect.gen(function*() {
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          yield* write(store, beat(0, { cells: [cell("/a", "0")], queued: [{ seq: 0, text: "q" }] }))
          const receipts = [{ id: "x", enzyme: "e", beat: 1 }]
          store.append(beat(1, { cells: [cell("/a", "1"), cell("/b", "1")], dequeued: [0], receipts }))
        }))
      yield* using("shop", (store) =>
        Effect.sync(() => {
          same([store.head().beat, store.read("/a"), store.read("/b"), store.children("space", "/")], [0, "0", undefined, ["a"]])
          same([[...store.queue()].length, store.receipts("x").length, store.entry(1)], [1, 0, undefined])
          same(store.anchor(), { beat: -1, hash: "" })
        }))
    }),
  "writes nothing when a group cannot be written whole, and ends the handle": () =>
    Effect.gen(function*() {
      yield* using("shop", (store) => write(store, beat(0, { cells: [cell("/a", "0")] })))
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          const broken = {
            seq: 1,
            get text(): string {
              throw new Error("no text")
            }
          }
          store.append(beat(1, { cells: [cell("/a", "1")], queued: [{ seq: 0, text: "q" }, broken] }))
          same(Exit.isFailure(yield* Effect.exit(store.flush)), true)
          same(thrown(() => store.append(beat(2))), "StoreUnavailable")
          same(yield* reason(store.flush), "StoreUnavailable")
        }))
      yield* using("shop", (store) => Effect.sync(() => same([store.head().beat, store.read("/a"), [...store.queue()]], [0, "0", []])))
    }),
  "flushes nothing when nothing was appended, and takes no more once closed": () =>
    Effect.gen(function*() {
      const store = yield* using("shop", (store) => Effect.as(Effect.andThen(store.flush, store.flush), store))
      same(thrown(() => store.append(beat(0))), "StoreUnavailable")
      same(yield* reason(store.flush), "StoreUnavailable")
    })
}

/** Makes the store at a place, as an open `SpaceStore` names it, busy for all handles until the scope closes. */
export type Hold = (place: string) => Effect.Effect<void, never, Scope.Scope>

/** A flush that another writer refuses for a while. */
export const busy = (hold: Hold): Group => ({
  "applies nothing while another writer holds the space, and all of the group afterwards": () =>
    Effect.gen(function*() {
      yield* using("shop", (store) => write(store, beat(0, { cells: [cell("/a", "0")] })))
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          yield* Effect.scoped(Effect.gen(function*() {
            yield* hold(store.place)
            store.append(beat(1, { cells: [cell("/a", "1")], queued: [{ seq: 0, text: "q" }] }))
            for (let attempt = 0; attempt < 2; attempt++) same(yield* reason(store.flush), "StoreBusy")
            same([store.head().beat, store.read("/a")], [1, "1"])
          }))
          yield* using("shop", (other) => Effect.sync(() => same([other.head().beat, other.read("/a")], [0, "0"])))
          store.append(beat(2, { cells: [cell("/b", "2")] }))
          yield* store.flush
        }))
      yield* using("shop", (store) =>
        Effect.sync(() => same([store.head().beat, store.read("/a"), store.read("/b"), [...store.queue()].length], [2, "1", "2", 1])))
    })
})
