/**
 * The contract of persistence: signals that wait.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { QueueRow } from "../../../persistence/Persistence.ts"
import { atMost, same } from "./Check.ts"
import { beat, inbox, using, write } from "./Batches.ts"
import { type Group, mixed } from "./StoreTest.ts"

const row = (seq: number, id?: string): QueueRow => ({ seq, text: `${seq}`, ...id === undefined ? {} : { id } })

/** Signals that wait, by their numbers and by their ids. */
export const queue: Group = {
  "keeps the signals that wait in the order of their numbers": () => {
    const queued = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => ({ seq: from + i, text: `s${from + i}` }))
    return mixed({
      before: inbox({ queued: queued(0, 150) }),
      after: inbox({ queued: [...queued(160, 230), ...queued(150, 160)], dequeued: [0, 63, 64, 149, 160, 229, 999] })
    }, (store) => {
      const gone = new Set([0, 63, 64, 149, 160, 229])
      for (const after of [undefined, -1, 0, 64, 150, 160, 229]) {
        const left = queued((after ?? -1) + 1, 230).filter((row) => !gone.has(row.seq))
        same(Array.from(store.queue(after), ({ seq, text }) => ({ seq, text })), left)
      }
    })
  },
  "finds a signal that waits by its number, and those that share an id in the order of their numbers": () =>
    mixed({
      before: inbox({ queued: [row(1, "a"), row(2), row(3, "b"), row(4, "a")] }),
      after: inbox({
        queued: [row(7, "a"), row(5, "a"), row(6, "c"), row(8, "d")],
        dequeued: [3, 4, 8]
      })
    }, (store) => {
      const found = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((seq) => store.queued(seq, 1).map(({ text }) => text))
      same(found, [[], ["1"], ["2"], [], [], ["5"], ["6"], ["7"], [], []])
      for (const [seq, all] of [[1, [1, 2, 5, 6, 7]], [2, [2, 5, 6, 7]], [5, [5, 6, 7]]] as const) {
        for (const limit of [1, 2, 20]) {
          const rows = store.queued(seq, limit).map((row) => row.seq)
          atMost(rows.length, limit)
          same(rows, all.slice(0, Math.max(1, rows.length)))
        }
      }
      const waiting = (id: string) => store.waiting(id).map(({ seq, text }) => [seq, text])
      same(waiting("a"), [[1, "1"], [5, "5"], [7, "7"]])
      same(["b", "c", "d", "e"].map(waiting), [[], [[6, "6"]], [], []])
    }),
  "finds by its id what came after somebody looked": () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        for (const seq of [1, 2]) {
          store.append(inbox({ queued: [{ seq, id: "a", text: `${seq}` }] }))
          same(store.waiting("a").length, seq)
        }
        yield* write(store, inbox({ queued: [{ seq: 3, id: "a", text: "3" }], dequeued: [1] }))
        store.append(inbox({ queued: [{ seq: 4, id: "a", text: "4" }], dequeued: [2] }))
        same(store.waiting("a").map(({ seq }) => seq), [3, 4])
      })),
  "makes the text of a signal only if it outlives its group": () =>
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
        same(made, 1)
        same(Array.from(store.queue(), (row) => row.text), ["s2"])
      }))
}
