import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer } from "effect"
import { Features, Kernel, MemoryStore, type Transaction } from "systole"
import { Reporter } from "../../../src/diagnostic/Reporter.ts"
import * as App from "../../../src/ingress/App.ts"
import * as Problem from "../../../src/ingress/Problem.ts"
import { FeatureNotBuilt, names, places } from "../../../src/kernel/model/Feature.ts"
import { Hash } from "../../../src/persistence/Hash.ts"
import { operations } from "../../../src/operation/Ledger.ts"
import * as RendezvousSpace from "../../rendezvous/RendezvousSpace.ts"
import * as HashLayer from "../../support/HashLayer.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { begun, enzyme, refusal, steps } from "../TestSpace.ts"

const count = enzyme("count", (tx) => tx.increment("/data/n"), { query: "/signals/s" })
const spawn = enzyme("spawn", (tx) => void tx.rv.spawn({ key: "a" }), { query: "/signals/s" })

/** Runs a test in a kernel with these features. */
const within = <A, E>(features: typeof Features.all, test: Effect.Effect<A, E, Kernel>, persistence?: typeof MemoryStore.layer) =>
  Effect.provide(test, TestKernel.layer({}, persistence as never, { kernel: Kernel.layer(features) }), { local: true }).pipe(
    RendezvousSpace.granted
  )

const existing = Effect.flatMap(Kernel, (kernel) => kernel.space("test", { create: false }))

describe("A kernel with a part of the features", () => {
  it("has a catalogue with the names, the ledgers and the folders of all features, in their order", () => {
    assert.deepStrictEqual(Features.all.map(({ name }) => name), [...names])
    for (const name of names) {
      const ledger = Features.all.find((feature) => feature.name === name)?.ledger?.({ channels: new Map() } as never)
      assert.strictEqual(places[name].ledger?.name, ledger?.name)
      const folders = [...ledger?.folders ?? [], ...operations.folders]
      for (const folder of places[name].ledger?.folders ?? []) assert.isTrue(folders.some((own) => folder.startsWith(own)), folder)
    }
  })

  it.effect("ends a run that needs an absent one with feature/not-built, and goes on with the others", () =>
    within([], Effect.gen(function*() {
      const space = yield* TestKernel.space([count, spawn])
      const { id } = yield* space.signal({ signal: "/signals/s" })
      yield* steps(space, 2)
      const receipt = yield* space.receipt(id)
      const ends = receipt?.handlings.map(({ enzyme, error, outcome }) => [enzyme, outcome, error?.code])
      assert.deepStrictEqual(ends, [["count", "ok", undefined], ["spawn", "dead", "feature/not-built"]])
      assert.strictEqual(yield* space.get("/data/n"), 1)
    })))

  it.effect("refuses the commands, the records and the durable enzymes of absent ones, and says what to do", () =>
    within([], Effect.gen(function*() {
      const kernel = yield* Kernel
      const space = yield* TestKernel.space([count])
      const errors = [
        yield* refusal(space, space.rv.kill("a")),
        yield* refusal(space, space.flows.cancel("a")),
        yield* refusal(space, space.control.command("io", { verb: "cancel" })),
        yield* refusal(space, space.runs.list({ limit: 1 })),
        yield* refusal(space, space.graph.view)
      ]
      for (const error of errors) assert.strictEqual(error?.code, "feature/not-built")
      assert.include(errors[1]?.message, "Add features: [\"flows\"] to systole.config.ts, and build again")
      const refused = yield* Effect.flip(kernel.register(enzyme("long", () => {}, { durable: true })))
      assert.include(refused.message, "This build has no durable")
    })))

  it.effect("makes the same journal as a kernel with all features", () =>
    Effect.gen(function*() {
      const journal = (features: typeof Features.all) => within(features, Effect.gen(function*() {
        const space = yield* TestKernel.space([count])
        for (let i = 0; i < 3; i++) yield* space.signal({ signal: "/signals/s", id: `s${i}` })
        yield* steps(space, 4)
        return yield* Effect.forEach([0, 1, 2, 3], space.journal.bind(space))
      }))
      const all = yield* journal(Features.all)
      assert.isDefined(all[3])
      assert.deepStrictEqual(yield* journal([]), all)
    }))

  it.effect("opens no store with records of an absent feature, and changes nothing in it", () =>
    Effect.gen(function*() {
      const store = Layer.succeedContext(yield* Layer.build(MemoryStore.layer.pipe(Layer.provide(HashLayer.layer))))
      const head = yield* within(Features.all, Effect.gen(function*() {
        const space = yield* RendezvousSpace.space()
        yield* begun(space, space.rv.spawn({ key: "a", due_off: 100 }))
        return yield* space.head
      }), store)
      const rest = Features.all.filter(({ name }) => name !== "rendezvous" && name !== "flows")
      const error = yield* Effect.flip(within(rest, existing, store))
      assert.strictEqual(error.code, "feature/not-built")
      assert.include(error.message, "Space \"test\" has records below /data/rv, and this build has no rendezvous")
      assert.strictEqual(yield* within(Features.all, Effect.flatMap(existing, (space) => space.head), store), head)
      const needed = Features.all.filter(({ name }) => name === "rendezvous")
      assert.strictEqual(yield* within(needed, Effect.flatMap(existing, (space) => space.head), store), head)
    }))

  it.effect("opens no store in which a durable run waits, if it has none", () =>
    Effect.gen(function*() {
      const store = Layer.succeedContext(yield* Layer.build(MemoryStore.layer.pipe(Layer.provide(HashLayer.layer))))
      const nap = enzyme("nap", (tx) => (tx as Transaction).sleep(1000), { query: "/signals/s", durable: true })
      yield* within(Features.all, Effect.gen(function*() {
        const space = yield* TestKernel.space([nap])
        yield* space.signal({ signal: "/signals/s" })
        yield* steps(space, 2)
      }), store)
      const rest = Features.all.filter(({ name }) => name !== "durable")
      const error = yield* Effect.flip(within(rest, existing, store))
      assert.strictEqual(error.code, "feature/not-built")
      assert.include(error.message, "and this build has no durable")
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
      const id = yield* within(Features.all, Effect.gen(function*() {
        const space = yield* TestKernel.space([ask])
        const { id } = yield* space.signal({ signal: "/signals/s" })
        yield* steps(space, 2)
        yield* space.signal({ signal: "/signals/go", target: "/data/x" })
        yield* steps(space, 3)
        assert.strictEqual((yield* space.receipt(id))?.status, "dead")
        return id
      }), store)
      const rest = Features.all.filter(({ name }) => name !== "durable")
      yield* within(rest, Effect.gen(function*() {
        const space = yield* existing
        const error = yield* refusal(space, space.redeliver(id, "ask"))
        assert.strictEqual(error?.code, "feature/not-built")
      }), store)
    }))

  it.effect("does not begin with rules on labels, if it has none", () =>
    Effect.gen(function*() {
      const labels = { cells: { "/data/secret": ["salary"] }, declassify: {} }
      const kernel = Layer.build(TestKernel.layer({ labels }, undefined as never, { kernel: Kernel.layer([]) }))
      const exit = yield* Effect.exit(Effect.scoped(kernel))
      assert.include(Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "", "This build has no labels")
    }))

  it.effect("shows readers nothing, if it has no labels", () =>
    within([], Effect.gen(function*() {
      const kernel = yield* Kernel
      const space = yield* TestKernel.space([count])
      const hash = yield* Effect.provide(Hash, HashLayer.layer)
      const reader = { name: "ann", atoms: [], token: "a-token-of-ann" }
      const closing = new AbortController().signal
      const app = App.make({ features: [], kernel, hash }, {
        token: "a-token-of-the-test", readers: [reader], loopback: false, reporter: new Reporter(() => {}), closing, pages: {}
      })
      const url = `http://localhost/v1/spaces/${space.name}/cells/data/n`
      const request = new Request(url, { headers: { authorization: `Bearer ${reader.token}` } })
      const answer = yield* Effect.promise(async () => app.fetch(request))
      assert.strictEqual(answer.status, Problem.of(new FeatureNotBuilt({ feature: "labels" })).status)
      assert.strictEqual((yield* Effect.promise(() => answer.json() as Promise<{ readonly code: string }>)).code, "feature/not-built")
      const exit = yield* Effect.exit(space.reader(reader).get("/data/n"))
      assert.include(Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "", "This build has no labels")
    })))
})
