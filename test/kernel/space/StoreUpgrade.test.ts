import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Kernel, replay, type Space, type SpaceStore, StoreFormat, verify } from "systole"
import { enzyme, steps, turns } from "../TestSpace.ts"
import * as RestartableKernel from "../RestartableKernel.ts"

/** Sends its payload to space b, which records it. */
const enzymes = [
  enzyme("send", (tx, { payload }) => {
    for (const item of payload as ReadonlyArray<unknown>) tx.signal({ signal: "/signals/take", space: "b", payload: item })
  }),
  enzyme("take", (tx, { payload }) => tx.append("/data/taken", payload))
]

const spaces = (kernel: Kernel["Service"]) => Effect.all([kernel.space("a"), kernel.space("b")])

const taken = (space: Space) => Effect.map(space.get("/data/taken"), (list) => list ?? [])

const isReplayedEqual = Effect.fnUntraced(function*(space: Space) {
  const head = yield* space.head
  assert.isUndefined((yield* space.examine((archive) => replay(archive, 0, head))).difference, space.name)
  assert.isUndefined((yield* space.examine(verify)).fault)
})

const send = Effect.fnUntraced(function*(a: Space, ...items: ReadonlyArray<unknown>) {
  yield* a.signal({ signal: "/signals/send", payload: items })
  yield* a.step
  yield* turns()
})

/** The origins of the rows that wait for another space; absent for a row of the older form. */
const originsIn = (store: Pick<SpaceStore, "queue">): ReadonlyArray<string | undefined> =>
  Array.from(store.queue(), ({ text }) => (JSON.parse(text) as { readonly to?: { readonly from?: string } }).to?.from)

const origins = (space: Space) => space.examine(({ store }) => originsIn(store))

describe("the upgrade of a store", () => {
  it.effect("leaves the format as it is until it is finished, so that rows have the form of the version before", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const [a] = yield* spaces(yield* host.boot())
      yield* host.hold("b")
      yield* send(a, 1)
      assert.deepStrictEqual(yield* origins(a), [undefined])
      assert.strictEqual((yield* a.storage.status).format, StoreFormat.OLDEST)
      const refused = yield* Effect.flip(a.storage.carry({ limit: 10 }))
      assert.strictEqual(refused.code, "store/unfinished")
      assert.include(refused.message, "systole upgrade finish")
      assert.deepStrictEqual(yield* origins(a), [undefined])
    }))

  it.effect("is finished once, without a beat, and the journal replays across it", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const [a, b] = yield* spaces(yield* host.boot())
      yield* send(a, 1)
      const head = yield* a.head
      for (let i = 0; i < 2; i++) assert.strictEqual((yield* a.storage.finish).format, StoreFormat.NEWEST)
      assert.strictEqual(yield* a.head, head)
      yield* send(a, 2)
      yield* steps(b, 3)
      assert.deepStrictEqual(yield* taken(b), [1, 2])
      for (const space of [a, b]) yield* isReplayedEqual(space)
    }))

  it.effect("rewrites the rows of the older form in pages, and goes on after a crash in the middle", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const [a] = yield* spaces(yield* host.boot())
      yield* host.hold("b")
      yield* send(a, 1, 2, 3, 4, 5)
      yield* a.storage.finish
      yield* send(a, 6)
      const first = yield* a.storage.carry({ limit: 2 })
      assert.strictEqual(first.rows, 2)
      assert.deepInclude(yield* a.storage.status, { format: StoreFormat.NEWEST, carried: StoreFormat.SETTLED })
      const kernel = yield* host.boot()
      const again = yield* kernel.space("a")
      const found = yield* origins(again)
      assert.deepStrictEqual(found.map((from) => from !== undefined), [true, true, false, false, false, true])
      const pages: Array<number> = []
      let after: number | undefined
      do {
        const page: { readonly rows: number; readonly next?: number | undefined } = yield* again.storage.carry({ after, limit: 4 })
        pages.push(page.rows)
        after = page.next
      } while (after !== undefined)
      assert.deepStrictEqual(pages, [2, 1])
      assert.lengthOf(new Set(yield* origins(again)), 1)
      assert.deepInclude(yield* again.storage.status, { format: StoreFormat.NEWEST, carried: StoreFormat.NEWEST })
      yield* host.release("b")
      yield* turns()
      const b = yield* (yield* host.boot()).space("b")
      yield* turns()
      yield* steps(b, 8)
      assert.deepStrictEqual(yield* taken(b), [1, 2, 3, 4, 5, 6])
    }))

  it.effect("handles a signal once whose row was rewritten after its delivery", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const [a, b] = yield* spaces(yield* host.boot())
      yield* host.hold("b")
      yield* send(a, 1, 2)
      yield* a.storage.finish
      // The sender ends before it learns of the delivery.
      yield* host.hold("a")
      yield* host.release("b")
      yield* turns()
      yield* steps(b, 3)
      const kernel = yield* host.boot()
      yield* host.release("a")
      yield* host.hold("b")
      const again = yield* kernel.space("a")
      yield* again.storage.carry({ limit: 10 })
      yield* host.release("b")
      yield* turns()
      const there = yield* kernel.space("b")
      yield* steps(there, 3)
      assert.deepStrictEqual(yield* taken(there), [1, 2])
    }))

  it.effect("sends a row under the origin that it names, and others apart from it", () =>
    Effect.gen(function*() {
      const host = yield* RestartableKernel.make(enzymes)
      const [a] = yield* spaces(yield* host.boot())
      yield* a.storage.finish
      yield* host.hold("b")
      yield* send(a, 1, 2, 3)
      yield* host.boot()
      // As of a space that was brought back: its first two signals were sent before.
      yield* host.edit("a", (store) => {
        const rows = [...store.queue()].slice(0, 2).map(({ id, seq, text }) =>
          ({ id, seq, text: text.replace(/"from":"[^"]*"/, `"from":"a@before"`) }))
        store.append({ entry: undefined, cells: [], receipts: [], queued: rows, dequeued: [], blobs: [], observations: [] })
      })
      const kernel = yield* host.boot()
      yield* kernel.space("a")
      yield* host.release("b")
      yield* turns()
      const b = yield* kernel.space("b")
      yield* steps(b, 4)
      assert.deepStrictEqual(yield* taken(b), [1, 2, 3])
      assert.deepStrictEqual(yield* (yield* kernel.space("a")).examine(({ store }) => [...store.queue()]), [])
    }))
})
