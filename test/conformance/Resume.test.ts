import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import { TestClock } from "effect/testing"
import type { Space, Value } from "systole"
import { Computation, Materializer, SpaceScheduler } from "systole"
import { enzyme, steps } from "../kernel/TestSpace.ts"
import * as TestMachine from "../kernel/TestMachine.ts"
import { present } from "../support/Present.ts"
import * as Graph from "./Graph.ts"

const number = (value: Value): number => Number(value ?? 0)

const put = enzyme("put", (tx, { payload }) => {
  for (const [address, value] of payload as ReadonlyArray<readonly [string, Value]>) tx.set(address, value)
})

const send = (space: Space, address: string, value: Value) =>
  Fx.andThen(space.signal({ signal: "/signals/put", payload: [[address, value]] }), space.step)

describe("M: persistence of nodes", () => {
  /** A chain of two and an effect at its end. */
  const chain = (log: Graph.Log) => [
    put,
    log.computation("half", "/data/half", (tx) => Math.floor(number(tx.get("/data/x")) / 2)),
    log.computation("more", "/data/more", (tx) => number(tx.get("/data/half")) + 1),
    log.effect("watch", (tx) => tx.get("/data/more"))
  ]

  it("M1 the stored record of a node has its reads, its surface and its version, and no written value", () => {
    const scheduler = new SpaceScheduler()
    scheduler.set("/x", { a: 1, b: { c: 2 } })
    scheduler.register(Materializer.make({
      name: "index",
      writes: ["/index/*", "/log/:day"],
      run: (tx) => {
        tx.set(`/index/${number(tx.get("/x#/a"))}`, tx.keys("/x#/b"))
        tx.set("/index/2", tx.list("/items").length)
      }
    }))
    scheduler.settle(5)
    const kept = present(scheduler.observation("index", "digest of its code"))
    assert.deepStrictEqual(kept, {
      v: 2,
      name: "index",
      fingerprint: "Materializer  /index/* /log/:day digest of its code ",
      status: "clean",
      children: [],
      reads: [["/items", "children"], ["/x#/a", "deep"], ["/x#/b", "shallow"]],
      causes: [],
      throttledUntil: 0,
      debouncedUntil: 0,
      backoffUntil: 0,
      streak: 0,
      attempts: 0,
      measured: 0,
      spent: 0
    })
    assert.notInclude(JSON.stringify(kept), "/index/1")
  })

  it.effect("M5 each piece of a module resumes from its own record: an invalid one runs, in any state of the others", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const log = new Graph.Log()
      const modules = () => [
        put,
        Computation.make({
          name: "total",
          inputs: ["cart"],
          output: "/data/total/:cart",
          run: (tx, { cart }) => (log.ran(`total ${cart}`, tx), tx.get(`/data/cart/${cart}`))
        }),
        enzyme("open", (tx, { payload }) => tx.start("total", { cart: payload }))
      ]
      const watch = log.effect("watch", (tx) => ["a", "b", "c"].map((cart) => tx.get(`/data/total/${cart}`) ?? null))
      const first = yield* machine.boot([...modules(), watch])
      for (const cart of ["a", "b", "c"]) yield* first.signal({ signal: "/signals/open", payload: cart })
      yield* steps(first, 2)
      yield* send(first, "/data/cart/a", 1)
      log.take()
      // An input of one of them changes while the module is absent.
      yield* send(yield* machine.boot([put]), "/data/cart/b", 7)
      const space = yield* machine.boot([...modules(), watch])
      yield* space.step
      assert.deepStrictEqual(log.take(), { "total b": 1, watch: 1 })
      assert.deepStrictEqual(log.seen["watch"], [1, 7, null])
    }).pipe(Fx.scoped))

  it.effect("M6 a writer whose newest run changed no output has its readers after a restart", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const log = new Graph.Log()
      const first = yield* machine.boot(chain(log))
      yield* send(first, "/data/x", 4)
      yield* send(first, "/data/x", 5)
      assert.deepStrictEqual(log.take(), { half: 2, more: 1, watch: 1 })
      const space = yield* machine.boot(chain(log))
      yield* send(space, "/data/x", 6)
      assert.deepStrictEqual(log.take(), { half: 1, more: 1, watch: 1 })
      assert.strictEqual(log.seen["watch"], 4)
    }).pipe(Fx.scoped))

  it.effect("M8 a reopened space runs no node without a cause, repeats no delivery, and continues", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const log = new Graph.Log()
      yield* send(yield* machine.boot(chain(log)), "/data/x", 4)
      assert.deepStrictEqual(log.take(), { half: 1, more: 1, watch: 1 })
      log.seen["watch"] = "nothing yet"
      const space = yield* machine.boot(chain(log))
      yield* space.step
      assert.deepStrictEqual(log.take(), {})
      assert.strictEqual(log.seen["watch"], "nothing yet")
      yield* send(space, "/data/x", 5)
      assert.deepStrictEqual(log.take(), { half: 1 })
      yield* send(space, "/data/x", 6)
      assert.deepStrictEqual(log.take(), { half: 1, more: 1, watch: 1 })
      assert.strictEqual<Value>(log.seen["watch"], 4)
    }).pipe(Fx.scoped))

  it.effect("M9 changes during the absence of a module run exactly their readers", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const log = new Graph.Log()
      const index = log.materializer("index", ["/data/index"], (tx) => tx.set("/data/index", tx.list("/data/items").length))
      const other = log.effect("other", (tx) => tx.get("/data/other"))
      yield* send(yield* machine.boot([...chain(log), index, other]), "/data/x", 4)
      log.take()
      const without = yield* machine.boot([put])
      yield* send(without, "/data/x", 8)
      yield* send(without, "/data/items/a", 1)
      assert.deepStrictEqual(log.take(), {})
      const space = yield* machine.boot([...chain(log), index, other])
      yield* space.step
      assert.deepStrictEqual(log.take(), { half: 1, more: 1, watch: 1, index: 1 })
      assert.strictEqual(yield* space.get("/data/index"), 1)
    }).pipe(Fx.scoped))

  it.effect("M4 a node with a new version begins anew", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const log = new Graph.Log()
      yield* send(yield* machine.boot(chain(log)), "/data/x", 4)
      log.take()
      const other = Computation.make({ name: "half", output: "/data/half", writes: ["/data/rest"], run: (tx) => {
        log.ran("half", tx)
        tx.set("/data/rest", number(tx.get("/data/x")) % 2)
        return Math.floor(number(tx.get("/data/x")) / 2)
      } })
      const space = yield* machine.boot(chain(log).map((module) => module.name === "half" ? other : module))
      yield* space.step
      assert.deepStrictEqual(log.take(), { half: 1 })
      assert.strictEqual(yield* space.get("/data/rest"), 0)
    }).pipe(Fx.scoped))

  it.effect("M7 a declared surface holds after a restart, too", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const log = new Graph.Log()
      const wide = () => [put, log.computation("wide", { output: "/data/wide", writes: ["/data/beside"] }, (tx) => {
        tx.set(number(tx.get("/data/x")) === 2 ? "/data/elsewhere" : "/data/beside", tx.get("/data/x"))
        return tx.get("/data/x")
      }), log.effect("watch", (tx) => tx.get("/data/beside"))]
      yield* send(yield* machine.boot(wide()), "/data/x", 1)
      const space = yield* machine.boot(wide())
      yield* send(space, "/data/x", 2)
      assert.isUndefined(yield* space.get("/data/elsewhere"))
      assert.strictEqual(yield* space.get("/data/wide"), 1)
      yield* send(space, "/data/x", 3)
      assert.strictEqual(log.seen["watch"], 3)
    }).pipe(Fx.scoped))

  it.effect("M10 a node that starts others runs when the space opens again, and they resume unchanged", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const log = new Graph.Log()
      const family = () => [
        put,
        log.effect("parent", (tx) => tx.start(log.computation("child", "/data/child", (tx) => number(tx.get("/data/x")) + 1))),
        log.effect("watch", (tx) => tx.get("/data/child"))
      ]
      yield* send(yield* machine.boot(family()), "/data/x", 1)
      log.take()
      const space = yield* machine.boot(family())
      yield* space.step
      assert.deepStrictEqual(log.take(), { parent: 1 })
      yield* send(space, "/data/x", 2)
      assert.deepStrictEqual(log.take(), { child: 1, watch: 1 })
    }).pipe(Fx.scoped))

  it.effect("M13 a node's own changes do not invalidate it, and those of others do", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const log = new Graph.Log()
      const count = () =>
        log.materializer(
          "count",
          ["/data/count"],
          (tx) => tx.set("/data/count", Math.max(number(tx.get("/data/count")), number(tx.get("/data/x"))))
        )
      yield* send(yield* machine.boot([put, count()]), "/data/x", 3)
      log.take()
      const space = yield* machine.boot([put, count()])
      yield* space.step
      assert.deepStrictEqual(log.take(), {})
      yield* send(space, "/data/count", 1)
      assert.deepStrictEqual(log.take(), { count: 1 })
    }).pipe(Fx.scoped))

  it.effect("M11 an aborted or failed flush stores no record", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const log = new Graph.Log()
      yield* send(yield* machine.boot(chain(log)), "/data/x", 4)
      machine.breakDisk(true)
      yield* Fx.exit(send(yield* machine.open, "/data/x", 40))
      machine.breakDisk(false)
      log.take()
      const space = yield* machine.boot(chain(log))
      yield* space.step
      assert.deepStrictEqual([yield* space.get("/data/x"), yield* space.get("/data/more")], [4, 3])
      assert.deepStrictEqual(log.take(), {})
    }).pipe(Fx.scoped))

  it.effect("continues a running debounce after a restart", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const log = new Graph.Log()
      const late = () => [put, log.effect("late", (tx) => tx.get("/data/x"), { debounce: 100 })]
      const first = yield* machine.boot(late())
      yield* first.step
      yield* TestClock.adjust(100)
      yield* first.step
      log.take()
      yield* send(first, "/data/x", 1)
      const space = yield* machine.boot(late())
      yield* space.step
      assert.deepStrictEqual(log.take(), {})
      yield* TestClock.adjust(100)
      yield* space.step
      assert.deepStrictEqual(log.take(), { late: 1 })
    }).pipe(Fx.scoped))

  it.effect("M20 each run of a node is recorded with its node and causes, in the pass, before a handling, and after a restart", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const log = new Graph.Log()
      const look = enzyme("look", (tx, { payload }) => {
        tx.set("/data/seen", tx.get("/data/more"))
        tx.set("/data/x", payload)
      })
      const first = yield* machine.boot([...chain(log), look])
      yield* first.graph.trace(["run"])
      yield* send(first, "/data/x", 4)
      const known = (space: Space) => Fx.gen(function*() {
        const { run } = yield* space.graph.traces
        const head = yield* space.head
        return run.filter(({ beat }) => beat === head).map(({ causes, in: where, node }) => `${node} ${where}: ${causes.join(" ")}`.trim())
      })
      assert.deepStrictEqual(yield* known(first), ["half pass:", "more pass:", "watch pass:"])
      // The handling reads cells that depend on the input of its own beat.
      yield* first.set("/data/x", 8).pipe(Fx.forkChild({ startImmediately: true }))
      yield* first.signal({ signal: "/signals/look", payload: 12 })
      yield* first.step
      assert.deepStrictEqual(yield* known(first), [
        "half gate: /data/x", "more gate: /data/half", "half pass: /data/x", "more pass: /data/half", "watch pass: /data/more"
      ])
      // Its input changes while its module is absent.
      yield* send(yield* machine.boot([put]), "/data/x", 20)
      const space = yield* machine.boot(chain(log))
      yield* space.graph.trace(["run"])
      yield* space.step
      assert.deepStrictEqual(yield* known(space), ["half pass: /data/x", "more pass: /data/half", "watch pass: /data/more"])
    }).pipe(Fx.scoped))

  it.effect("M21 a failure of a node is known after a restart, with its code; it runs again at a change of its reads alone", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const log = new Graph.Log()
      const modules = () => [
        put,
        log.computation("half", "/data/half", (tx) => {
          if (number(tx.get("/data/x")) % 2 === 1) throw Object.assign(new Error("odd"), { _tag: "Odd", code: "half/odd" })
          return number(tx.get("/data/x")) / 2
        }),
        log.effect("watch", (tx) => tx.get("/data/half"))
      ]
      const standing = (space: Space) => Fx.map(space.graph.view, ({ findings, nodes, stats }): unknown => {
        const { code, error, status } = present(nodes.find(({ name }) => name === "half"))
        return {
          status, code, error, failed: stats.failed, found: findings.filter(({ code }) => code === "node/failed").map(({ node }) => node)
        }
      })
      const first = yield* machine.boot(modules())
      yield* send(first, "/data/x", 4)
      yield* send(first, "/data/x", 5)
      const failed = { status: "failed", code: "half/odd", error: "odd", failed: 1, found: ["half"] } as const
      assert.deepStrictEqual(yield* standing(first), failed)
      log.take()
      const space = yield* machine.boot(modules())
      assert.deepStrictEqual(yield* standing(space), failed)
      yield* space.step
      assert.deepStrictEqual(yield* standing(space), failed)
      assert.deepStrictEqual(log.take(), {})
      yield* send(space, "/data/x", 8)
      assert.deepStrictEqual(log.take(), { half: 1, watch: 1 })
      assert.deepStrictEqual(yield* standing(space), { status: "clean", code: undefined, error: undefined, failed: 0, found: [] })
      assert.deepInclude(yield* standing(yield* machine.boot(modules())), { status: "clean" })
    }).pipe(Fx.scoped))
})
