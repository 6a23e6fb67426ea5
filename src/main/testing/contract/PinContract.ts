/**
 * The contract of persistence: a pinned state beside later changes, and the store of an import.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { PlacedStore, ReceiptRow } from "../../../persistence/Persistence.ts"
import { Persistence } from "../../../persistence/Persistence.ts"
import { holds, same } from "./Check.ts"
import { beat, cell, inbox, reason, using, write } from "./Batches.ts"
import type { Group } from "./StoreTest.ts"

/** The rows of a pin, without its content. */
const shown = (store: PlacedStore, pin: ReturnType<PlacedStore["pin"]>) => ({
  queue: [...pin.queue()].flat().map(({ id, seq, text }) => [seq, id, text]),
  receipts: [...pin.receipts(store.head().beat)].flat().map(({ beat, enzyme, id }) => [beat, id, enzyme]),
  observations: pin.observations().map(({ node, text }) => [node, text])
})

const receipt = (beat: number, id: string, enzyme = "e"): ReceiptRow => ({ id, enzyme, beat })

/** The receipt of an id that its caller chose. */
const called = (beat: number, id: string): ReceiptRow => ({ id, enzyme: "", beat, digest: "d" })

/** More rows than a page has. */
const MANY = 200

const filled = beat(0, {
  queued: Array.from({ length: MANY }, (_, seq) => seq % 2 === 0 ? { seq, text: `s${seq}` } : { seq, id: `i${seq % 4}`, text: `s${seq}` }),
  receipts: Array.from({ length: MANY }, (_, n) => receipt(0, `id${n}`)),
  observations: ["b", "a", "c"].map((node) => ({ node, text: `o${node}` })),
  blobs: [{ hash: "0".repeat(64), bytes: Uint8Array.of(1) }]
})

const later = [
  beat(1, {
    dequeued: [0, 63, 64, 199],
    queued: [{ seq: 5, text: "replaced" }, { seq: 300, text: "new" }],
    receipts: [receipt(1, "id7"), receipt(1, "new")],
    observations: [{ node: "a", text: "changed" }, { node: "b", text: undefined }, { node: "d", text: "new" }],
    blobs: [{ hash: "1".repeat(64), bytes: Uint8Array.of(2) }]
  }),
  inbox({ dequeued: [300, 1], queued: [{ seq: 301, text: "new" }] })
]

/** Pins. */
export const pin: Group = {
  "shows the queue, the receipts and the observations of its moment, whatever is flushed later": () =>
    using("shop", (store) => Effect.gen(function*() {
      yield* write(store, filled)
      const before = store.pin(MANY - 1)
      const first = shown(store, before)
      same(first.queue.map(([seq]) => seq), Array.from({ length: MANY }, (_, seq) => seq))
      same(first.receipts.map(([, id]) => id), Array.from({ length: MANY }, (_, n) => `id${n}`).sort())
      same(first.observations, [["a", "oa"], ["b", "ob"], ["c", "oc"]])
      const head = store.head().beat
      for (const batch of later) yield* write(store, batch)
      const receipts = [...before.receipts(head)].flat().map(({ beat, enzyme, id }) => [beat, id, enzyme])
      same({ ...shown(store, before), receipts }, first)
      same([before.isNew("0".repeat(64)), before.isNew("1".repeat(64))], [false, true])
      holds(before.size > 0, "the pin counts none of its copies")
      before.release()
      const after = store.pin(301)
      same(shown(store, after).queue.length, MANY - 5 + 1)
      after.release()
    })),
  "reads each receipt once and in order, while others are written between the pages": () =>
    using("shop", (store) => Effect.gen(function*() {
      for (let n = 0; n < 5; n++) {
        yield* write(store, beat(n, { receipts: Array.from({ length: 100 }, (_, i) => receipt(n, `id${i}`, `e${n}`)) }))
      }
      const pinned = store.pin(-1)
      const found: Array<string> = []
      let wrote = 0
      for (const page of pinned.receipts(4)) {
        found.push(...page.map(({ beat, enzyme, id }) => `${beat} ${id} ${enzyme}`))
        if (wrote++ < 3) yield* write(store, beat(4 + wrote, { receipts: [receipt(4 + wrote, "id50", `e${wrote}`)] }))
      }
      pinned.release()
      const all = [0, 1, 2, 3, 4].flatMap((n) => Array.from({ length: 100 }, (_, i) => `id${i}`).sort().map((id) => `${n} ${id} e${n}`))
      same(found, all)
    })),
  "reads the queue in short pages after all of it was handled": () =>
    using("shop", (store) => Effect.gen(function*() {
      const numbers = Array.from({ length: 500 }, (_, seq) => seq)
      yield* write(store, beat(0, { queued: numbers.map((seq) => ({ seq, text: `s${seq}` })) }))
      const pinned = store.pin(499)
      yield* write(store, beat(1, { dequeued: numbers.toReversed() }))
      const pages = [...pinned.queue()]
      same(pages.flat().map(({ seq }) => seq), numbers)
      holds(pages.every(({ length }) => length <= 128), "a page has more rows than two of the store")
      pinned.release()
    })),
  "reads the receipts after a beat, with a digest and without one": () =>
    using("shop", (store) => Effect.gen(function*() {
      for (let n = 0; n < 8; n++) {
        const receipts = Array.from({ length: 40 }, (_, i) => i % 2 === 0 ? receipt(n, `id${i}`, `e${n}`) : called(n, `c${n}.${i}`))
        yield* write(store, beat(n, { receipts }))
      }
      const pinned = store.pin(-1)
      const found = (after: number) => [...pinned.receipts(7, after)].flat().map(({ beat, id }) => `${beat} ${id}`)
      const all = found(-1)
      for (let after = -1; after < 8; after++) same(found(after), all.filter((text) => Number(text.split(" ")[0]) > after))
      pinned.release()
      same(all.length, 8 * 40)
    })),
  "keeps the journal before it from pruning until it ends": () =>
    using("shop", (store) => Effect.gen(function*() {
      for (let n = 0; n < 50; n++) yield* write(store, beat(n))
      const pinned = store.pin(-1)
      for (let n = 50; n < 900; n++) yield* write(store, beat(n))
      same([pinned.anchor.beat, store.anchor().beat, store.entry(0)?.beat], [-1, -1, 0])
      pinned.release()
      for (let n = 900; n < 1500; n++) yield* write(store, beat(n))
      holds(store.anchor().beat > 300, "nothing is pruned after the end of the pin")
    }), { create: true, retention: { journalMillis: 100_000 } })
}

const from = { beat: 6, clock: 6000, hash: "hash6" }

/** Imports. */
export const arrival: Group = {
  "opens a store of an import for the import alone, until it is whole": () =>
    Effect.gen(function*() {
      const importing = { create: true, importing: true }
      yield* using("shop", (store) => Effect.gen(function*() {
        same(store.arrival(), { note: "", isWhole: false })
        store.arrive({ note: "a", isWhole: false }, from)
        yield* write(store, inbox({ cells: [cell("/data/a", "1")] }))
      }), importing)
      same(yield* reason(using("shop", () => Effect.void)), "SpaceImporting")
      yield* using("shop", (store) => Effect.gen(function*() {
        const { beat: newest, hash } = store.head()
        same([store.arrival(), newest, hash, store.anchor()], [{ note: "a", isWhole: false }, 6, "hash6", { beat: 6, hash: "hash6" }])
        yield* write(store, beat(7, { cells: [cell("/data/b", "2")] }))
        store.arrive({ note: "b", isWhole: true })
        yield* store.flush
      }), { ...importing, create: false })
      same(yield* reason(using("shop", () => Effect.void, importing)), "SpaceExists")
      yield* using("shop", (store) => Effect.gen(function*() {
        same([store.arrival(), store.head().beat, store.anchor().beat], [{ note: "b", isWhole: true }, 7, 6])
        same([store.read("/data/a"), store.read("/data/b"), store.entry(7)?.hash], ["1", "2", "hash7"])
        yield* write(store, beat(8))
        same(store.arrival(), undefined)
      }))
      yield* using("shop", (store) => Effect.sync(() => same([store.arrival(), store.head().beat], [undefined, 8])))
    }),
  "leaves nothing of what was not flushed, and removes an import like a space": () =>
    Effect.gen(function*() {
      const importing = { create: true, importing: true }
      yield* using("shop", (store) => Effect.sync(() => store.arrive({ note: "a", isWhole: false }, from)), importing)
      yield* using("shop", (store) => Effect.sync(() => same([store.arrival()?.note, store.head().beat], ["", -1])), importing)
      yield* Persistence.use((persistence) => persistence.remove("shop"))
      yield* using("shop", (store) => Effect.sync(() => same(store.arrival(), undefined)))
    }),
  "refuses the import of a space that exists": () =>
    Effect.gen(function*() {
      yield* using("shop", (store) => write(store, beat(0)))
      same(yield* reason(using("shop", () => Effect.void, { create: true, importing: true })), "SpaceExists")
    })
}
