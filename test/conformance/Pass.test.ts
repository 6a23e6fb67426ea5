import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { NodeDefinition, Told, Value } from "systole"
import { Computation, CurrentReporter, Kernel, Pacemaker, Reaction, Reporter, SpaceScheduler } from "systole"
import { TestPacemaker, TestRuntime } from "systole/testing"
import { Load } from "../../src/scheduler/view/Load.ts"
import { enzyme } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { present } from "../support/Present.ts"
import * as Graph from "./Graph.ts"

const number = (value: Value): number => Number(value ?? 0)

/** Two computations that diverge, and an effect that reads one of them. */
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

  it.effect("H2 nodes on one level run in the order of registration, for any order of invalidation", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(...["c", "a", "b"].map((name) => log.effect(name, (tx) => tx.get(`/data/${name}`))))
      yield* space.step
      log.take()
      yield* Graph.put(space, ["/data/b", 1], ["/data/a", 1], ["/data/c", 1])
      assert.deepStrictEqual(log.order, ["c", "a", "b"])
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("H4, H5 chains settle in one beat, with or without declared reads, and are not reported as divergent", () =>
    Fx.gen(function*() {
      for (const declared of [true, false]) {
        const log = new Graph.Log()
        const length = declared ? 12 : 8
        const name = (n: number) => `${declared ? "declared" : "silent"}${n}`
        // Registered from the end, so that each reads writers before their first run.
        const chain = Array.from({ length }, (_, i) => length - i).map((n) =>
          log.computation(
            name(n),
            { output: `/data/${name(n)}`, reads: declared ? [`/data/${name(n - 1)}`] : [] },
            (tx) => number(tx.get(`/data/${name(n - 1)}`)) + 1
          )
        )
        const space = yield* Graph.open(log.effect(`watch${declared}`, (tx) => tx.get(`/data/${name(length)}`)), ...chain)
        yield* Graph.put(space, [`/data/${name(0)}`, 100])
        assert.strictEqual(log.seen[`watch${declared}`], 100 + length)
        assert.isTrue(Object.values(log.take()).every((runs) => runs === 1))
        assert.deepStrictEqual(yield* TestKernel.diagnostics(space), [])
      }
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("H7, H8 the nodes of a divergent ring run at most ten times each, and one diagnostic names it", () =>
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
      assert.include(["tick", "tock"], (present(told[0])["origin"] as { readonly name?: string }).name)
    }).pipe(Fx.provide(TestKernel.layer())))

  it("H10 a divergent node waits 250, 500, 1000, 2000 and again 2000 ms", () => {
    const scheduler = new SpaceScheduler()
    for (const node of ring(new Graph.Log())) scheduler.register(node)
    let now = 0
    const waits: Array<number> = []
    for (let i = 0; i < 5; i++) {
      scheduler.settle(now)
      waits.push(present(scheduler.nextDue) - now)
      now = present(scheduler.nextDue)
    }
    assert.deepStrictEqual(waits, [250, 500, 1000, 2000, 2000])
  })

  it("H11 a node without demand is not delayed, nor one in its debounce", () => {
    const log = new Graph.Log()
    const scheduler = new SpaceScheduler()
    scheduler.register(log.computation("dormant", "/dormant", (tx) => tx.get("/x")))
    scheduler.register(log.effect("later", (tx) => tx.get("/x"), { debounce: 100 }))
    for (const node of ring(log)) scheduler.register(node)
    const { restless } = scheduler.settle(0)
    assert.isTrue(restless.every(({ definition: { name } }) => name === "tick" || name === "tock"))
    assert.deepStrictEqual(
      scheduler.snapshot().filter(({ streak }) => streak > 0).map(({ name }) => name).filter(
        (name) => name === "dormant" || name === "later"
      ),
      []
    )
  })

  it("H12 a node that converges no longer waits, and is no longer counted", () => {
    const scheduler = new SpaceScheduler()
    let isCalm = false
    const step = (name: string, other: string) =>
      Computation.make({ name, output: `/${name}`, run: (tx) => isCalm ? 0 : number(tx.get(`/${other}`)) + 1 })
    scheduler.register(step("a", "b"))
    scheduler.register(step("b", "a"))
    scheduler.register(Reaction.make({ name: "watch", read: (tx) => tx.get("/a"), deliver: () => {} }))
    scheduler.settle(0)
    assert.strictEqual(scheduler.nextDue, 250)
    isCalm = true
    assert.deepStrictEqual(scheduler.settle(250).restless, [])
    assert.isUndefined(scheduler.nextDue)
    assert.isTrue(scheduler.snapshot().every(({ eligibleAt, streak }) => streak === 0 && eligibleAt === 0))
  })

  it("H15 a delayed node stays invalid: it is neither forced nor marked clean", () => {
    const scheduler = new SpaceScheduler()
    for (const node of ring(new Graph.Log())) scheduler.register(node)
    const { restless } = scheduler.settle(0)
    const runs = () => scheduler.snapshot().map(({ runs }) => runs)
    const before = runs()
    for (const { definition } of restless) {
      assert.strictEqual(present(scheduler.snapshot().find(({ name }) => name === definition.name)).status, "invalid")
    }
    scheduler.settle(249)
    assert.deepStrictEqual(runs(), before)
  })

  it("H19 passes of less than three tenths of the time, or less than five seconds, are not reported; longer ones are, once", () => {
    const told = (passes: ReadonlyArray<readonly [wait: number, spent: number]>) => {
      const load = new Load()
      let now = 1000
      return passes.flatMap(([wait, spent], i) => load.add(now += wait + spent, spent) === undefined ? [] : [i])
    }
    const many = (count: number, pass: readonly [number, number]) => Array.from({ length: count }, () => pass)
    assert.deepStrictEqual(told(many(49, [50, 50])), [])
    assert.deepStrictEqual(told(many(400, [75, 25])), [])
    assert.deepStrictEqual(told(many(400, [60, 40])), [50])
    assert.deepStrictEqual(told([...many(60, [60, 40]), ...many(60, [1000, 10]), ...many(200, [60, 40])]).length, 2)
  })

  it.effect("H19 nodes that keep the host busy are reported once, outside beats; a pass names ten delayed nodes and their number", () => {
    const facts: Array<Told> = []
    let spent = 0
    const slow = Layer.effect(
      Pacemaker,
      Fx.map(Pacemaker, (real) => ({ ...real, now: () => real.now() + spent }))
    ).pipe(Layer.provide(TestPacemaker.layer))
    const reporter = Layer.succeed(CurrentReporter, new Reporter((told) => void facts.push(told)))
    return Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(
        log.computation("slow", "/data/slow", (tx) => {
          if (TestKernel.isOwn(tx)) spent += 600
          return tx.get("/data/x")
        }),
        // Twelve divergent pairs.
        ...Array.from(
          { length: 24 },
          (_, i) => log.computation(`ring${i}`, `/data/ring/${i}`, (tx) => number(tx.get(`/data/ring/${i ^ 1}`)) + 1)
        ),
        log.effect(
          "watch",
          (tx) => [tx.get("/data/slow") ?? null, ...Array.from({ length: 24 }, (_, i) => tx.get(`/data/ring/${i}`) ?? null)]
        )
      )
      for (let x = 0; x < 20; x++) {
        yield* TestClock.adjust(1000)
        yield* Graph.put(space, ["/data/x", x])
      }
      assert.deepStrictEqual(
        facts.filter(({ topic }) => topic === "node/busy").map(({ beat, space }) => [beat, space]),
        [[undefined, "test"]]
      )
      const restless = (yield* TestKernel.diagnostics(space)).filter(({ topic }) => topic === "node/non-settling")
      assert.lengthOf(restless, 1)
      assert.strictEqual((yield* TestKernel.diagnostics(space)).length, 1)
      const note = present(restless[0])["note"] as string
      assert.isAtLeast(Number(/^\d+/.exec(note)?.[0]), 12)
      assert.lengthOf([...note.matchAll(/ring\d+\b/g)], 10)
    }).pipe(Fx.provide(TestKernel.layer({}, undefined, { pacemaker: slow }).pipe(Layer.provide(reporter))))
  })

  it.effect("H20 a node with two outputs for the same inputs is reported once, with the place; the second output is dropped", () => {
    const facts: Array<Told> = []
    const expected = ["adds /data/sum", "draws /data/chance", "starts", "falls /data/fell", "beside /data/other"]
    const layer = TestKernel.layer().pipe(Layer.provide([
      Layer.succeed(TestRuntime.Unstable, expected),
      Layer.succeed(CurrentReporter, new Reporter((told) => void facts.push(told)))
    ]))
    return Fx.gen(function*() {
      const log = new Graph.Log()
      let [chance, child, runs] = [0, 0, 0]
      const space = yield* Graph.open(
        log.computation("pure", "/data/pure", (tx) => number(tx.get("/data/x")) * 2),
        log.computation("adds", "/data/sum", (tx) => number(tx.get("/data/sum")) + number(tx.get("/data/x"))),
        log.computation("draws", "/data/chance", (tx) => number(tx.get("/data/x")) + chance++),
        log.materializer("beside", ["/data/one", "/data/other"], (tx) => {
          tx.set("/data/one", tx.get("/data/x"))
          if (TestKernel.isOwn(tx)) tx.set("/data/other", tx.get("/data/x"))
        }),
        log.materializer("steady", ["/data/log/*"], (tx) => tx.set(`/data/log/${number(tx.get("/data/x"))}`, true)),
        log.computation("starts", "/data/started", (tx) => {
          tx.start(Computation.make({ name: `child${child++}`, output: `/data/child/${child}`, run: () => 0 }))
          return tx.get("/data/x")
        }),
        log.computation("falls", "/data/fell", (tx) => {
          if (runs++ % 2 === 1) throw new Error("every other time")
          return tx.get("/data/x")
        }),
        log.effect("watch", (tx) => ["pure", "sum", "chance", "started", "fell"].map((name) => tx.get(`/data/${name}`) ?? null))
      )
      for (const x of [1, 2]) yield* Graph.put(space, ["/data/x", x])
      assert.deepStrictEqual(log.take(), { pure: 2, adds: 2, draws: 2, beside: 2, steady: 2, starts: 2, falls: 2, watch: 2 })
      assert.deepStrictEqual(log.seen["watch"], [4, 3, 4, 2, 2])
      assert.deepStrictEqual(
        facts.filter(({ topic }) => topic === "node/unstable").map(({ note }) => note.split(" ")[0]),
        expected.map((line) => present(line.split(" ")[0]))
      )
      assert.deepStrictEqual(yield* TestKernel.diagnostics(space), [])
    }).pipe(Fx.provide(layer))
  })

  it("H21 an inspection of the graph changes no run and no order", () => {
    const orders = [false, true].map((isLooking) => {
      const log = new Graph.Log()
      const scheduler = new SpaceScheduler()
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
  const index = (log: Graph.Log, more = {}) =>
    log.materializer("index", { writes: ["/data/index/*"], ...more }, (tx) => tx.set("/data/index/x", tx.get("/data/x")))

  it.effect("I1 a materializer runs without readers", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(index(log))
      yield* Graph.put(space, ["/data/x", 1])
      assert.deepStrictEqual(log.take(), { index: 1 })
      assert.strictEqual(yield* space.get("/data/index/x"), 1)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("I2 it runs last, unless a node reads inside its envelope", () =>
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

  it("I6 its envelope makes no node its reader, and an output does", () => {
    const log = new Graph.Log()
    const scheduler = new SpaceScheduler()
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

  it.effect("I8 an envelope in another scope precedes no reader of this one", () =>
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
