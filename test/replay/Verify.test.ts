import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { Kernel, type JournalRow, MemoryStore, type Space, verify } from "systole"
import * as TestSpace from "../kernel/TestSpace.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import * as TestKernel from "../support/TestKernel.ts"

type HistorySource = Parameters<Parameters<Space["examine"]>[0]>[0]

const digest = (text: string) => createHash("sha256").update(text.split("\n")[0]!).digest("hex")

/** Runs beats until the retention has pruned some rows. Returns the oldest beat left. */
const pruned = Effect.fnUntraced(function*(space: Space) {
  for (let i = 0; i < 700; i++) yield* space.step
  const { first } = yield* space.examine(verify)
  assert.isAbove(first!, 0)
  return first!
})

const settings = { retention: { journalBytes: 30_000 } }

/** The history with another journal; its newest row is the head. */
const over = (history: HistorySource, rows: ReadonlyArray<JournalRow>): HistorySource => {
  const head = { ...history.store.head(), hash: rows.at(-1)!.hash }
  const changed: Partial<HistorySource["store"]> = {
    head: () => head,
    scanJournal: (from, to) => rows.filter(({ beat }) => beat >= from && beat <= to)
  }
  return {
    ...history,
    store: new Proxy(history.store, {
      get: (store, key) => Reflect.get(changed, key) ?? Reflect.get(store, key).bind?.(store) ?? Reflect.get(store, key)
    })
  }
}

for (const [name, persistence] of [["memory", MemoryStore.layer], ["SQLite", SqliteFolder.layer]] as const) {
  describe(`A verification after pruning, in ${name}`, () => {
    it.effect("succeeds, and begins with the oldest kept row", () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space([])
        const first = yield* pruned(space)
        const found = yield* space.examine(verify)
        assert.deepStrictEqual([found.fault, found.first, found.last, found.entries], [undefined, first, 699, 700 - first])
      }).pipe(Effect.provide(TestKernel.layer(settings, persistence))))

    it.effect("succeeds during further pruning", () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space([])
        const first = yield* pruned(space)
        const found = yield* space.examine(async (history) => {
          let rests = 0
          const beats = async () => {
            for (let i = 0; i < 300; i++) await Effect.runPromise(space.step)
          }
          const found = await verify({ ...history, rest: () => ++rests === 70 ? beats() : undefined })
          assert.isAbove(history.store.anchor().beat, first + 100)
          return found
        })
        assert.isUndefined(found.fault, found.fault?.reason)
      }).pipe(Effect.provide(TestKernel.layer(settings, persistence))))

    it.effect("names the oldest row if more rows are missing than were pruned", () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space([])
        const first = yield* pruned(space)
        const { fault } = yield* space.examine((history) => verify(over(history, [...history.store.scanJournal(first + 3, 699)])))
        assert.strictEqual(fault?.beat, first + 3)
        assert.include(fault?.reason, `beat ${first - 1}`)
      }).pipe(Effect.provide(TestKernel.layer(settings, persistence))))

    it.effect("names the oldest row if its predecessor is not the pruned one, even if all later rows fit", () =>
      Effect.gen(function*() {
        const space = yield* TestKernel.space([])
        const first = yield* pruned(space)
        const { fault } = yield* space.examine((history) => {
          let prev = "f".repeat(64)
          const forged = Array.from(history.store.scanJournal(first, 699), (row) => {
            const text = row.text.replace(/"prev":"[^"]*"/, `"prev":"${prev}"`)
            prev = digest(text)
            return { ...row, text, hash: prev }
          })
          return verify(over(history, forged))
        })
        assert.strictEqual(fault?.beat, first)
      }).pipe(Effect.provide(TestKernel.layer(settings, persistence))))
  })
}

describe("A verification", () => {
  it.effect("finds missing first rows of a journal without pruning", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([])
      yield* TestSpace.steps(space, 5)
      const { fault } = yield* space.examine((history) => verify(over(history, [...history.store.scanJournal(2, 4)])))
      assert.strictEqual(fault?.beat, 2)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("finds oldest rows that were deleted in the file", () =>
    Effect.gen(function*() {
      const folder = yield* SqliteFolder.folder
      const life = <A, E>(body: (space: Space) => Effect.Effect<A, E>) =>
        Effect.scoped(Effect.flatMap(Kernel, (kernel) => Effect.flatMap(kernel.space("cut"), body))).pipe(Effect.provide(
          TestKernel.layer({}, SqliteFolder.layerIn(folder)),
          { local: true }
        ))
      yield* life((space) => TestSpace.steps(space, 5))
      const database = new DatabaseSync(join(folder, "cut.sqlite"))
      database.exec("DELETE FROM journal WHERE beat < 3")
      database.close()
      const { fault } = yield* life((space) => space.examine(verify))
      assert.strictEqual(fault?.beat, 3)
    }))

  it.effect("finds no fault in a journal that another host has written on and pruned", () =>
    Effect.gen(function*() {
      const folder = yield* SqliteFolder.folder
      const life = <A, E, R>(body: (space: Space) => Effect.Effect<A, E, R>) =>
        Effect.scoped(Effect.flatMap(Kernel, (kernel) => Effect.flatMap(kernel.space("taken"), body))).pipe(Effect.provide(
          TestKernel.layer({ retention: { journalBytes: 1 } }, SqliteFolder.layerIn(folder)),
          { local: true }
        ))
      const found = yield* life((older) => Effect.gen(function*() {
        yield* TestSpace.steps(older, 5)
        yield* life((newer) => TestSpace.steps(newer, 600))
        return yield* older.examine(verify)
      }))
      assert.deepStrictEqual([found.fault, found.entries], [undefined, 0])
    }))

  it.effect("finds that all rows were deleted in the file", () =>
    Effect.gen(function*() {
      const folder = yield* SqliteFolder.folder
      const { fault } = yield* Effect.gen(function*() {
        const space = yield* (yield* Kernel).space("cut")
        yield* TestSpace.steps(space, 5)
        const database = new DatabaseSync(join(folder, "cut.sqlite"))
        database.exec("DELETE FROM journal")
        database.close()
        return yield* space.examine(verify)
      }).pipe(Effect.provide(TestKernel.layer({}, SqliteFolder.layerIn(folder))))
      assert.deepStrictEqual([fault?.beat, fault?.code], [4, "journal/changed"])
    }))
})
