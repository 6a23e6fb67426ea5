/**
 * The contract of persistence: one writer at a time, and the moment at which a space next has something to do.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Persistence, type SpaceStore } from "systole"
import { beat, cell, inbox, reason, thrown, using, write } from "../persistence/Batches.ts"
import type { Test } from "./StoreTest.ts"

export const writers = (test: Test) => {
  test("refuses a beat that does not follow the head", () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        yield* write(store, beat(5))
        for (const number of [5, 4, -1]) assert.strictEqual(thrown(() => store.append(beat(number, { cells: [cell("/a", "1")] }))), "BeatConflict")
        assert.isUndefined(store.read("/a"))
        yield* write(store, beat(7))
        assert.strictEqual(store.head().beat, 7)
      })))
  test("stops the older of two handles before it changes anything", () =>
    using("shop", (older) =>
      Effect.gen(function*() {
        yield* write(older, beat(0, { cells: [cell("/a", "0")] }))
        yield* using("shop", (newer) =>
          Effect.gen(function*() {
            assert.deepStrictEqual([older.epoch, newer.epoch], [1, 1])
            yield* write(newer, inbox({ queued: [{ seq: 0, text: "q" }] }))
            assert.deepStrictEqual([older.epoch, newer.epoch], [1, 2])
            older.append(beat(1, { cells: [cell("/a", "old")] }))
            assert.strictEqual(yield* reason(older.flush), "StaleWriter")
            assert.strictEqual(thrown(() => older.append(beat(2))), "StaleWriter")
            assert.strictEqual(yield* reason(older.flush), "StaleWriter")
            assert.strictEqual(newer.read("/a"), "0")
            yield* write(newer, beat(1, { cells: [cell("/a", "new")] }))
          }))
        yield* using("shop", (third) =>
          Effect.sync(() => assert.deepStrictEqual([third.epoch, third.read("/a"), third.head().beat], [2, "new", 1])))
      })))
  test("claims an epoch with the first write, and none by opening and reading", () =>
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
      assert.deepStrictEqual(epochs, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 2, 0])
    }))
  for (const [title, batch] of [["a beat", beat(1)], ["a signal that waits", inbox({ queued: [{ seq: 1, text: "q" }] })]] as const) {
    test(`stops a handle that was opened before another one wrote ${title}, and writes for the first time`, () =>
      using("shop", (active) =>
        Effect.gen(function*() {
          yield* write(active, beat(0))
          yield* using("shop", (late) =>
            Effect.gen(function*() {
              yield* write(active, batch)
              late.append(inbox({ queued: [{ seq: 1, text: "lost" }] }))
              assert.strictEqual(yield* reason(late.flush), batch.entry === undefined ? "StaleWriter" : "BeatConflict")
            }))
          yield* write(active, beat(2))
          assert.deepStrictEqual(Array.from(active.queue(), ({ text }) => text), batch.queued.map(({ text }) => text))
        })))
  }
  test("stops the older of two handles before it uploads, and the newer finds nothing of its uploads", () =>
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
            assert.notStrictEqual(yield* reason(older.flush), "succeeded")
            assert.deepStrictEqual([newer.blob("new"), newer.blob("old")], [Uint8Array.of(2), undefined])
          }))
      })))
}

/** A store may answer a moment that is up to a second earlier. */
const isAbout = (moment: number | undefined, set: number | undefined): boolean =>
  moment === set || (moment !== undefined && set !== undefined && moment <= set && set - moment < 1000)

export const moments = (test: Test) => {
  const due = (space: string) => Persistence.use((persistence) => persistence.due(space))
  test("answers the next moment that the last flush set, whether the space is open or not", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* reason(due("shop")), "NoSuchSpace")
      assert.strictEqual(yield* reason(due("A")), "InvalidSpaceName")
      yield* using("shop", () => Effect.void)
      assert.strictEqual(yield* due("shop"), 0)
      let number = 0
      for (const moment of [1_790_000_000_123, undefined, 0, 5, 1_790_000_000_999, 1_790_000_001_000, undefined, 0]) {
        yield* using("shop", (store) =>
          Effect.gen(function*() {
            const before = yield* due("shop")
            store.setDue(moment)
            yield* store.flush
            assert.strictEqual(yield* due("shop"), before)
            yield* write(store, number % 2 === 0 ? beat(number) : inbox({ queued: [{ seq: number, text: "q" }] }))
            assert.isTrue(isAbout(yield* due("shop"), moment), `${yield* due("shop")} for ${moment}`)
            store.setDue(77_000)
            store.append(beat(++number))
          }))
        assert.isTrue(isAbout(yield* due("shop"), moment), `${yield* due("shop")} for ${moment}`)
      }
      yield* using("shop", (store) => write(store, beat(100)))
      assert.strictEqual(yield* due("shop"), 0)
    }))
  test("keeps the moments of spaces apart", () =>
    Effect.gen(function*() {
      for (const [space, moment] of [["a", 1000], ["b", undefined], ["c", 0]] as const) {
        yield* using(space, (store) => {
          store.setDue(moment)
          return write(store, beat(0))
        })
      }
      assert.deepStrictEqual(yield* Effect.forEach(["a", "b", "c"], due), [1000, undefined, 0])
    }))
}
