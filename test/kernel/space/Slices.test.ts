import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Kernel, MemoryStore, Slices, type Transaction } from "systole"
import { names, places, SliceAbsent } from "../../../src/ledger/SliceTable.ts"
import { operations } from "../../../src/operation/Ledger.ts"
import * as RendezvousSpace from "../../rendezvous/RendezvousSpace.ts"
import * as HashLayer from "../../support/HashLayer.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { begun, enzyme, refusal, steps } from "../TestSpace.ts"

const count = enzyme("count", (tx) => tx.increment("/data/n"), { query: "/signals/s" })
const spawn = enzyme("spawn", (tx) => void tx.rv.spawn({ key: "a" }), { query: "/signals/s" })

/** Runs a test in a kernel with these slices. */
const within = <A, E>(slices: typeof Slices.all, test: Effect.Effect<A, E, Kernel>, persistence?: typeof MemoryStore.layer) =>
  Effect.provide(test, TestKernel.layer({}, persistence as never, { kernel: Kernel.layer(slices) }), { local: true }).pipe(
    RendezvousSpace.granted
  )

const existing = Effect.flatMap(Kernel, (kernel) => kernel.space("test", { create: false }))

describe("A kernel without some slices", () => {
  it("has a table with the names, the parts, the ledgers and the folders of all slices, each after those that it needs", () => {
    assert.deepStrictEqual(Slices.all.map(({ name }) => name), [...names])
    for (const [i, name] of names.entries()) {
      const slice = Slices.all[i]!
      const ledger = slice.ledger?.({ channels: new Map() } as never)
      assert.strictEqual(places[name].ledger?.name, ledger?.name)
      assert.strictEqual(places[name].part, slice.part?.name)
      assert.includeMembers(names.slice(0, i), [...places[name].needs ?? []])
      const folders = [...ledger?.folders ?? [], ...operations.folders]
      for (const folder of places[name].ledger?.folders ?? []) assert.isTrue(folders.some((own) => folder.startsWith(own)), folder)
    }
  })

  it.effect("ends a run that needs an absent one with slice/absent, and goes on with the others", () =>
    within([], Effect.gen(function*() {
      const space = yield* TestKernel.space([count, spawn])
      const { id } = yield* space.signal({ signal: "/signals/s" })
      yield* steps(space, 2)
      const receipt = yield* space.receipt(id)
      const ends = receipt?.handlings.map(({ enzyme, error, outcome }) => [enzyme, outcome, error?.code])
      assert.deepStrictEqual(ends, [["count", "ok", undefined], ["spawn", "dead", "slice/absent"]])
      assert.strictEqual(yield* space.get("/data/n"), 1)
    })))

  it.effect("refuses the commands, the records and the durable enzymes of absent ones, and says what to do", () =>
    within([], Effect.gen(function*() {
      const kernel = yield* Kernel
      const space = yield* TestKernel.space([count])
      for (const part of ["rv", "flows", "io", "runs", "graph", "debug"] as const) assert.throws(() => space[part], SliceAbsent)
      assert.throws(() => space.flows, "Take \"flows\" out of the field without of the configuration")
      const error = yield* refusal(space, space.control.command("io", { verb: "cancel" }))
      assert.strictEqual(error?.code, "slice/absent")
      const refused = yield* Effect.flip(kernel.register(enzyme("long", () => {}, { durable: true })))
      assert.include(refused.message, "This runtime is without durable")
    })))

  it.effect("makes the same journal as a kernel with all slices", () =>
    Effect.gen(function*() {
      const journal = (slices: typeof Slices.all) => within(slices, Effect.gen(function*() {
        const space = yield* TestKernel.space([count])
        for (let i = 0; i < 3; i++) yield* space.signal({ signal: "/signals/s", id: `s${i}` })
        yield* steps(space, 4)
        return yield* Effect.forEach([0, 1, 2, 3], space.journal.bind(space))
      }))
      const all = yield* journal(Slices.all)
      assert.isDefined(all[3])
      assert.deepStrictEqual(yield* journal([]), all)
    }))

  it.effect("opens no store with records of an absent ledger, and changes nothing in it", () =>
    Effect.gen(function*() {
      const store = Layer.succeedContext(yield* Layer.build(MemoryStore.layer.pipe(Layer.provide(HashLayer.layer))))
      const head = yield* within(Slices.all, Effect.gen(function*() {
        const space = yield* RendezvousSpace.space()
        yield* begun(space, space.rv.spawn({ key: "a", due_off: 100 }))
        return yield* space.head
      }), store)
      const rest = Slices.all.filter(({ name }) => name !== "rendezvous" && name !== "flows")
      const error = yield* Effect.flip(within(rest, existing, store))
      assert.strictEqual(error.code, "store/needs-ledger")
      assert.include(error.message, "Space \"test\" has records below /data/rv, and this runtime is without rendezvous")
      assert.strictEqual(yield* within(Slices.all, Effect.flatMap(existing, (space) => space.head), store), head)
      const needed = Slices.all.filter(({ name }) => name === "rendezvous")
      assert.strictEqual(yield* within(needed, Effect.flatMap(existing, (space) => space.head), store), head)
    }))

  it.effect("opens no store in which a durable run waits, if it has none", () =>
    Effect.gen(function*() {
      const store = Layer.succeedContext(yield* Layer.build(MemoryStore.layer.pipe(Layer.provide(HashLayer.layer))))
      const nap = enzyme("nap", (tx) => (tx as Transaction).sleep(1000), { query: "/signals/s", durable: true })
      yield* within(Slices.all, Effect.gen(function*() {
        const space = yield* TestKernel.space([nap])
        yield* space.signal({ signal: "/signals/s" })
        yield* steps(space, 2)
      }), store)
      const rest = Slices.all.filter(({ name }) => name !== "durable")
      const error = yield* Effect.flip(within(rest, existing, store))
      assert.strictEqual(error.code, "store/needs-ledger")
      assert.include(error.message, "and this runtime is without durable")
    }))

  it.effect("sends no letter of a durable run again, if it has none", () =>
    Effect.gen(function*() {
      const store = Layer.succeedContext(yield* Layer.build(MemoryStore.layer.pipe(Layer.provide(HashLayer.layer))))
      const run = async (tx: unknown) => {
        (tx as Transaction).hear("/signals/go", "/data/x")
        await (tx as Transaction).waitForSignal("/signals/go", "/data/x")
        throw new Error("no")
      }
      const ask = enzyme("ask", run, { query: "/signals/s", durable: true })
      const id = yield* within(Slices.all, Effect.gen(function*() {
        const space = yield* TestKernel.space([ask])
        const { id } = yield* space.signal({ signal: "/signals/s" })
        yield* steps(space, 2)
        yield* space.signal({ signal: "/signals/go", target: "/data/x" })
        yield* steps(space, 3)
        assert.strictEqual((yield* space.receipt(id))?.status, "dead")
        return id
      }), store)
      const rest = Slices.all.filter(({ name }) => name !== "durable")
      yield* within(rest, Effect.gen(function*() {
        const space = yield* existing
        const error = yield* refusal(space, space.redeliver(id, "ask"))
        assert.strictEqual(error?.code, "slice/absent")
      }), store)
    }))
})
