/**
 * The contract of persistence for what waits.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { beat, inbox, using, write } from "../persistence/Batches.ts"
import { mixed, type Test } from "./StoreTest.ts"

/** Signals that wait, by their numbers and by their ids. */
export const queue = (test: Test): void => {
  test("keeps the signals that wait in the order of their numbers", () => {
    const queued = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => ({ seq: from + i, text: `s${from + i}` }))
    return mixed({
      before: inbox({ queued: queued(0, 150) }),
      after: inbox({ queued: [...queued(160, 230), ...queued(150, 160)], dequeued: [0, 63, 64, 149, 160, 229, 999] })
    }, (store) => {
      const gone = new Set([0, 63, 64, 149, 160, 229])
      assert.deepStrictEqual(Array.from(store.queue(), ({ seq, text }) => ({ seq, text })), queued(0, 230).filter((row) => !gone.has(row.seq)))
      for (const after of [-1, 0, 64, 150, 160, 229]) {
        assert.deepStrictEqual(Array.from(store.queue(after), ({ seq }) => seq), queued(after + 1, 230).map(({ seq }) => seq).filter((seq) => !gone.has(seq)))
      }
    })
  })
  test("finds a signal that waits by its number, and those that share an id in the order of their numbers", () =>
    mixed({
      before: inbox({ queued: [{ seq: 1, id: "a", text: "1" }, { seq: 2, text: "2" }, { seq: 3, id: "b", text: "3" }, { seq: 4, id: "a", text: "4" }] }),
      after: inbox({
        queued: [{ seq: 7, id: "a", text: "7" }, { seq: 5, id: "a", text: "5" }, { seq: 6, id: "c", text: "6" }, { seq: 8, id: "d", text: "8" }],
        dequeued: [3, 4, 8]
      })
    }, (store) => {
      const found = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((seq) => store.queued(seq, 1).map(({ text }) => text))
      assert.deepStrictEqual(found, [[], ["1"], ["2"], [], [], ["5"], ["6"], ["7"], [], []])
      for (const [seq, all] of [[1, [1, 2, 5, 6, 7]], [2, [2, 5, 6, 7]], [5, [5, 6, 7]]] as const) {
        for (const limit of [1, 2, 20]) {
          const rows = store.queued(seq, limit).map((row) => row.seq)
          assert.isAtMost(rows.length, limit)
          assert.deepStrictEqual(rows, all.slice(0, Math.max(1, rows.length)))
        }
      }
      const waiting = (id: string) => store.waiting(id).map(({ seq, text }) => [seq, text])
      assert.deepStrictEqual(waiting("a"), [[1, "1"], [5, "5"], [7, "7"]])
      assert.deepStrictEqual(["b", "c", "d", "e"].map(waiting), [[], [[6, "6"]], [], []])
    }))
  test("finds by its id what came after somebody looked", () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        for (const seq of [1, 2]) {
          store.append(inbox({ queued: [{ seq, id: "a", text: `${seq}` }] }))
          assert.lengthOf(store.waiting("a"), seq)
        }
        yield* write(store, inbox({ queued: [{ seq: 3, id: "a", text: "3" }], dequeued: [1] }))
        store.append(inbox({ queued: [{ seq: 4, id: "a", text: "4" }], dequeued: [2] }))
        assert.deepStrictEqual(store.waiting("a").map(({ seq }) => seq), [3, 4])
      })))
  test("makes the text of a signal only if it outlives its group", () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        let made = 0
        const lazy = (seq: number) => ({
          seq,
          get text() {
            made++
            return `s${seq}`
          }
        })
        store.append(inbox({ queued: [lazy(1), lazy(2)] }))
        store.append(beat(0, { dequeued: [1], queued: [lazy(3)] }))
        store.append(beat(1, { dequeued: [3] }))
        yield* store.flush
        assert.strictEqual(made, 1)
        assert.deepStrictEqual(Array.from(store.queue(), (row) => row.text), ["s2"])
      })))
}
