import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Schema from "effect/Schema"
import { Enzyme, explain, type Transaction } from "systole"
import { enzyme, replays } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import * as TestKernel from "../support/TestKernel.ts"

const targeted = enzyme("take", (tx, { target }) => tx.set("/data/seen", target ?? null), { bind: ["/data/orders"], target: "required" })
const any = enzyme("any", (tx) => tx.increment("/data/any"), { query: "/signals/take" })

const broadcast = { signal: "/signals/take" }
const order = { ...broadcast, target: "/data/orders/17" }

/** The status of the receipt of a signal, and the names of the enzymes that took it. */
const taken = (space: Effect.Success<ReturnType<typeof TestKernel.space>>, posted: typeof broadcast) =>
  Effect.gen(function*() {
    const { id } = yield* space.signal(posted)
    yield* space.step
    const receipt = yield* space.receipt(id)
    return [receipt?.status, ...receipt?.handlings.map(({ enzyme }) => enzyme) ?? []]
  })

describe("An enzyme with target: \"required\"", () => {
  it.effect("takes a signal with a target, and none without", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([targeted])
      assert.deepStrictEqual(yield* taken(space, broadcast), ["no-match"])
      assert.deepStrictEqual(yield* taken(space, order), ["handled", "take"])
      assert.strictEqual(yield* space.get("/data/seen"), "/data/orders/17")
      yield* replays(space)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("leaves a signal without a target to the other enzymes of its query", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([targeted, any])
      assert.deepStrictEqual(yield* taken(space, broadcast), ["handled", "any"])
      assert.deepStrictEqual(yield* taken(space, order), ["handled", "take"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("is explained by what it requires, and what to send", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([targeted])
      yield* space.signal(broadcast)
      const beat = yield* space.step
      const explained = yield* space.examine((history) => explain(history, beat, "take"))
      assert.deepStrictEqual(explained?.signals.map(({ detail, verdict }) => [verdict, detail]), [[
        "no-match",
        "It takes only signals with a target, as its target: \"required\" says, and /signals/take has none. Send it with a target."
      ]])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.live("holds signals with a target while its file does not load, and no others", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const module = { module: targeted, hash: "1", file: "take.ts" }
      yield* (yield* machine.boot([module])).step
      const space = yield* machine.boot([{ broken: "take.ts" }])
      const [{ id: without }, { id: held }] = [yield* space.signal(broadcast), yield* space.signal(order)]
      yield* space.step
      assert.strictEqual((yield* space.receipt(without))?.status, "no-match")
      assert.notStrictEqual((yield* space.receipt(held))?.status, "no-match")
      const again = yield* machine.boot([module])
      yield* again.step
      assert.strictEqual((yield* again.receipt(held))?.status, "handled")
    }).pipe(Effect.scoped))

  it.live("is described in its space by the requirement; any other enzyme as before", () =>
    Effect.gen(function*() {
      const machine = yield* TestMachine.make
      const modules = [targeted, any].map((module) => ({ module, hash: module.name, file: `${module.name}.ts` }))
      const space = yield* machine.boot(modules)
      yield* space.step
      const own = { file: "take.ts", query: "/signals/take", match: "exact", bind: [{ cell: "/data/orders", propagate: true }] }
      assert.deepStrictEqual(yield* space.get("/sys/enzymes/take"), [{ ...own, target: "required" }])
      assert.deepStrictEqual(yield* space.get("/sys/enzymes/any"), [{ ...own, file: "any.ts", bind: [] }])
    }).pipe(Effect.scoped))

  it("has a text as the target of its event, for the compiler, too", () => {
    const payload = Schema.Struct({ count: Schema.Int })
    const least = { name: "typed", query: "/signals/typed", payload }
    const set = (tx: Transaction, target: string, count: number) => tx.set(target, count)
    Enzyme.make({
      ...least,
      target: "required",
      durable: true,
      reads: ({ target }) => [target],
      hears: ({ target }) => [{ signal: "/signals/heard", target }],
      run: (tx, { payload: { count }, target }) => set(tx, target, count)
    })
    // @ts-expect-error A signal may come without a target.
    Enzyme.make({ ...least, run: (tx, { payload: { count }, target }) => set(tx, target, count) })
    const written: Enzyme.Definition = { ...least, target: "required", run: () => {} }
    assert.strictEqual(Enzyme.make(written).target, "required")
  })
})
