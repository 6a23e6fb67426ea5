import { assert, describe, it, vi } from "@effect/vitest"
import { Effect as Fx, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Space, Value } from "systole"
import { Computation, Fatal, Materializer, Reaction, why } from "systole"
import { Locations } from "../../../src/scheduler/graph/Locations.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, enzyme, put, register, replays, steps, turns, write } from "../TestSpace.ts"

const total = Computation.make({
  name: "total",
  output: "/data/total",
  run: (tx) => tx.list("/data/orders").reduce((sum, id) => sum + Number(tx.get(`/data/orders/${id}#/price`)), 0)
})

const add = enzyme(
  "add", (tx, { payload, params }) => tx.set(`/data/orders/${params["id"]}`, { price: payload }), { query: "/signals/order/:id" }
)

const order = (space: Space, id: string, price: number) => space.signal({ signal: `/signals/order/${id}`, payload: price })

describe("BeatScheduler", () => {
  it.effect("updates demanded cells in the beat and batch of the change, and delivers them once durable", () =>
    Fx.gen(function*() {
      const told: Array<Value> = []
      yield* register(
        total,
        Reaction.make({
          name: "teller",
          read: (tx) => tx.get("/data/total"),
          deliver: (value, { beat, key }) => void told.push([value, beat, key])
        })
      )
      const space = yield* TestKernel.space([add])
      yield* order(space, "a", 5)
      yield* space.step
      assert.strictEqual(yield* space.get("/data/total"), 5)
      yield* order(space, "b", 7)
      yield* space.step
      assert.strictEqual(yield* space.get("/data/total"), 12)
      assert.deepStrictEqual(told, [[5, 0, "teller"], [12, 1, "teller"]])
      yield* space.step
      assert.lengthOf(told, 2)
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("shows a handler current derived cells, demanded or not, computed once per beat", () =>
    Fx.gen(function*() {
      let runs = 0
      const counted = Computation.make({ name: "counted", output: "/data/total", run: (tx) => {
        if (TestKernel.isOwn(tx)) runs++
        return total.run(tx) as Value
      } })
      yield* register(counted)
      const seen: Array<Value> = []
      const look = enzyme("look", (tx) => void seen.push(tx.get("/data/total")), { query: "/signals/look/:n" })
      const space = yield* TestKernel.space([add, look])
      yield* order(space, "a", 5)
      yield* space.step
      assert.strictEqual(runs, 0)
      yield* space.set("/data/orders/b", { price: 7 }).pipe(Fx.forkChild)
      yield* space.signal({ signal: "/signals/look/1" })
      yield* space.signal({ signal: "/signals/look/2" })
      yield* space.step
      assert.deepStrictEqual(seen, [12, 12])
      assert.strictEqual(runs, 1)
      assert.strictEqual(yield* space.get("/data/total"), 12)
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("shows no handler the writes of another one in the beat", () =>
    Fx.gen(function*() {
      yield* register(total)
      const seen: Array<Value> = []
      const both = enzyme("both", (tx, { params }) => {
        tx.set(`/data/orders/${params["n"]}`, { price: 1 })
        seen.push(tx.get("/data/total"))
      }, { query: "/signals/both/:n" })
      const space = yield* TestKernel.space([both])
      for (const n of [1, 2]) yield* space.signal({ signal: `/signals/both/${n}` })
      yield* space.step
      assert.deepStrictEqual(seen, [0, 0])
      assert.strictEqual(yield* space.pull("/data/total").pipe(Fx.zipWith(space.step, (value) => value, { concurrent: true })), 2)
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("reports a failed node, keeps its output, and runs it when its inputs change", () =>
    Fx.gen(function*() {
      yield* register(
        Computation.make({ name: "root", output: "/data/root", run: (tx) => {
          const value = Number(tx.get("/data/x"))
          if (value < 0) throw new RangeError("negative")
          return Math.sqrt(value)
        } }),
        Reaction.make({ name: "watch", read: (tx) => tx.get("/data/root"), deliver: () => {} })
      )
      const put = enzyme("put", (tx, { payload }) => tx.set("/data/x", payload), { query: "/signals/put" })
      const space = yield* TestKernel.space([put])
      for (const x of [4, -1, 9]) {
        yield* space.signal({ signal: "/signals/put", payload: x })
        yield* space.step
        assert.strictEqual(yield* space.get("/data/root"), x === 9 ? 3 : 2)
      }
      const [diagnostic, ...others] = yield* TestKernel.diagnostics(space)
      assert.lengthOf(others, 0)
      assert.strictEqual(diagnostic!["topic"], "node/failed")
      assert.deepStrictEqual(diagnostic!["origin"], { kind: "node", name: "root" })
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("explains a value by its node and the node's reads", () =>
    Fx.gen(function*() {
      yield* register(total, Reaction.make({ name: "watch", read: (tx) => tx.get("/data/total"), deliver: () => {} }))
      const space = yield* TestKernel.space([add])
      yield* order(space, "a", 5)
      yield* space.step
      const reason = yield* space.examine((archive) => why(archive, "/data/total"))
      assert.strictEqual(reason?.value, 5)
      assert.deepStrictEqual(reason!.writers.map(({ by }) => by), ["total"])
      assert.deepStrictEqual(reason!.writers[0]!.reads, [
        { address: "/data/orders", value: "(the names below)" }, { address: "/data/orders/a#/price", value: 5 }
      ])
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("makes a handler and its lane wait for a gate that delays a read cell", () =>
    Fx.gen(function*() {
      const seen: Array<Value> = []
      yield* register(
        Computation.make({ name: "slow", output: "/data/slow", throttle: 100, run: (tx) => tx.get("/data/x") }),
        Reaction.make({ name: "watch", read: (tx) => tx.get("/data/slow"), deliver: () => {} })
      )
      const put = enzyme("put", (tx, { payload }) => tx.set("/data/x", payload))
      const look = enzyme("look", (tx, { payload }) => {
        try {
          seen.push([payload as Value, tx.get("/data/slow")])
        } finally {
          tx.append("/data/looked", payload)
        }
      })
      const space = yield* TestKernel.space([put, look])
      for (const x of [1, 2]) {
        yield* space.signal({ signal: "/signals/put", payload: x })
        yield* space.step
      }
      for (const n of [1, 2]) yield* space.signal({ signal: "/signals/look", payload: n })
      yield* steps(space, 3)
      assert.isUndefined(yield* space.get("/data/looked"))
      yield* TestClock.adjust(100)
      yield* steps(space, 3)
      assert.deepStrictEqual(yield* space.get("/data/looked"), [1, 2])
      assert.deepStrictEqual(seen.slice(-2), [[1, 2], [2, 2]])
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("keeps cells watched from outside up to date, and runs no beat for underived ones", () =>
    Fx.gen(function*() {
      const seen: Array<Value> = []
      const space = yield* TestKernel.space([add])
      const follow = (address: string) => Fx.forkChild(
        Stream.runForEach(space.watch(address), ({ value }) => Fx.sync(() => seen.push(value ?? null))), { startImmediately: true }
      )
      yield* follow("/data/plain")
      yield* turns()
      assert.strictEqual(yield* space.head, -1)
      const watching = yield* follow("/data/total")
      yield* register(total)
      yield* order(space, "a", 5)
      yield* space.idle
      yield* turns()
      yield* order(space, "b", 7)
      yield* space.idle
      yield* turns()
      assert.deepStrictEqual(seen.slice(2), [5, 12])
      yield* Fiber.interrupt(watching)
      yield* order(space, "c", 9)
      yield* space.idle
      assert.strictEqual(yield* space.get("/data/total"), 12)
      assert.strictEqual(yield* space.pull("/data/total"), 21)
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer({ pace: "demand" }))))

  it.effect("discards the derivations of an aborted beat", () =>
    Fx.gen(function*() {
      let isFatal = true
      yield* register(total, Reaction.make({ name: "watch", read: (tx) => tx.get("/data/total"), deliver: () => {} }))
      const die = enzyme("die", (tx) => {
        tx.get("/data/total")
        return isFatal ? new Fatal({ reason: "out of order" }) : undefined
      }, { query: "/signals/die" })
      const space = yield* TestKernel.space([add, die])
      yield* order(space, "a", 5)
      yield* space.step
      yield* space.set("/data/orders/b", { price: 7 }).pipe(Fx.forkChild)
      yield* space.signal({ signal: "/signals/die" })
      yield* Fx.flip(space.step)
      isFatal = false
      assert.strictEqual(yield* space.get("/data/total"), 5)
      yield* space.step
      assert.strictEqual(yield* space.get("/data/total"), 12)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("writes a materializer's cells into the same batch, and runs started nodes", () =>
    Fx.gen(function*() {
      yield* register(
        Materializer.make({
          name: "byPrice",
          writes: ["/data/prices/*"],
          run: (tx) => {
            for (const id of tx.list("/data/orders")) tx.set(`/data/prices/${tx.get(`/data/orders/${id}#/price`)}`, id)
          }
        }),
        Reaction.make({
          name: "parent",
          read: (tx) => {
            for (const id of tx.list("/data/orders")) {
              tx.start(
                Computation.make({
                  name: `double-${id}`,
                  output: `/data/double/${id}`,
                  run: (tx) => Number(tx.get(`/data/orders/${id}#/price`)) * 2
                })
              )
            }
            return null
          },
          deliver: () => {}
        })
      )
      const space = yield* TestKernel.space([add])
      yield* order(space, "a", 5)
      yield* order(space, "b", 6)
      yield* space.step
      assert.deepStrictEqual(yield* space.list("/data/prices"), ["5", "6"])
      assert.strictEqual(yield* space.get("/data/double/b"), 12)
      yield* order(space, "c", 7)
      yield* steps(space, 2)
      assert.strictEqual(yield* space.get("/data/double/c"), 14)
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("reverts throttle and attempts of a run in an aborted beat", () =>
    Fx.gen(function*() {
      let runs = 0
      yield* register(Computation.make({ name: "slow", output: "/data/slow", throttle: 60_000, run: (tx) => {
        if (TestKernel.isOwn(tx)) runs++
        return tx.get("/data/x")
      } }))
      const seen: Array<Value> = []
      const look = enzyme("look", (tx) => void seen.push(tx.get("/data/slow")))
      const space = yield* TestKernel.space([look, enzyme("bad", () => new Fatal({ reason: "no more" }), { onFatal: "continue" })])
      yield* space.set("/data/x", 1).pipe(Fx.forkChild)
      yield* space.signal({ signal: "/signals/look" })
      yield* space.signal({ signal: "/signals/bad" })
      assert.strictEqual((yield* Fx.flip(space.step))._tag, "BeatAborted")
      assert.strictEqual(runs, 1)
      yield* space.step
      assert.deepStrictEqual(seen, [1, 1])
      assert.strictEqual(runs, 2)
      assert.strictEqual(yield* space.get("/data/slow"), 1)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("derives an overwritten cell again, on demand or at a later read", () =>
    Fx.gen(function*() {
      const told: Array<Value> = []
      const next = (name: string) => Computation.make({ name, output: `/data/${name}`, run: (tx) => Number(tx.get("/data/x")) + 1 })
      yield* register(
        next("live"),
        next("dormant"),
        Reaction.make({ name: "e", read: (tx) => tx.get("/data/live"), deliver: (value) => void told.push(value) })
      )
      const seen: Array<Value> = []
      const look = enzyme("look", (tx) => void seen.push(tx.get("/data/dormant")))
      const space = yield* TestKernel.space([put, look])
      yield* write(space, ["/data/x", 1])
      yield* space.signal({ signal: "/signals/look" })
      yield* space.step
      yield* write(space, ["/data/live", "rubbish"], ["/data/dormant", "rubbish"])
      assert.strictEqual(yield* space.get("/data/live"), 2)
      assert.deepStrictEqual(told.filter((value) => value !== 2), [])
      yield* space.signal({ signal: "/signals/look" })
      yield* space.step
      yield* controlled(space, space.set("/data/live", "rubbish"))
      assert.strictEqual(yield* space.get("/data/live"), 2)
      assert.deepStrictEqual(seen.filter((value) => value !== 2), [])
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("keeps no state of former subscribers", () =>
    Fx.gen(function*() {
      yield* register(total)
      const space = yield* TestKernel.space([add])
      yield* space.step
      const names = Fx.map(space.graph.view, ({ nodes }) => nodes.map(({ name, ordinal }) => [name, ordinal]))
      const followed = Fx.gen(function*() {
        const watching = yield* Fx.forkChild(Stream.runDrain(space.watch("/data/total")), { startImmediately: true })
        yield* turns(2)
        const found = yield* names
        yield* Fiber.interrupt(watching)
        yield* turns(2)
        return found
      })
      const first = yield* followed
      for (let i = 0; i < 3; i++) assert.deepStrictEqual(yield* followed, first)
      assert.lengthOf(yield* names, 1)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("charges a handler's read for its updates, and not for earlier changes of the beat", () =>
    Fx.gen(function*() {
      const looks = (count: number) => Fx.gen(function*() {
        yield* register(
          ...Array.from(
            { length: count },
            (_, i) => Computation.make({ name: `d${i}`, output: `/data/d/${i}`, run: (tx) => Number(tx.get("/data/x") ?? 0) + i })
          )
        )
        const space = yield* TestKernel.space([
          enzyme("get", (tx, { params }) => tx.get(`/data/d/${params["i"]}`), { query: "/signals/get/:i" })
        ])
        for (let i = 0; i < count; i++) yield* space.signal({ signal: `/signals/get/${i}` })
        const looked = vi.spyOn(Locations.prototype, "document")
        yield* space.step
        const found = looked.mock.calls.length
        looked.mockRestore()
        return found
      }).pipe(Fx.provide(TestKernel.layer()))
      const [few, many] = [yield* looks(20), yield* looks(80)]
      assert.isAbove(few, 0)
      assert.isAtMost(many, 4 * few + 8)
    }))
})
