import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect as Fx, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { NodeDefinition, Value } from "systole"
import { Computation, Effect, Kernel, Scheduler } from "systole"
import { enzyme, turns } from "../kernel/Kit.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as Graph from "./Graph.ts"

const number = (value: Value): number => Number(value ?? 0)

/** Two computations that never agree, and an effect that looks at one of them. */
const ring = (log: Graph.Log): ReadonlyArray<NodeDefinition> => [
  log.computation("tick", "/data/tick", (tx) => number(tx.get("/data/tock")) + 1),
  log.computation("tock", "/data/tock", (tx) => number(tx.get("/data/tick")) + 1),
  log.effect("watch", (tx) => tx.get("/data/tick"))
]

describe("H: pass, ordering, convergence", () => {
  it.effect("H1 a diamond runs from its source to its end, each node once", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(
        log.effect("end", (tx) => number(tx.get("/data/left")) + number(tx.get("/data/right"))),
        log.computation("left", "/data/left", (tx) => number(tx.get("/data/top")) + 1),
        log.computation("right", "/data/right", (tx) => number(tx.get("/data/top")) * 2),
        log.computation("top", "/data/top", (tx) => number(tx.get("/data/x")))
      )
      yield* space.step
      log.take()
      yield* Graph.put(space, ["/data/x", 3])
      assert.deepStrictEqual(log.order, ["top", "left", "right", "end"])
      assert.strictEqual(log.seen["end"], 10)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("H2 nodes on one level run in the order of their registration, whatever woke them first", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(...["c", "a", "b"].map((name) => log.effect(name, (tx) => tx.get(`/data/${name}`))))
      yield* space.step
      log.take()
      yield* Graph.put(space, ["/data/b", 1], ["/data/a", 1], ["/data/c", 1])
      assert.deepStrictEqual(log.order, ["c", "a", "b"])
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("H4, H5 chains settle in one beat, whether they declare their reads or not, and nobody calls them restless", () =>
    Fx.gen(function*() {
      for (const declared of [true, false]) {
        const log = new Graph.Log()
        const length = declared ? 12 : 8
        const name = (n: number) => `${declared ? "declared" : "silent"}${n}`
        // Registered from the end, so that each meets writers that never ran.
        const chain = Array.from({ length }, (_, i) => length - i).map((n) =>
          log.computation(name(n), { output: `/data/${name(n)}`, reads: declared ? [`/data/${name(n - 1)}`] : [] }, (tx) => number(tx.get(`/data/${name(n - 1)}`)) + 1)
        )
        const space = yield* Graph.open(log.effect(`watch${declared}`, (tx) => tx.get(`/data/${name(length)}`)), ...chain)
        yield* Graph.put(space, [`/data/${name(0)}`, 100])
        assert.strictEqual(log.seen[`watch${declared}`], 100 + length)
        assert.isTrue(Object.values(log.take()).every((runs) => runs === 1))
        assert.deepStrictEqual(yield* TestKernel.diagnostics(space), [])
      }
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("H7, H8 a ring that never comes to rest runs at most ten times each, and one diagnostic names it", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(...ring(log))
      yield* space.step
      const runs = log.take()
      assert.isAtMost(Math.max(...Object.values(runs)), 10)
      yield* Fx.all([TestClock.adjust(250), space.step])
      assert.isAtMost(Math.max(...Object.values(log.take())), 10)
      const told = (yield* TestKernel.diagnostics(space)).filter(({ topic }) => topic === "node/non-settling")
      assert.lengthOf(told, 1)
      assert.include(["tick", "tock"], (told[0]!["origin"] as { readonly name?: string }).name)
    }).pipe(Fx.provide(TestKernel.layer())))

  it("H10 a node that does not come to rest waits 250, 500, 1000, 2000 and again 2000 ms", () => {
    const scheduler = new Scheduler()
    for (const node of ring(new Graph.Log())) scheduler.register(node)
    let now = 0
    const waits: Array<number> = []
    for (let i = 0; i < 5; i++) {
      scheduler.settle(now)
      waits.push(scheduler.nextDue! - now)
      now = scheduler.nextDue!
    }
    assert.deepStrictEqual(waits, [250, 500, 1000, 2000, 2000])
  })

  it("H11 what nobody demands is not put off, nor what waits for its debounce", () => {
    const log = new Graph.Log()
    const scheduler = new Scheduler()
    scheduler.register(log.computation("dormant", "/dormant", (tx) => tx.get("/x")))
    scheduler.register(log.effect("later", (tx) => tx.get("/x"), { debounce: 100 }))
    for (const node of ring(log)) scheduler.register(node)
    const { restless } = scheduler.settle(0)
    assert.isTrue(restless.every(({ definition: { name } }) => name === "tick" || name === "tock"))
    assert.deepStrictEqual(scheduler.snapshot().filter(({ streak }) => streak > 0).map(({ name }) => name).filter((name) => name === "dormant" || name === "later"), [])
  })

  it("H12 a node that comes to rest waits no more, and is not counted any more", () => {
    const scheduler = new Scheduler()
    let isCalm = false
    const step = (name: string, other: string) => Computation.make({ name, output: `/${name}`, run: (tx) => isCalm ? 0 : number(tx.get(`/${other}`)) + 1 })
    scheduler.register(step("a", "b"))
    scheduler.register(step("b", "a"))
    scheduler.register(Effect.make({ name: "watch", read: (tx) => tx.get("/a"), deliver: () => {} }))
    scheduler.settle(0)
    assert.strictEqual(scheduler.nextDue, 250)
    isCalm = true
    assert.deepStrictEqual(scheduler.settle(250).restless, [])
    assert.isUndefined(scheduler.nextDue)
    assert.isTrue(scheduler.snapshot().every(({ eligibleAt, streak }) => streak === 0 && eligibleAt === 0))
  })

  it("H15 a node that is put off stays invalid: it is neither forced nor called clean", () => {
    const scheduler = new Scheduler()
    for (const node of ring(new Graph.Log())) scheduler.register(node)
    const { restless } = scheduler.settle(0)
    const runs = () => scheduler.snapshot().map(({ runs }) => runs)
    const before = runs()
    for (const { definition } of restless) assert.strictEqual(scheduler.snapshot().find(({ name }) => name === definition.name)!.status, "invalid")
    scheduler.settle(249)
    assert.deepStrictEqual(runs(), before)
  })

  it("H21 looking at the graph changes no run and no order", () => {
    const orders = [false, true].map((isLooking) => {
      const log = new Graph.Log()
      const scheduler = new Scheduler()
      for (const node of ring(log)) scheduler.register(node)
      scheduler.register(log.effect("other", (tx) => tx.get("/data/tock")))
      for (let now = 0; now < 3000; now += 250) {
        if (isLooking) scheduler.snapshot()
        scheduler.settle(now)
      }
      return [...log.order]
    })
    assert.deepStrictEqual(orders[0], orders[1])
  })
})

describe("I: materializers", () => {
  const index = (log: Graph.Log, more = {}) => log.materializer("index", { writes: ["/data/index/*"], ...more }, (tx) => tx.set("/data/index/x", tx.get("/data/x")))

  it.effect("I1 a materializer runs though nobody reads what it writes", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(index(log))
      yield* Graph.put(space, ["/data/x", 1])
      assert.deepStrictEqual(log.take(), { index: 1 })
      assert.strictEqual(yield* space.get("/data/index/x"), 1)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("I2 it runs after all else, unless somebody reads inside its envelope", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(index(log), log.effect("other", (tx) => tx.get("/data/x")))
      yield* space.step
      log.take()
      yield* Graph.put(space, ["/data/x", 1])
      assert.deepStrictEqual(log.order, ["other", "index"])
      yield* Graph.register(log.effect("reader", (tx) => [tx.get("/data/x") ?? null, tx.get("/data/index/x") ?? null]))
      yield* space.step
      log.take()
      yield* Graph.put(space, ["/data/x", 2])
      assert.deepStrictEqual(log.take(), { other: 1, index: 1, reader: 1 })
      assert.deepStrictEqual(log.seen["reader"], [2, 2])
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("I4 it runs before a handler reads inside its envelope", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const seen: Array<Value> = []
      const space = yield* Graph.open(index(log))
      yield* (yield* Kernel).register(enzyme("look", (tx) => void seen.push(tx.get("/data/index/x"))))
      yield* Graph.put(space, ["/data/x", 1])
      log.take()
      yield* space.set("/data/x", 2).pipe(Fx.forkChild({ startImmediately: true }))
      yield* space.signal({ signal: "/signals/look" })
      yield* space.step
      assert.deepStrictEqual(seen, [2])
      assert.deepStrictEqual(log.take(), { index: 1 })
    }).pipe(Fx.provide(TestKernel.layer())))

  it("I6 its envelope makes nobody its reader, and an output does", () => {
    const log = new Graph.Log()
    const scheduler = new Scheduler()
    scheduler.register(log.materializer("index", ["/index/*"], (tx) => tx.set("/index/x", tx.get("/x"))))
    scheduler.register(log.computation("plain", "/plain", (tx) => tx.get("/x")))
    scheduler.register(log.effect("reader", (tx) => [tx.get("/index/x") ?? null, tx.get("/plain") ?? null]))
    scheduler.settle()
    const refs = Object.fromEntries(scheduler.snapshot().map(({ liveRefs, name }) => [name, liveRefs]))
    assert.deepStrictEqual(refs, { index: 0, plain: 1, reader: 0 })
  })

  it.effect("I7 two changes within its debounce are one run", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(index(log, { debounce: 100 }))
      yield* Graph.put(space, ["/data/x", 0])
      yield* TestClock.adjust(100)
      yield* space.step
      log.take()
      for (const x of [1, 2]) yield* Graph.put(space, ["/data/x", x])
      assert.deepStrictEqual(log.take(), {})
      yield* TestClock.adjust(100)
      yield* space.step
      assert.deepStrictEqual(log.take(), { index: 1 })
      assert.strictEqual(yield* space.get("/data/index/x"), 2)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("I8 an envelope in another scope goes before no reader of this one", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(
        log.effect("reader", (tx) => [tx.get("/data/x") ?? null, tx.get("/data/index/x") ?? null]),
        log.materializer("index", ["/data/index/*?scope=user:ann"], (tx) => tx.set("/data/index/x?scope=user:ann", tx.get("/data/x")))
      )
      yield* space.step
      log.take()
      yield* Graph.put(space, ["/data/x", 1])
      assert.deepStrictEqual(log.order, ["reader", "index"])
    }).pipe(Fx.provide(TestKernel.layer())))
})

describe("J: gates and idle", () => {
  const live = { pace: "demand" } as const

  it.effect("J1 an effect with a debounce runs once when all is quiet, by the one wake", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(log.effect("late", (tx) => tx.get("/data/x"), { debounce: 100 }))
      yield* TestClock.adjust(200)
      yield* turns()
      log.take()
      for (const x of [1, 2, 3]) {
        yield* space.handled({ signal: "/signals/put", payload: [["/data/x", x]] })
        yield* TestClock.adjust(30)
      }
      assert.deepStrictEqual(log.take(), {})
      yield* TestClock.adjust(100)
      yield* turns()
      assert.deepStrictEqual(log.take(), { late: 1 })
      assert.strictEqual(log.seen["late"], 3)
    }).pipe(Fx.provide(TestKernel.layer(live))))

  it("J3 a debounce given with the node holds, and one that is cleared does not", () => {
    const log = new Graph.Log()
    const scheduler = new Scheduler()
    const node = scheduler.register(log.effect("late", (tx) => tx.get("/x"), { debounce: 100 }))
    scheduler.settle(0)
    assert.deepStrictEqual(log.take(), {})
    scheduler.gates.set(node, { debounce: 0 })
    scheduler.settle(1)
    assert.deepStrictEqual(log.take(), { late: 1 })
    scheduler.set("/x", 1)
    scheduler.settle(2)
    assert.deepStrictEqual(log.take(), { late: 1 })
  })

  it.effect("J4 a node that is withdrawn while it waits never runs, and holds nobody up", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const node = log.effect("late", (tx) => tx.get("/data/x"), { debounce: 100 })
      const space = yield* Graph.open(node)
      yield* space.handled({ signal: "/signals/put", payload: [["/data/x", 1]] })
      yield* (yield* Kernel).unregister(node)
      yield* space.idle
      yield* TestClock.adjust(1000)
      yield* turns()
      assert.deepStrictEqual(log.take(), {})
    }).pipe(Fx.provide(TestKernel.layer(live))))

  it("J8 a shorter debounce moves the wake earlier, and a longer one does not delay it", () => {
    const scheduler = new Scheduler()
    const node = scheduler.register(Effect.make({ name: "late", read: (tx) => tx.get("/x"), deliver: () => {}, debounce: 100 }))
    scheduler.settle(0)
    assert.strictEqual(scheduler.nextDue, 100)
    scheduler.gates.set(node, { debounce: 40 })
    assert.strictEqual(scheduler.nextDue, 40)
    scheduler.gates.set(node, { debounce: 500 })
    assert.strictEqual(scheduler.nextDue, 40)
  })

  it("J9 when the gate that was first lets go early, the wake is that of the next", () => {
    const scheduler = new Scheduler()
    const [first] = [100, 300].map((debounce) => scheduler.register(Effect.make({ name: `late${debounce}`, read: () => null, deliver: () => {}, debounce })))
    scheduler.settle(0)
    assert.strictEqual(scheduler.nextDue, 100)
    scheduler.registry.remove(first!)
    assert.strictEqual(scheduler.nextDue, 300)
  })

  it("J11 what nobody demands arms no wake", () => {
    const scheduler = new Scheduler()
    scheduler.register(Computation.make({ name: "slow", output: "/slow", throttle: 100, run: (tx) => tx.get("/x") }))
    scheduler.register(Effect.make({ name: "watch", read: (tx) => tx.get("/slow"), deliver: () => {} }))
    scheduler.settle(0)
    scheduler.set("/x", 1)
    scheduler.settle(1)
    assert.strictEqual(scheduler.nextDue, 100)
    scheduler.remove("watch")
    assert.isUndefined(scheduler.nextDue)
  })

  it.effect("J14 a delivery that goes on is waited for, however it ends", () =>
    Fx.gen(function*() {
      for (const ends of ["well", "badly"]) {
        const gate = yield* Deferred.make<void, Error>()
        const space = yield* Graph.open(Effect.make({ name: `slow-${ends}`, read: (tx) => tx.get(`/data/${ends}`), deliver: () => Fx.runPromise(Deferred.await(gate)) }))
        yield* space.handled({ signal: "/signals/put", payload: [[`/data/${ends}`, 1]] })
        const idle = yield* Fx.forkChild(space.idle, { startImmediately: true })
        yield* turns()
        assert.isUndefined(idle.pollUnsafe())
        yield* ends === "well" ? Deferred.succeed(gate, undefined) : Deferred.fail(gate, new Error("it did not arrive"))
        yield* Fiber.join(idle)
      }
    }).pipe(Fx.provide(TestKernel.layer(live))))
})
