/**
 * The contract of persistence: the format of a store rises in one step, which keeps its data and stops other handles.
 *
 * A store whose rows have one form has no format, and stays as it is.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as StoreFormat from "../../../persistence/StoreFormat.ts"
import { holds, same } from "./Check.ts"
import { beat, cell, inbox, reason, using, write } from "./Batches.ts"
import type { Group } from "./StoreTest.ts"

const look = using("shop", (store) =>
  Effect.sync(() => [store.read("/data/a"), store.head().beat, ...Array.from(store.queue(), ({ text }) => text)]))

const formatNow = using("shop", (store) => Effect.sync(() => store.format()))

/** Raises the format of a store; answers whether it has one. */
const raised = using("shop", (store) =>
  Effect.gen(function*() {
    yield* store.raise(StoreFormat.newest)
    return store.format() !== undefined
  }))

const filled = using("shop", (store) => write(store, beat(0, { cells: [cell("/data/a", "1")], queued: [{ seq: 0, text: "q" }] })))

/** The rise of the format. */
export const formats: Group = {
  "makes a store in the oldest format, and raises it without a change of its data": () =>
    Effect.gen(function*() {
      yield* filled
      const before = yield* formatNow
      const hasFormat = yield* raised
      same(hasFormat, before !== undefined)
      if (before !== undefined) same([before, yield* formatNow], [StoreFormat.initial, StoreFormat.newest])
      same(yield* look, ["1", 0, "q"])
      yield* using("shop", (store) => write(store, beat(1, { cells: [cell("/data/a", "2")] })))
      same(yield* look, ["2", 1, "q"])
    }),
  "lowers no format, and notes that the rows are carried over": () =>
    Effect.gen(function*() {
      yield* filled
      if (!(yield* raised)) return
      const carried = { format: StoreFormat.NEWEST, carried: StoreFormat.NEWEST }
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          yield* store.raise(carried)
          yield* store.raise(StoreFormat.initial)
          same(store.format(), carried)
        }))
      same(yield* formatNow, carried)
      same(yield* look, ["1", 0, "q"])
    }),
  "keeps what waits for a flush while the format rises": () =>
    Effect.gen(function*() {
      yield* using("shop", (store) =>
        Effect.gen(function*() {
          yield* write(store, beat(0))
          store.append(beat(1, { cells: [cell("/data/a", "1")], queued: [{ seq: 0, text: "q" }] }))
          yield* store.raise(StoreFormat.newest)
          yield* store.flush
        }))
      same(yield* look, ["1", 1, "q"])
    }),
  "stops each other handle when the format rises, also one that wrote nothing so far": () =>
    using("shop", (older) =>
      Effect.gen(function*() {
        yield* write(older, beat(0, { cells: [cell("/data/a", "1")] }))
        yield* using("shop", (idle) =>
          Effect.gen(function*() {
            if (!(yield* raised)) return
            for (const store of [older, idle]) {
              store.append(inbox({ queued: [{ seq: 1, text: "late" }] }))
              holds((yield* reason(store.flush)) !== "succeeded", "a handle writes to a store whose format another one raised")
            }
            same(yield* look, ["1", 0])
          }))
      })),
  "raises the format by a handle that another one opened after, and stops that one": () =>
    using("shop", (store) =>
      Effect.gen(function*() {
        yield* write(store, beat(0, { cells: [cell("/data/a", "1")] }))
        yield* using("shop", (late) =>
          Effect.gen(function*() {
            yield* store.raise(StoreFormat.newest)
            if (store.format() === undefined) return
            late.append(inbox({ queued: [{ seq: 1, text: "late" }] }))
            same(yield* reason(late.flush), "StaleWriter")
            yield* write(store, beat(1))
            same(yield* look, ["1", 1])
          }))
      }))
}
