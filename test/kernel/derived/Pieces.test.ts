import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import type { NodeDefinition, Space, Value } from "systole"
import { Computation, Fatal, Kernel, Link, Materializer, Reaction, replay } from "systole"
import * as Graph from "../../conformance/Graph.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { controlled, ended, enzyme, steps } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const number = (value: Value): number => Number(value ?? 0)

const replays = (space: Space) => Fx.gen(function*() {
  const head = yield* space.head
  for (let from = 0; from <= head; from++) {
    const { difference } = yield* space.examine((archive) => replay(archive, from, head))
    assert.isUndefined(difference, `from ${from}: ${JSON.stringify(difference)}`)
  }
})

/** The total of one cart and an effect on it. A handler that opens a cart starts both. */
const carts = (log: Graph.Log): ReadonlyArray<NodeDefinition> => [
  Computation.make({
    name: "total",
    inputs: ["cart", "rate"],
    output: "/data/totals/:cart",
    run: (tx, { cart, rate }) => {
      log.ran(`total ${cart}`, tx)
      return number(tx.get(`/data/carts/${cart}`)) * number(rate!)
    }
  }),
  Reaction.make<Value>({
    name: "show",
    inputs: ["cart"],
    read: (tx, { cart }) => tx.get(`/data/totals/${cart}`) ?? null,
    deliver: (value, { key }) => void (log.seen[key] = value)
  })
]

const open = enzyme("open", (tx, { params, payload }) => {
  const cart = params["cart"]!
  const names = [tx.start("total", { cart, rate: payload ?? 1 }), tx.start("show", { cart })]
  tx.set(`/data/carts/${cart}`, 10)
  return names
}, { query: "/signals/open/:cart" })

const close = enzyme("close", (tx, { payload }) => tx.stop(String(payload)))

const launch = (space: Space, cart: string, rate = 1) => Fx.gen(function*() {
  const { id } = yield* space.signal({ signal: `/signals/open/${cart}`, payload: rate })
  yield* space.step
  const receipt = yield* space.receipt(id)
  return receipt!.handlings[0]!.value as ReadonlyArray<string>
})

const started = (...nodes: ReadonlyArray<NodeDefinition>) => Fx.andThen(Graph.register(...nodes), TestKernel.space([open, close]))

describe("Pieces", () => {
  it.effect("derive from the beat of their start until their stop, each by its own inputs", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* started(...carts(log))
      assert.deepStrictEqual(log.take(), {})
      const [total, show] = yield* launch(space, "a")
      assert.match(total!, /^total~[0-9a-f]{32}$/)
      yield* launch(space, "b", 3)
      assert.deepStrictEqual(log.take(), { "total a": 1, "total b": 1 })
      assert.deepStrictEqual([yield* space.get("/data/totals/a"), yield* space.get("/data/totals/b")], [10, 30])
      assert.strictEqual(log.seen[show!], 10)
      assert.deepStrictEqual(yield* space.list("/sys/pieces"), [...yield* space.list("/sys/pieces")].sort())
      assert.deepStrictEqual(yield* space.get(`/sys/pieces/${total}`), { inputs: { cart: "a", rate: 1 }, module: "total" })
      yield* controlled(space, space.set("/data/carts/a", 20))
      assert.deepStrictEqual(log.take(), { "total a": 1 })
      yield* space.signal({ signal: "/signals/close", payload: show! })
      yield* space.step
      yield* controlled(space, space.set("/data/carts/a", 30))
      assert.deepStrictEqual(log.take(), {})
      assert.strictEqual(yield* space.get("/data/totals/a"), 20)
      assert.lengthOf(yield* space.list("/sys/pieces"), 3)
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("are one for equal starts, and start over with other inputs", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* started(...carts(log))
      const first = yield* launch(space, "a")
      assert.deepStrictEqual(yield* launch(space, "a"), first)
      assert.deepStrictEqual(log.take(), { "total a": 1 })
      assert.strictEqual((yield* launch(space, "a", 2))[0], first[0])
      assert.deepStrictEqual(log.take(), { "total a": 1 })
      assert.strictEqual(yield* space.get("/data/totals/a"), 20)
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("can be started and stopped from outside, or are refused with the reason", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* started(...carts(log), Computation.make({ name: "plain", output: "/data/plain", run: () => 1 }))
      yield* controlled(space, space.set("/data/carts/a", 7))
      const answered = yield* controlled(space, space.start("show", { cart: "a" }))
      const total = yield* controlled(space, space.start("total", { cart: "a", rate: 1 }))
      if (answered._tag !== "Success" || total._tag !== "Success") throw new Error("not started")
      assert.strictEqual(log.seen[answered.success], 7)
      for (const [module, inputs, reason] of [
        ["none", {}, /no node module of this name/],
        ["plain", {}, /declares no inputs/],
        ["total", { cart: "a" }, /without rate/],
        ["total", { cart: "a", rate: 1, more: 2 }, /started with more/],
        ["total", { cart: "a/b", rate: 1 }, /names no cell/]
      ] as const) {
        const refused = yield* controlled(space, space.start(module, inputs))
        assert.match(String(refused._tag === "Failure" ? refused.failure : "taken"), reason)
      }
      yield* controlled(space, space.stop(total.success))
      assert.strictEqual((yield* controlled(space, space.stop("total")))._tag, "Failure")
      assert.deepStrictEqual(yield* space.list("/sys/pieces"), [answered.success])
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("leave no trace if their run is refused, fails or is fatal", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const ways: Record<string, () => unknown> = {
        throws: () => { throw new Error("no") },
        fatal: () => new Fatal({ reason: "no" })
      }
      const fail = enzyme("fail", (tx, { params }) => {
        tx.start("total", { cart: "a", rate: 1 })
        if (params["how"] === "caught") {
          try {
            tx.start("none")
          } catch {
            return "on we go"
          }
        }
        return ways[params["how"]!]?.()
      }, { query: "/signals/fail/:how", retry: { attempts: 1 } })
      yield* Graph.register(...carts(log), log.effect("all", (tx) => tx.list("/sys/pieces")))
      const space = yield* TestKernel.space([fail])
      for (const how of ["throws", "caught", "fatal"]) {
        yield* space.signal({ signal: `/signals/fail/${how}`, payload: 1 })
        yield* Fx.result(space.step)
      }
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* space.list("/sys/pieces"), [])
      assert.deepStrictEqual(log.seen["all"], [])
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("return with the space as they were, and start over with another version of their module", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const log = new Graph.Log()
      const space = yield* machine.boot([open, ...carts(log)])
      const [total, show] = yield* launch(space, "a")
      log.take()
      const again = yield* machine.boot([open, ...carts(log)])
      yield* again.step
      assert.deepStrictEqual(log.take(), {})
      yield* controlled(again, again.set("/data/carts/a", 20))
      assert.deepStrictEqual(log.take(), { "total a": 1 })
      assert.strictEqual(log.seen[show!], 20)
      const without = yield* machine.boot([open])
      yield* controlled(without, without.set("/data/carts/a", 30))
      assert.deepStrictEqual(log.take(), {})
      assert.deepStrictEqual(yield* without.get(`/sys/pieces/${total}`), { inputs: { cart: "a", rate: 1 }, module: "total" })
      const last = yield* machine.boot([open, ...carts(log)])
      yield* last.step
      assert.deepStrictEqual(log.take(), { "total a": 1 })
      assert.strictEqual(yield* last.get("/data/totals/a"), 30)
    }).pipe(Fx.scoped))

  it.effect("leave and return with their module", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const [total, show] = carts(log)
      const space = yield* started(total!, show!)
      yield* launch(space, "a")
      const kernel = yield* Kernel
      yield* kernel.unregister(total!)
      log.take()
      yield* controlled(space, space.set("/data/carts/a", 20))
      assert.deepStrictEqual(log.take(), {})
      yield* kernel.register(total!)
      yield* space.step
      assert.deepStrictEqual(log.take(), { "total a": 1 })
      assert.strictEqual(yield* space.get("/data/totals/a"), 20)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("can be started by nodes, by the module's name, and live as long as they are started", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const [total] = carts(log)
      const each = log.effect("each", (tx) => tx.list("/data/carts").map((cart) => tx.start("total", { cart, rate: 2 })))
      yield* Graph.register(total!, each)
      const space = yield* TestKernel.space([])
      yield* controlled(space, space.set("/data/carts/a", 1))
      yield* controlled(space, space.set("/data/carts/b", 2))
      assert.deepStrictEqual([yield* space.get("/data/totals/a"), yield* space.get("/data/totals/b")], [2, 4])
      assert.deepStrictEqual(yield* space.list("/sys/pieces"), [])
      log.take()
      yield* controlled(space, space.set("/data/carts/a", undefined))
      assert.deepStrictEqual(log.take(), { each: 1 })
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("with a conflicting output wait until the other node is gone, with one diagnostic", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const owner = log.computation("owner", "/data/totals/a", () => "owner's")
      const space = yield* started(...carts(log), owner)
      yield* launch(space, "a")
      yield* space.step
      assert.isUndefined(log.runs["total a"])
      assert.deepStrictEqual(
        (yield* TestKernel.diagnostics(space)).map(({ topic, subject }) => [topic, subject]),
        [["node/refused", Link.make("/data/totals/a") as unknown as Value]]
      )
      yield* (yield* Kernel).unregister(owner)
      yield* steps(space, 2)
      assert.strictEqual(log.runs["total a"], 1)
      assert.strictEqual(yield* space.get("/data/totals/a"), 10)
      assert.lengthOf(yield* TestKernel.diagnostics(space), 1)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("that conflict with an existing piece do not stop the space", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* started(...carts(log))
      yield* launch(space, "a")
      yield* Graph.register(log.computation("owner", "/data/totals/a", () => "owner's"))
      yield* controlled(space, space.set("/data/carts/a", 11))
      assert.strictEqual(yield* space.get("/data/totals/a"), 11)
      assert.deepStrictEqual((yield* TestKernel.diagnostics(space)).map(({ origin }) => origin), [{ kind: "node", name: "owner" }])
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("of materializers write within the envelope of their inputs", () =>
    Fx.gen(function*() {
      const index = Materializer.make({
        name: "index",
        inputs: ["kind"],
        writes: ["/data/index/:kind/*"],
        run: (tx, { kind }) => {
          for (const name of tx.list(`/data/${kind}`)) tx.set(`/data/index/${kind}/${name}`, true)
          if (tx.get("/data/astray") === true) tx.set("/data/index/other/x", true)
        }
      })
      yield* Graph.register(index)
      const space = yield* TestKernel.space([])
      yield* controlled(space, space.set("/data/cars/a", 1))
      yield* controlled(space, space.start("index", { kind: "cars" }))
      assert.deepStrictEqual(yield* space.list("/data/index/cars"), ["a"])
      yield* controlled(space, space.set("/data/astray", true))
      assert.deepStrictEqual(yield* space.list("/data/index/other"), [])
      assert.deepStrictEqual((yield* TestKernel.diagnostics(space)).map(({ code }) => code), ["envelope/outside"])
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it("refuse inputs without valid names, and invalid addresses", () => {
    const make = (inputs: ReadonlyArray<string>, output = "/data/:a") => () => Computation.make({ name: "c", inputs, output, run: () => 1 })
    assert.throws(make(["two words"]), /its inputs are not/)
    assert.throws(make(["b"]), /in its output/)
    assert.doesNotThrow(make([], "/data/x"))
  })

  it.effect("started equally by two handlers of a beat are one; of two different starts, the loser runs again", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const go = enzyme(
        "go",
        (tx, { params }) => tx.start("total", { cart: params["cart"], rate: Number(params["rate"]) }),
        { query: "/signals/go/:cart/:rate/:n" }
      )
      yield* Graph.register(...carts(log))
      const space = yield* TestKernel.space([go])
      const [one, two, other] = yield* Fx.forEach(
        ["a/1/1", "a/1/2", "a/2/3"], (path) => space.signal({ signal: `/signals/go/${path}`, payload: 1 })
      )
      yield* steps(space, 2)
      assert.deepStrictEqual(yield* ended(space, one!.id), ["go ok @0 #1"])
      assert.deepStrictEqual(yield* ended(space, two!.id), ["go ok @0 #1"])
      assert.deepStrictEqual(yield* ended(space, other!.id), ["go ok @1 #1"])
      assert.lengthOf(yield* space.list("/sys/pieces"), 1)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("do not return with their module if they were stopped while it was absent", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const nodes = carts(log)
      const space = yield* started(...nodes)
      const kernel = yield* Kernel
      const [total] = yield* launch(space, "a")
      for (const node of nodes) yield* kernel.unregister(node)
      yield* space.step
      yield* space.signal({ signal: "/signals/close", payload: total! })
      yield* space.step
      for (const node of nodes) yield* kernel.register(node)
      yield* steps(space, 2)
      assert.notInclude((yield* space.graph.view).nodes.map(({ name }) => name), total!)
      log.take()
      yield* controlled(space, space.set("/data/carts/a", 20))
      assert.deepStrictEqual(log.take(), {})
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))
})
