import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Kernel, Label, replay, type Space, verify } from "systole"
import * as SqliteFolder from "../../persistence/SqliteFolder.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme, steps } from "../TestSpace.ts"

const pay = enzyme("pay", (_, { payload }) => payload, { query: "/signals/pay" })
const post = { signal: "/signals/pay", payload: 5 }

describe("an event with its caller's own id, in a file of SQLite", () => {
  it.effect("is found by it while it waits, when it is over, and without its journal, over kernels that end", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* SqliteFolder.folder
      const settings = { retention: { journalBytes: 20_000 } }
      const lived = <A, E>(life: (space: Space) => Effect.Effect<A, E>) =>
        Effect.gen(function*() {
          const kernel = yield* Kernel
          yield* kernel.register(pay)
          return yield* Effect.flatMap(kernel.space("shop"), life)
        }).pipe(Effect.provide(TestKernel.layer(settings, SqliteFolder.layerIn(folder))))
      const sent = yield* lived((space) => Effect.all([
        space.signal({ ...post, id: "order-7" }),
        space.signal({ ...post, id: "order-8", at: { beats: 5 } }),
        space.signal({ ...post, id: "source/17?a \u{1f600}" })
      ]))
      yield* lived((space) => Effect.gen(function*() {
        assert.deepInclude(yield* space.receipt("order-7"), { id: sent[0].id, own: "order-7", status: "pending" })
        yield* steps(space, 2)
        assert.strictEqual((yield* space.signal({ ...post, id: "order-7" })).id, sent[0].id)
      }))
      yield* lived((space) => Effect.gen(function*() {
        assert.deepInclude(yield* space.receipt("order-7"), { id: sent[0].id, own: "order-7", status: "handled" })
        assert.deepInclude(yield* space.receipt("order-8"), { id: sent[1].id, own: "order-8", status: "pending" })
        assert.deepInclude(yield* space.receipt("source/17?a \u{1f600}"), { id: sent[2].id, status: "handled" })
        yield* space.signal({ ...post, signal: "/signals/other", id: "order-7" })
        assert.strictEqual((yield* Effect.flip(space.receipt("order-7"))).code, "id/ambiguous")
        assert.lengthOf(yield* space.receipts("order-7"), 2)
        const head = yield* space.head
        assert.isUndefined((yield* space.examine((history) => replay(history, 0, head))).difference)
        assert.isUndefined((yield* space.examine(verify)).fault)
        yield* steps(space, 600)
        assert.isUndefined(yield* space.journal(0))
      }))
      yield* lived((space) => Effect.gen(function*() {
        assert.deepInclude(yield* space.receipt("order-8"), { id: sent[1].id, own: "order-8", status: "pruned" })
      }))
    })))

  it.effect("is told to no reader whose clearance its label exceeds, also without its journal, over kernels that end", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* SqliteFolder.folder
      const settings = { retention: { journalBytes: 20_000 }, labels: { cells: { "/data/pay/**": ["salary"] }, declassify: {} } }
      const lived = <A, E>(life: (space: Space) => Effect.Effect<A, E>) =>
        Effect.gen(function*() {
          const kernel = yield* Kernel
          yield* kernel.register(pay)
          return yield* Effect.flatMap(kernel.space("shop"), life)
        }).pipe(Effect.provide(TestKernel.layer(settings, SqliteFolder.layerIn(folder))))
      /** The statuses that the operator, a reader without clearance and one with it are told. */
      const told = (space: Space) =>
        Effect.forEach([undefined, Label.none, ["salary"]], (atoms) => Effect.gen(function*() {
          const from = atoms === undefined ? space : space.reader({ name: "web", atoms })
          return [(yield* from.receipt("order-7"))?.status, (yield* from.receipt("order-8"))?.status]
        }))
      yield* lived((space) => Effect.gen(function*() {
        yield* space.signal({ ...post, id: "order-7", label: ["salary"] })
        yield* space.signal({ ...post, id: "order-8" })
        yield* space.step
        assert.deepStrictEqual(yield* told(space), [["handled", "handled"], [undefined, "handled"], ["handled", "handled"]])
        yield* steps(space, 600)
        assert.isUndefined(yield* space.journal(0))
        assert.deepStrictEqual(yield* told(space), [["pruned", "pruned"], [undefined, "pruned"], ["pruned", "pruned"]])
      }))
      yield* lived((space) => Effect.map(told(space), (told) =>
        assert.deepStrictEqual(told, [["pruned", "pruned"], [undefined, "pruned"], ["pruned", "pruned"]])))
    })))
})
