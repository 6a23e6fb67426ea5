import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Value } from "systole"
import { Computation, Kernel, Reaction, SpaceScheduler } from "systole"
import { TestRuntime } from "systole/testing"
import { enzyme, steps } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { present } from "../support/Present.ts"
import * as Graph from "./Graph.ts"

const number = (value: Value): number => Number(value ?? 0)
const viewOf = (scheduler: SpaceScheduler, name: string) => present(scheduler.snapshot().find((node) => node.name === name))

describe("G: invalidation, liveness, demand", () => {
  it.effect("G1, G4 an equal output stops the propagation: its readers do not run", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(
        log.computation("parity", "/data/parity", (tx) => number(tx.get("/data/x")) % 2),
        log.computation("middle", "/data/middle", (tx) => number(tx.get("/data/parity")) + 1),
        log.effect("watch", (tx) => tx.get("/data/middle"))
      )
      yield* Graph.put(space, ["/data/x", 0])
      log.take()
      for (const x of [2, 4, 6]) yield* Graph.put(space, ["/data/x", x])
      assert.deepStrictEqual(log.take(), { parity: 3 })
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("G2 each different output runs the effect once", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(
        log.computation("double", "/data/double", (tx) => number(tx.get("/data/x")) * 2),
        log.effect("watch", (tx) => tx.get("/data/double"))
      )
      yield* space.step
      log.take()
      for (const x of [1, 2, 3]) yield* Graph.put(space, ["/data/x", x])
      assert.deepStrictEqual(log.take(), { double: 3, watch: 3 })
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("G3 while a gate delays the writer, its clean readers stay clean", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(
        log.computation("slow", { output: "/data/slow", throttle: 1000 }, (tx) => number(tx.get("/data/x"))),
        log.effect("watch", (tx) => tx.get("/data/slow"))
      )
      yield* Graph.put(space, ["/data/x", 1])
      log.take()
      yield* Graph.put(space, ["/data/x", 2])
      assert.deepStrictEqual(log.take(), {})
      yield* TestClock.adjust(1000)
      yield* space.step
      assert.deepStrictEqual(log.take(), { slow: 1, watch: 1 })
      assert.strictEqual(log.seen["watch"], 2)
    }).pipe(Fx.provide(TestKernel.layer())))

  it("G7 a subscriber is notified of changes of other groups, and not of its own", () => {
    const log = new Graph.Log()
    const scheduler = new SpaceScheduler()
    scheduler.register(log.effect("editor", (tx) => tx.get("/text"), { changeGroup: "editor" }))
    scheduler.settle()
    log.take()
    scheduler.set("/text", "mine", { group: "editor" })
    scheduler.settle()
    assert.deepStrictEqual(log.take(), {})
    scheduler.set("/text", "theirs", { group: "other" })
    scheduler.settle()
    assert.deepStrictEqual(log.take(), { editor: 1 })
  })

  it("G8 a suppressed change is no cause, and a notified one is", () => {
    const scheduler = new SpaceScheduler()
    scheduler.register(Computation.make({ name: "c", output: "/c", writes: ["/beside"], changeGroup: "g", run: (tx) => {
      tx.set("/beside", tx.get("/x") ?? 0)
      return [tx.get("/x") ?? 0, tx.get("/beside") ?? 0]
    } }))
    scheduler.pull("/c")
    assert.deepStrictEqual(viewOf(scheduler, "c").causes, [])
    scheduler.set("/x", 1, { group: "g" })
    assert.deepStrictEqual(viewOf(scheduler, "c").causes, [])
    scheduler.set("/x", 2)
    assert.deepStrictEqual(viewOf(scheduler, "c").causes, ["/x"])
  })

  it("G9 causes with different scopes or paths are separate, and repeated ones are one", () => {
    const scheduler = new SpaceScheduler()
    scheduler.register(Computation.make({ name: "c", output: "/c", run: (tx) =>
      ["/x#/a/b", "/x#/a~1b", "/x?scope=user:u#/a/b"].map((address) => tx.get(address) ?? null) }))
    scheduler.pull("/c")
    for (const n of [1, 2]) {
      scheduler.set("/x", { a: { b: n }, "a/b": n })
      scheduler.set("/x?scope=user:u", { a: { b: n } })
    }
    assert.deepStrictEqual(viewOf(scheduler, "c").causes, ["/x#/a/b", "/x#/a~1b", "/x?scope=user:u#/a/b"])
  })

  it("G10 a withdrawn node comes back without causes", () => {
    const scheduler = new SpaceScheduler()
    const node = Computation.make({ name: "c", output: "/c", run: (tx) => tx.get("/x") })
    scheduler.register(node)
    scheduler.pull("/c")
    scheduler.set("/x", 1)
    scheduler.remove("c")
    scheduler.register(node)
    assert.deepStrictEqual(viewOf(scheduler, "c").causes, [])
    assert.strictEqual(viewOf(scheduler, "c").status, "never-ran")
  })

  it.effect("G12 a node without readers does not run, and runs once for its first reader", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(log.computation("double", "/data/double", (tx) => number(tx.get("/data/x")) * 2))
      yield* Graph.put(space, ["/data/x", 4])
      assert.deepStrictEqual(log.take(), {})
      yield* Graph.register(log.effect("watch", (tx) => tx.get("/data/double")))
      yield* space.step
      assert.deepStrictEqual(log.take(), { double: 1, watch: 1 })
      assert.strictEqual(log.seen["watch"], 8)
    }).pipe(Fx.provide(TestKernel.layer())))

  it("G14 a dormant computation that becomes an effect runs", () => {
    const log = new Graph.Log()
    const scheduler = new SpaceScheduler()
    scheduler.register(log.computation("c", "/c", (tx) => tx.get("/x")))
    scheduler.settle()
    assert.deepStrictEqual(log.take(), {})
    scheduler.register(log.effect("c", (tx) => tx.get("/x")))
    scheduler.settle()
    assert.deepStrictEqual(log.take(), { c: 1 })
  })

  it("G15 a node that never ran is not invalidated at its declared reads", () => {
    const scheduler = new SpaceScheduler()
    scheduler.register(Computation.make({ name: "c", output: "/c", reads: ["/x"], run: (tx) => tx.get("/x") }))
    scheduler.set("/x", 1)
    scheduler.settle()
    assert.deepStrictEqual({ ...viewOf(scheduler, "c"), ordinal: 0 }.causes, [])
    assert.strictEqual(viewOf(scheduler, "c").status, "never-ran")
  })

  it.effect("G16 a change in the abandoned branch is no cause, and one in the taken branch is", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(log.effect("either", (tx) => tx.get(tx.get("/data/flag") === true ? "/data/a" : "/data/b")))
      yield* Graph.put(space, ["/data/flag", true])
      log.take()
      yield* Graph.put(space, ["/data/b", 1])
      assert.deepStrictEqual(log.take(), {})
      yield* Graph.put(space, ["/data/a", 1])
      assert.deepStrictEqual(log.take(), { either: 1 })
      yield* Graph.put(space, ["/data/flag", false])
      log.take()
      yield* Graph.put(space, ["/data/a", 2])
      assert.deepStrictEqual(log.take(), {})
      yield* Graph.put(space, ["/data/b", 2])
      assert.deepStrictEqual(log.take(), { either: 1 })
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("G17 a parent that read the later output of its child runs once more, in the same beat", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const sampled: Array<Value> = []
      const child = log.computation("child", "/data/x", (tx) => number(tx.get("/data/source")) + 2)
      const space = yield* Graph.open(log.effect("parent", (tx) => {
        sampled.push(tx.get("/data/x"))
        tx.start(child)
        return null
      }))
      yield* Graph.put(space, ["/data/x", 1])
      assert.deepStrictEqual(log.take(), { parent: 2, child: 1 })
      assert.deepStrictEqual(sampled, [1, 2])
      assert.strictEqual(yield* space.get("/data/x"), 2)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("G19 a child without readers runs once, and is then dormant", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(log.effect(
        "parent",
        (tx) => tx.start(log.computation("child", "/data/child", (tx) => tx.get("/data/x")))
      ))
      yield* Graph.put(space, ["/data/x", 1])
      assert.deepStrictEqual(log.take(), { parent: 1, child: 1 })
      yield* Graph.put(space, ["/data/x", 2])
      assert.deepStrictEqual(log.take(), {})
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("G20 a child with a debounce runs first, and once, at its end", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const child = log.computation("child", { output: "/data/child", debounce: 100 }, (tx) => tx.get("/data/x"))
      const space = yield* Graph.open(log.effect("parent", (tx) => tx.start(child)))
      yield* space.step
      assert.deepStrictEqual(log.take(), { parent: 1 })
      yield* TestClock.adjust(100)
      yield* space.step
      assert.deepStrictEqual(log.take(), { child: 1 })
      yield* Graph.put(space, ["/data/x", 2])
      yield* TestClock.adjust(100)
      yield* space.step
      assert.deepStrictEqual(log.take(), {})
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("G6 of two pieces of one module, each is notified of writes of the other", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const next = Computation.make({
        name: "next",
        inputs: ["from", "to"],
        output: "/data/chain/:to",
        run: (tx, { from, to }) => (log.ran(`next ${to}`, tx), number(tx.get(`/data/chain/${from}`)) + 1)
      })
      const start = enzyme("start", (tx, { payload }) => void tx.start("next", payload as Record<string, Value>))
      const space = yield* Graph.open(next, log.effect("watch", (tx) => tx.get("/data/chain/2")))
      yield* (yield* Kernel).register(start)
      for (const payload of [{ from: 0, to: 1 }, { from: 1, to: 2 }]) yield* space.signal({ signal: "/signals/start", payload })
      yield* steps(space, 2)
      log.take()
      yield* Graph.put(space, ["/data/chain/0", 5])
      assert.deepStrictEqual(log.take(), { "next 1": 1, "next 2": 1, watch: 1 })
      assert.strictEqual(log.seen["watch"], 7)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("G23 a node that reads its own output does not depend on itself", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(
        log.computation("count", "/data/count", (tx) => number(tx.get("/data/count")) + number(tx.get("/data/x"))),
        log.effect("watch", (tx) => tx.get("/data/count"))
      )
      yield* Graph.put(space, ["/data/x", 1])
      assert.deepStrictEqual(log.take(), { count: 1, watch: 1 })
      yield* space.step
      assert.deepStrictEqual(log.take(), {})
    }).pipe(Fx.provide(TestKernel.layer().pipe(Layer.provide(Layer.succeed(TestRuntime.Unstable, ["count /data/count"]))))))

  it.effect("G28 a node that writes outside its surface changes no cell, and has one diagnostic", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(
        log.computation("astray", "/data/out", (tx) => {
          if (number(tx.get("/data/x")) > 0) tx.set("/data/elsewhere", 1)
          return tx.get("/data/x")
        }),
        log.effect("watch", (tx) => tx.get("/data/out")),
        log.materializer("wide", ["/data/index/*"], (tx) => {
          if (number(tx.get("/data/x")) > 0) {
            try {
              tx.set("/data/beyond", 1)
            } catch {
              tx.set("/data/index/a", 1)
            }
          }
        })
      )
      yield* Graph.put(space, ["/data/x", 0])
      yield* Graph.put(space, ["/data/x", 1])
      assert.strictEqual(yield* space.get("/data/out"), 0)
      for (const cell of ["/data/elsewhere", "/data/beyond", "/data/index/a"]) assert.isUndefined(yield* space.get(cell))
      const told = yield* TestKernel.diagnostics(space)
      assert.deepStrictEqual(told.map(({ code, origin }) => [origin, code]), [
        [{ kind: "node", name: "astray" }, "envelope/outside"],
        [{ kind: "node", name: "wide" }, "envelope/outside"]
      ])
    }).pipe(Fx.provide(TestKernel.layer())))

  it("G29 a ring of 20,000 nodes needs no stack", () => {
    const scheduler = new SpaceScheduler()
    const count = 20_000
    for (let i = 0; i < count; i++) {
      const above = `/ring/${(i + count - 1) % count}`
      scheduler.register(Computation.make({
        name: `n${i}`, output: `/ring/${i}`, reads: [above], run: (tx) => Math.min(1, number(tx.get(above)))
      }))
    }
    scheduler.register(Reaction.make({ name: "watch", read: (tx) => tx.get("/ring/0"), deliver: () => {} }))
    scheduler.settle()
    scheduler.remove("watch")
    assert.isTrue(scheduler.snapshot().every(({ live }) => !live))
  })

  it("G30 a write of a node is not among its reads", () => {
    const scheduler = new SpaceScheduler()
    scheduler.register(Computation.make({ name: "c", output: "/c", writes: ["/d"], run: (tx) => {
      tx.set("/d", 1)
      tx.increment("/d", 2)
      return tx.get("/d")
    } }))
    assert.strictEqual(scheduler.pull("/c"), 3)
    assert.deepStrictEqual(viewOf(scheduler, "c").reads, [])
  })

  it.effect("G31 a node that throws is reported, stays subscribed, and affects no other", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(
        log.effect("bad", (tx) => {
          if (tx.get("/data/x") === 1) throw "no error at all"
          return tx.get("/data/x")
        }),
        log.effect("good", (tx) => tx.get("/data/x"))
      )
      yield* Graph.put(space, ["/data/x", 1])
      assert.deepStrictEqual(log.take(), { bad: 1, good: 1 })
      assert.strictEqual(log.seen["good"], 1)
      assert.deepStrictEqual((yield* TestKernel.diagnostics(space)).map(({ origin }) => origin), [{ kind: "node", name: "bad" }])
      yield* Graph.put(space, ["/data/x", 2])
      assert.deepStrictEqual(log.take(), { bad: 1, good: 1 })
      assert.strictEqual(log.seen["bad"], 2)
    }).pipe(Fx.provide(TestKernel.layer())))

  it("G31 a failed run leaves none of its started nodes, and those of the run before it stay", () => {
    const scheduler = new SpaceScheduler()
    const child = (name: string) => Computation.make({ name, output: `/${name}`, run: (tx) => tx.get("/x") })
    scheduler.register(Reaction.make({
      name: "parent",
      read: (tx) => {
        tx.start(child("old"))
        if (tx.get("/x") !== 2) return null
        tx.start(child("new"))
        throw new Error("after all that")
      },
      deliver: () => {}
    }))
    const names = () => scheduler.snapshot().map(({ name }) => name)
    for (const x of [1, 2]) {
      scheduler.set("/x", x)
      scheduler.settle()
      assert.deepStrictEqual(names(), ["parent", "old"])
    }
    assert.lengthOf(scheduler.takeFailures(), 1)
    scheduler.set("/x", 3)
    scheduler.settle()
    scheduler.remove("parent")
    assert.deepStrictEqual(names(), [])
  })

  it.effect("G32 a child that its parent no longer starts does not run, even if its inputs changed", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const child = log.computation("child", "/data/child", (tx) => tx.get("/data/x"))
      const space = yield* Graph.open(
        log.effect("parent", (tx) => {
          const isOn = number(tx.get("/data/x")) < 2
          if (isOn) tx.start(child)
          return isOn
        }),
        log.effect("watch", (tx) => tx.get("/data/child"))
      )
      yield* Graph.put(space, ["/data/x", 1])
      log.take()
      yield* Graph.put(space, ["/data/x", 2])
      assert.deepStrictEqual(log.take(), { parent: 1 })
      assert.strictEqual(yield* space.get("/data/child"), 1)
    }).pipe(Fx.provide(TestKernel.layer())))
})
