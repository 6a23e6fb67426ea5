import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import {
  Computation, type Enzyme, type Kernel, type NodeDefinition, type Registry, type Settings, type Space, type Transaction
} from "systole"
import { enzyme, put, register, replays, steps, write } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { present } from "../support/Present.ts"

type Needs = Kernel | Registry | Scope.Scope

const test = (name: string, run: () => Effect.Effect<void, unknown, Needs>, settings: Partial<Settings> = {}) =>
  it.effect(name, () => run().pipe(Effect.provide(TestKernel.layer(settings))))

const BUYERS = 300
const STOCK = 100

/** Sells one piece if `place` shows stock. Returns whether it did. */
const sale = (place: string) => enzyme("buy", (tx) => {
  const stock = Number(tx.get(place))
  if (stock > 0) tx.set("/data/stock", stock - 1)
  return stock > 0
}, { query: "/signals/buy/:n" })

const mirror = Computation.make({ name: "mirror", output: "/data/shown", run: (tx) => Number(tx.get("/data/stock") ?? 0) })
const shown = Computation.make({ name: "shown", output: "/data/shown/twice", run: (tx) => Number(tx.get("/data/shown") ?? 0) })

/** Posts this number of signals to one beat, and steps until all are handled. Returns their values. */
const all = Effect.fnUntraced(function*(space: Space, count: number, signal: string) {
  const ids: Array<string> = []
  for (let i = 0; i < count; i++) ids.push((yield* space.signal({ signal: `${signal}/${i}` })).id)
  const receipts: Array<string> = []
  // A receipt is read from the entry of its first beat, which has all signals, so it is asked for few times.
  while (present(yield* space.receipt(present(ids.at(-1)))).status === "pending") yield* steps(space, 20)
  for (const id of ids) {
    for (;;) {
      const { handlings, status } = present(yield* space.receipt(id))
      if (status !== "pending") {
        assert.strictEqual(status, "handled")
        receipts.push(...handlings.map(({ outcome, value }) => `${outcome} ${String(value)}`))
        break
      }
      yield* space.step
    }
  }
  return receipts
})

const sold = Effect.fnUntraced(function*(place: string, nodes: ReadonlyArray<NodeDefinition>) {
  yield* register(...nodes)
  const space = yield* TestKernel.space([put, sale(place)])
  yield* write(space, ["/data/stock", STOCK])
  const receipts = yield* all(space, BUYERS, "/signals/buy")
  assert.strictEqual(yield* space.get("/data/stock"), 0)
  assert.strictEqual(receipts.filter((receipt) => receipt === "ok true").length, STOCK)
  assert.strictEqual(receipts.filter((receipt) => receipt === "ok false").length, BUYERS - STOCK)
  return space
})

/** Two runs of one beat, each of which reads both places and empties its own. Returns the final values. */
const skew = Effect.fnUntraced(function*(place: (name: string) => string, options: Partial<Enzyme.Definition> = {}) {
  const leave = (name: string) => enzyme(name, (tx) => {
    if (["a", "b"].filter((name) => tx.get(place(name)) === 1).length === 2) tx.set(`/data/${name}`, 0)
  }, { query: "/signals/leave", ...options })
  const space = yield* TestKernel.space([put, leave("a"), leave("b")])
  yield* write(space, ["/data/a", 1], ["/data/b", 1])
  yield* space.signal({ signal: "/signals/leave" })
  const beat = yield* space.step
  yield* space.step
  const lines = yield* Effect.forEach([beat, beat + 1], (beat) => TestKernel.ledger(space, beat, "agenda"))
  yield* replays(space)
  return {
    left: [yield* space.get("/data/a"), yield* space.get("/data/b")],
    runs: lines.map((lines) => present(lines).map((line) => line.split(" ").slice(0, 2).join(" ")))
  }
})

const again = [["enzyme=a rc=0", "enzyme=b rc=conflict"], ["enzyme=b rc=0"]]

const derived = ["a", "b"].map(
  (name) => Computation.make({ name: `of_${name}`, output: `/data/of/${name}`, run: (tx) => Number(tx.get(`/data/${name}`) ?? 0) })
)

describe("C: isolation", () => {
  test("C31 of 300 buyers in one beat as many buy as there is stock, and the receipts agree", () =>
    Effect.gen(function*() {
      yield* sold("/data/stock", [])
    }))

  test("C31 a counter that 1,000 runs of one beat read and set counts all of them", () =>
    Effect.gen(function*() {
      const space = yield* TestKernel.space([
        enzyme("count", (tx) => tx.set("/data/n", Number(tx.get("/data/n") ?? 0) + 1), { query: "/signals/count/:n" })
      ])
      yield* all(space, 1000, "/signals/count")
      assert.strictEqual(yield* space.get("/data/n"), 1000)
    }))

  const places: ReadonlyArray<readonly [string, (tx: Transaction) => unknown, boolean]> = [
    ["nothing", () => undefined, false],
    ["another place", (tx) => tx.get("/data/other"), false],
    ["a place beside it", (tx) => tx.get("/data/flags#/other"), false],
    ["it", (tx) => tx.get("/data/flags#/on"), true],
    ["a part of it", (tx) => tx.get("/data/flags#/on/since"), true],
    ["what holds it", (tx) => tx.get("/data/flags"), true]
  ]
  for (const [what, look, isLost] of places) {
    for (const reader of ["first", "second"]) {
      const lost = isLost && reader === "second"
      test(`C32 two runs set equal values, and the ${reader} read ${what}: the later one ${lost ? "runs again" : "commits, too"}`, () =>
        Effect.gen(function*() {
          const space = yield* TestKernel.space(["first", "second"].map((name) => enzyme(name, (tx) => {
            if (name === reader) look(tx)
            tx.set("/data/flags#/on", { since: 1 })
          }, { query: "/signals/set" })))
          yield* space.signal({ signal: "/signals/set" })
          yield* space.step
          assert.deepStrictEqual(yield* TestKernel.ledger(space, 0, "agenda"), [
            "enzyme=first rc=0 signal=/signals/set target=-", `enzyme=second rc=${lost ? "conflict" : "0"} signal=/signals/set target=-`
          ])
          yield* space.step
          assert.strictEqual((yield* TestKernel.ledger(space, 1, "agenda"))?.length ?? 0, lost ? 1 : 0)
          yield* replays(space)
        }))
    }
  }

  test("C33 with serializable isolation, one of two runs with crossing reads and writes runs again", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* skew((name) => `/data/${name}`), { left: [0, 1], runs: again })
    }), { isolation: "serializable" })

  test("C33 an enzyme with snapshot isolation keeps it under any configuration", () =>
    Effect.gen(function*() {
      const { left } = yield* skew((name) => `/data/${name}`, { isolation: "snapshot" })
      assert.deepStrictEqual(left, [0, 0])
    }), { isolation: "serializable" })

  test("C35 buyers that read the stock through computations buy exactly the stock", () =>
    Effect.gen(function*() {
      const space = yield* sold("/data/shown/twice", [mirror, shown])
      const { difference, impossible } = yield* space.examine(async (archive) => {
        const { replay } = await import("systole")
        return replay(archive, 0, 12)
      })
      assert.isUndefined(difference ?? impossible, JSON.stringify(difference ?? impossible))
    }))

  test("C35 one of two serializable runs with crossing reads through computations runs again", () =>
    Effect.gen(function*() {
      yield* register(...derived)
      assert.deepStrictEqual(yield* skew((name) => `/data/of/${name}`, { isolation: "serializable" }), { left: [0, 1], runs: again })
    }))
})
