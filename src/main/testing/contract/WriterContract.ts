/**
 * The contract of persistence: one writer at a time, and the moment at which a space next has work.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type { Batch, SpaceStore } from "../../../persistence/Persistence.ts"
import { Persistence } from "../../../persistence/Persistence.ts"
import { holds, same } from "./Check.ts"
import { beat, cell, inbox, reason, thrown, using, write } from "./Batches.ts"
import type { Group } from "./StoreTest.ts"

/** Another handle writes a batch after a handle opened and before its first write. */
const overtaken = (batch: Batch) =>
  using("shop", (active) =>
    Effect.gen(function*() {
      yield* write(active, beat(0))
      yield* using("shop", (late) =>
        Effect.gen(function*() {
          yield* write(active, batch)
          late.append(inbox({ queued: [{ seq: 1, text: "lost" }] }))
          same(yield* reason(late.flush), batch.entry === undefined ? "StaleWriter" : "BeatConflict")
        }))
      yield* write(active, beat(2))
      same(Array.from(active.queue(), ({ text }) => text), batch.queued.map(({ text }) => text))
    }))

/** One writer at a time: epochs, and handles that were overtaken. */
export const writers: Group = {
  "refuses a beat that does not follow the head": () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        yield* write(store, beat(5))
        for (const number of [5, 4, -1]) same(thrown(() => store.append(beat(number, { cells: [cell("/a", "1")] }))), "BeatConflict")
        same(store.read("/a"), undefined)
        yield* write(store, beat(7))
        same(store.head().beat, 7)
      })),
  "stops the older of two handles before it changes anything": () =>
    using("shop", (older) =>
      Effect.gen(function*() {
        yield* write(older, beat(0, { cells: [cell("/a", "0")] }))
        yield* using("shop", (newer) =>
          Effect.gen(function*() {
            same([older.epoch, newer.epoch], [1, 1])
            yield* write(newer, inbox({ queued: [{ seq: 0, text: "q" }] }))
            same([older.epoch, newer.epoch], [1, 2])
            older.append(beat(1, { cells: [cell("/a", "old")] }))
            same(yield* reason(older.flush), "StaleWriter")
            same(thrown(() => older.append(beat(2))), "StaleWriter")
            same(yield* reason(older.flush), "StaleWriter")
            same(newer.read("/a"), "0")
            yield* write(newer, beat(1, { cells: [cell("/a", "new")] }))
          }))
        yield* using("shop", (third) =>
          Effect.sync(() => same([third.epoch, third.read("/a"), third.head().beat], [2, "new", 1])))
      })),
  "claims an epoch with the first write, and none by opening and reading": () =>
    Effect.gen(function*() {
      const epochs: Array<number> = []
      const look = (store: SpaceStore) => Effect.sync(() => void epochs.push(store.epoch, [...store.queue()].length))
      for (let i = 0; i < 3; i++) yield* using("shop", look)
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          for (let n = 0; n < 3; n++) {
            yield* write(store, beat(n))
            epochs.push(store.epoch)
          }
        }))
      yield* using("shop", look)
      yield* using("shop", (store) => Effect.andThen(write(store, beat(3)), look(store)))
      same(epochs, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 2, 0])
    }),
  "stops a handle that was opened before another one wrote a beat, and writes for the first time": () => overtaken(beat(1)),
  "stops a handle that was opened before another one wrote a signal that waits, and writes for the first time": () =>
    overtaken(inbox({ queued: [{ seq: 1, text: "q" }] })),
  "stops the handle that created the space when another one wrote first, and has all of its writes": () =>
    using("shop", (creator) =>
      Effect.gen(function*() {
        yield* using("shop", (other) =>
          write(other, beat(0, { cells: [cell("/a", "other")], queued: [{ seq: 0, text: "other" }] })))
        creator.append(beat(0, { cells: [cell("/a", "creator")] }))
        holds((yield* reason(creator.flush)) !== "succeeded", "the handle that created the space writes over another one")
        yield* using("shop", (store) =>
          Effect.sync(() => same([store.read("/a"), ...Array.from(store.queue(), ({ text }) => text)], ["other", "other"])))
      })),
  "stops the older of two handles before it uploads, and the newer finds nothing of its uploads": () =>
    using("shop", (older) =>
      Effect.gen(function*() {
        const upload = (store: SpaceStore, hash: string, byte: number) => {
          const writer = store.writeBlob()
          writer.write(Uint8Array.of(byte))
          writer.finish(hash)
        }
        upload(older, "old", 1)
        yield* using("shop", (newer) =>
          Effect.gen(function*() {
            upload(newer, "new", 2)
            yield* newer.flush
            holds((yield* reason(older.flush)) !== "succeeded", "the older handle writes")
            same([newer.blob("new"), newer.blob("old")], [Uint8Array.of(2), undefined])
          }))
      }))
}

/** A store may answer a moment that is up to a second earlier, and 0 for one before 1970. */
const isAbout = (moment: number | undefined, set: number | undefined): boolean =>
  moment === set ||
  (moment !== undefined && set !== undefined && (set < 0 ? moment === 0 : moment <= set && set - moment < 1000))

const due = (space: string) => Persistence.use((persistence) => persistence.due(space))

/** The moment at which a space next has work. */
export const moments: Group = {
  "answers the next moment that the last flush set, whether the space is open or not": () =>
    Effect.gen(function*() {
      same(yield* reason(due("shop")), "NoSuchSpace")
      same(yield* reason(due("A")), "InvalidSpaceName")
      yield* using("shop", () => Effect.void)
      same(yield* due("shop"), 0)
      let number = 0
      for (const moment of [1_790_000_000_123, undefined, 0, -1000, 5, 1_790_000_000_999, 1_790_000_001_000, undefined, 0]) {
        yield* using("shop", (store) =>
          Effect.gen(function*() {
            const before = yield* due("shop")
            store.setDue(moment)
            yield* store.flush
            same(yield* due("shop"), before)
            yield* write(store, number % 2 === 0 ? beat(number) : inbox({ queued: [{ seq: number, text: "q" }] }))
            holds(isAbout(yield* due("shop"), moment), `${yield* due("shop")} for ${moment}`)
            store.setDue(77_000)
            store.append(beat(++number))
          }))
        holds(isAbout(yield* due("shop"), moment), `${yield* due("shop")} for ${moment}`)
      }
      yield* using("shop", (store) => write(store, beat(100)))
      same(yield* due("shop"), 0)
    })
}

/** The moments of several spaces in one place. */
export const momentsApart: Group = {
  "keeps the moments of spaces apart": () =>
    Effect.gen(function*() {
      for (const [space, moment] of [["a", 1000], ["b", undefined], ["c", 0]] as const) {
        yield* using(space, (store) => {
          store.setDue(moment)
          return write(store, beat(0))
        })
      }
      same(yield* Effect.forEach(["a", "b", "c"], due), [1000, undefined, 0])
    })
}
