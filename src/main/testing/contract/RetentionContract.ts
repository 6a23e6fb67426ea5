/**
 * The contract of persistence: rows beyond the retention go, a few at a time.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { ReceiptRow, SpaceStore } from "../../../persistence/Persistence.ts"
import { atLeast, atMost, same } from "./Check.ts"
import { beat, using, write } from "./Batches.ts"
import type { Group } from "./StoreTest.ts"

const day = 86_400_000

const at = (number: number, clock: number, text: string) => ({
  ...beat(number),
  entry: { beat: number, clock, text, hash: `hash${number}` },
  receipts: [
    { id: `id${number}`, enzyme: "e", beat: number },
    { id: `caller${number}`, enzyme: "", beat: number, digest: "d", own: `own${number}` }
  ]
})
const fill = (store: SpaceStore, text: string) =>
  Effect.gen(function*() {
    for (let n = 0; n < 2000; n++) yield* write(store, at(n, n * day / 100, text))
  })
const kept = (store: SpaceStore) => Array.from(store.scanJournal(0, Infinity), (row) => row.beat)

/** The journal and receipts, by age and by size. */
export const retained: Group = {
  "prunes journal and digests by age, and never the head": () =>
    Effect.gen(function*() {
      const options = { create: true, retention: { journalMillis: 5 * day, receiptMillis: 2 * day } }
      yield* using("shop", (store) => fill(store, "text"), options)
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          const beats = kept(store)
          same(beats, Array.from({ length: beats.length }, (_, i) => 2000 - beats.length + i))
          atLeast(beats.length, 500)
          atMost(beats.length, 500 + 256)
          same(store.entry(0), undefined)
          const last = 2000 - beats.length - 1
          same(store.anchor(), { beat: last, hash: `hash${last}` })
          const receipts = Array.from({ length: 2000 }, (_, n) => store.receipts(`caller${n}`).length)
          same(receipts.lastIndexOf(0), receipts.indexOf(1) - 1)
          same(Array.from({ length: 2000 }, (_, n) => store.named(`own${n}`, 10).length), receipts)
          atLeast(2000 - receipts.indexOf(1), 200)
          atMost(2000 - receipts.indexOf(1), 200 + 256)
          yield* write(store, at(5000, 5000 * day, "far ahead"))
          for (let n = 5001; n < 5600; n++) yield* write(store, at(n, 5000 * day, "far ahead"))
          same(kept(store)[0], 5000)
          same(store.anchor(), { beat: 1999, hash: "hash1999" })
        }), options)
    }),
  "prunes nothing for a jump of the clock that does not count, and the rest by its age": () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        const jump = { clock: 1000 * day, millis: 1000 * day }
        store.setJumps([jump])
        yield* write(store, at(0, 0, "before"))
        for (let n = 1; n < 600; n++) yield* write(store, at(n, jump.clock + n, "after"))
        same(kept(store)[0], 0)
        same(store.receipts("caller0").length, 1)
        for (let n = 600; n < 1500; n++) yield* write(store, at(n, jump.clock + 3 * day, "later"))
        same(kept(store)[0], 0)
        same(store.receipts("caller0"), [])
        for (let n = 1500; n < 3000; n++) yield* write(store, at(n, jump.clock + 6 * day, "last"))
        same(kept(store)[0], 600)
      }), { create: true, retention: { journalMillis: 5 * day, receiptMillis: 2 * day } }),
  "keeps each receipt without a digest exactly as long as the journal row that it points to": () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        const often = (beat: number) => ["again", `e${String(beat).padStart(3, "0")}`].map((enzyme) => ({ id: "often", enzyme, beat }))
        for (let n = 0; n < 900; n++) {
          const made = at(n, n * day, "text")
          yield* write(store, { ...made, receipts: [...made.receipts, ...often(n)] })
        }
        const beats = kept(store)
        atLeast(beats[0] ?? 0, 1)
        same(Array.from({ length: 900 }, (_, n) => n).filter((n) => store.receipts(`id${n}`).length > 0), beats)
        same(store.receipts("often").map(({ beat }) => beat), [899, ...beats])
      }), { create: true, retention: { journalMillis: 10 * day, receiptMillis: day } }),
  "keeps a receipt with a digest from when it was last written, whatever becomes of the journal and of others": () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        const text = "x".repeat(100)
        const step = (n: number, receipts: ReadonlyArray<ReceiptRow>) => write(store, { ...at(n, n * day / 100, text), receipts })
        const renewed = { id: "renewed", enzyme: "", beat: 0, digest: "d" }
        yield* step(0, [renewed, { id: "left", enzyme: "", beat: 0, digest: "d" }, { id: "renewed", enzyme: "e", beat: 0 }])
        for (let n = 1; n < 2000; n++) yield* step(n, n === 1000 ? [renewed] : [])
        same(store.entry(0), undefined)
        same(store.receipts("left"), [])
        same(store.receipts("renewed"), [renewed])
        for (let n = 2000; n < 3000; n++) yield* step(n, [])
        same(store.receipts("renewed"), [])
      }), { create: true, retention: { journalBytes: 20_000, receiptMillis: 12 * day } }),
  "prunes large rows a few at a time": () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        for (let n = 0; n < 8; n++) yield* write(store, at(n, n, "x".repeat(1_500_000)))
        yield* write(store, at(8, 8, "small"))
        atMost(kept(store).length, 5)
        same(store.entry(0), undefined)
      }), { create: true, retention: { journalBytes: 3_000_000 } }),
  "prunes before a beat on request, whatever the age, never the newest row, and nothing while there is a pin": () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        for (let n = 0; n < 40; n++) yield* write(store, at(n * 2, n, "text"))
        const pin = store.pin(-1)
        store.prune(21)
        yield* store.flush
        same(kept(store)[0], 0)
        pin.release()
        store.prune(21)
        yield* store.flush
        same([kept(store)[0], kept(store).length, store.anchor()], [22, 29, { beat: 20, hash: "hash20" }])
        same([0, 20, 22].map((beat) => store.receipts(`id${beat}`).length), [0, 0, 1])
        same(store.receipts("caller0").length, 1)
        store.prune(1000)
        yield* store.flush
        same([kept(store), store.head().beat], [[78], 78])
      })),
  "prunes the journal by its characters": () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        yield* fill(store, "x".repeat(1000))
        const beats = kept(store)
        atLeast(beats.length, 300)
        atMost(beats.length, 300 + 256)
        same(beats.at(-1), 1999)
      }), { create: true, retention: { journalBytes: 300_000 } })
}
