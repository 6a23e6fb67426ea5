import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect as Fx, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Space, Transaction, Value } from "systole"
import { Computation, Kernel, Pacemaker, Reaction, replay, SpaceScheduler } from "systole"
import { TestPacemaker } from "systole/testing"
import { enzyme, turns } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import { present } from "../support/Present.ts"
import * as Graph from "./Graph.ts"

const number = (value: Value): number => Number(value ?? 0)

describe("J: gates and idle", () => {
  const live = { pace: "demand" } as const

  it.effect("J1 an effect with a debounce runs once after the last change, by one wake", () =>
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

  it("J3 a debounce given with the node delays it, and a cleared one does not", () => {
    const log = new Graph.Log()
    const scheduler = new SpaceScheduler()
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

  it.effect("J4 a node withdrawn while it waits never runs, and delays no other", () =>
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

  it.effect("J6 an effect of 50 ms or more on average over three runs gets a debounce of 100 ms, also in a replay; others do not", () =>
    Fx.gen(function*() {
      let spent = 0
      const slow = Layer.effect(
        Pacemaker,
        Fx.map(Pacemaker, (real) => ({ ...real, now: () => real.now() + spent }))
      ).pipe(Layer.provide(TestPacemaker.layer))
      yield* Fx.gen(function*() {
        const log = new Graph.Log()
        const takes = (millis: number) => (tx: Transaction) => {
          spent += millis
          return tx.get("/data/x") ?? null
        }
        const space = yield* Graph.open(
          log.effect("slow", takes(60)),
          log.effect("fast", takes(30)),
          log.effect("willing", takes(60), { noDebounce: true }),
          log.computation("derived", "/data/derived", takes(60)),
          log.effect("watch", (tx) => tx.get("/data/derived"), { noDebounce: true })
        )
        const all = { slow: 1, fast: 1, willing: 1, derived: 1, watch: 1 }
        for (const x of [1, 2, 3]) {
          yield* Graph.put(space, ["/data/x", x])
          assert.deepStrictEqual(log.take(), all, `run ${x}`)
        }
        const { slow: _, ...rest } = all
        for (const x of [4, 5]) {
          yield* Graph.put(space, ["/data/x", x])
          assert.deepStrictEqual(log.take(), rest, `run ${x}`)
        }
        yield* TestClock.adjust(100)
        yield* space.step
        assert.deepStrictEqual(log.take(), { slow: 1 })
        assert.strictEqual(log.seen["slow"], 5)
        const head = yield* space.head
        for (let from = 0; from <= head; from++) {
          assert.isUndefined((yield* space.examine((archive) => replay(archive, from, head))).difference)
        }
      }).pipe(Fx.provide(TestKernel.layer({}, undefined, { pacemaker: slow })))
    }))

  it("J6 two slow runs cause no debounce, and a third one does, in another process as well", () => {
    const effect = Reaction.make({ name: "slow", read: (tx) => tx.get("/x"), deliver: () => {} })
    const begin = () => {
      const scheduler = new SpaceScheduler()
      scheduler.set("/x", 1)
      return scheduler
    }
    const first = begin()
    const node = first.register(effect)
    first.settle(1)
    first.gates.measure(node, { runs: 2, spent: 200 })
    assert.strictEqual(present(node.gate).debounce, 0)
    const second = begin()
    const same = second.resume(effect, first.observation("slow"))
    second.gates.measure(same, { runs: 1, spent: 0 })
    assert.strictEqual(present(same.gate).debounce, 100)
    const third = begin()
    assert.strictEqual(present(third.resume(effect, second.observation("slow")).gate).debounce, 100)
  })

  it("J8 a shorter debounce moves the wake earlier, and a longer one does not delay it", () => {
    const scheduler = new SpaceScheduler()
    const node = scheduler.register(Reaction.make({ name: "late", read: (tx) => tx.get("/x"), deliver: () => {}, debounce: 100 }))
    scheduler.settle(0)
    assert.strictEqual(scheduler.nextDue, 100)
    scheduler.gates.set(node, { debounce: 40 })
    assert.strictEqual(scheduler.nextDue, 40)
    scheduler.gates.set(node, { debounce: 500 })
    assert.strictEqual(scheduler.nextDue, 40)
  })

  it("J9 if the first gate opens early, the wake is that of the next", () => {
    const scheduler = new SpaceScheduler()
    const [first] = [100, 300].map(
      (debounce) => scheduler.register(Reaction.make({ name: `late${debounce}`, read: () => null, deliver: () => {}, debounce }))
    )
    scheduler.settle(0)
    assert.strictEqual(scheduler.nextDue, 100)
    scheduler.registry.remove(present(first))
    assert.strictEqual(scheduler.nextDue, 300)
  })

  it("J11 a node without demand arms no wake", () => {
    const scheduler = new SpaceScheduler()
    scheduler.register(Computation.make({ name: "slow", output: "/slow", throttle: 100, run: (tx) => tx.get("/x") }))
    scheduler.register(Reaction.make({ name: "watch", read: (tx) => tx.get("/slow"), deliver: () => {} }))
    scheduler.settle(0)
    scheduler.set("/x", 1)
    scheduler.settle(1)
    assert.strictEqual(scheduler.nextDue, 100)
    scheduler.remove("watch")
    assert.isUndefined(scheduler.nextDue)
  })

  it.effect("J5 a closing space cancels its wake", () =>
    Fx.gen(function*() {
      const armed = new Set<number>()
      const pacemaker = Layer.effect(Pacemaker, Fx.map(Pacemaker, (real) => ({
        ...real,
        wake: (at: number, run: () => void) => {
          armed.add(at)
          const off = real.wake(at, run)
          return () => {
            armed.delete(at)
            off()
          }
        }
      }))).pipe(Layer.provide(TestPacemaker.layer))
      const log = new Graph.Log()
      const scope = yield* Scope.make()
      const kernel = yield* Layer.build(TestKernel.layer(live, undefined, { pacemaker })).pipe(Scope.provide(scope))
      yield* Fx.provideContext(Graph.open(log.effect("late", (tx) => tx.get("/data/x"), { debounce: 100 })), kernel)
      yield* turns()
      assert.deepStrictEqual([...armed], [100])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual([...armed], [])
      yield* TestClock.adjust(200)
      yield* turns()
      assert.deepStrictEqual(log.take(), {})
    }))

  it.effect("J12 an event due between two readings of the clock is not lost, and idle waits for it", () =>
    Fx.gen(function*() {
      let readings = 0
      const restless = Layer.effect(
        Pacemaker,
        Fx.map(Pacemaker, (real) => ({ ...real, now: () => real.now() + readings++ }))
      ).pipe(Layer.provide(TestPacemaker.layer))
      yield* Fx.gen(function*() {
        const log = new Graph.Log()
        const seen: Array<Value> = []
        const slow = log.computation("slow", { output: "/data/slow", throttle: 7 }, (tx) => tx.get("/data/x"))
        yield* Graph.register(slow)
        const space = yield* TestKernel.space([enzyme("look", (tx, { payload }) => {
          tx.set("/data/x", payload)
          seen.push([payload as Value, tx.get("/data/slow") ?? null])
        })])
        for (const n of [1, 2, 3, 4]) {
          yield* space.signal({ signal: "/signals/look", payload: n })
          const idle = yield* Fx.forkChild(space.idle, { startImmediately: true })
          for (let i = 0; i < 20 && idle.pollUnsafe() === undefined; i++) {
            yield* TestClock.adjust(1)
            yield* turns(4)
          }
          yield* Fiber.join(idle)
          assert.isTrue(seen.some(([payload, slow]: any) => payload === n && slow === (n === 1 ? null : n - 1)))
        }
      }).pipe(Fx.provide(TestKernel.layer(live, undefined, { pacemaker: restless })))
    }))

  it.effect("J13 idle fails when its space closes: at once, or after the current run", () =>
    Fx.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const began = yield* Deferred.make<void>()
      const scope = yield* Scope.make()
      const kernel = yield* Layer.build(TestKernel.layer(live)).pipe(Scope.provide(scope))
      const space = yield* Fx.provideContext(TestKernel.space([enzyme("wait", () => {
        Deferred.doneUnsafe(began, Exit.void)
        return Fx.runPromise(Deferred.await(gate))
      })]), kernel)
      yield* space.signal({ signal: "/signals/wait", payload: 1 }).pipe(Fx.forkChild({ startImmediately: true }))
      yield* Deferred.await(began)
      const parked = yield* Fx.forkChild(Fx.result(space.idle), { startImmediately: true })
      yield* turns()
      yield* Scope.close(scope, Exit.void)
      yield* turns()
      assert.isUndefined(parked.pollUnsafe())
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual((yield* Fiber.join(parked))._tag, "Failure")
      assert.strictEqual((yield* Fx.result(space.idle))._tag, "Failure")
    }))

  it.effect("idle waits for effects and materializers that a gate delays, and not for computations", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(
        log.computation("again", { output: "/data/again", throttle: 1000 }, (tx) => tx.get("/data/x")),
        log.effect("watch", (tx) => tx.get("/data/again")),
        log.effect("late", (tx) => tx.get("/data/x"), { debounce: 100 })
      )
      const quiet = () => Fx.gen(function*() {
        const idle = yield* Fx.forkChild(space.idle, { startImmediately: true })
        yield* turns()
        return idle
      })
      const first = yield* quiet()
      assert.isUndefined(first.pollUnsafe())
      yield* TestClock.adjust(100)
      yield* Fiber.join(first)
      assert.deepStrictEqual(log.take(), { again: 1, watch: 1, late: 1 })
      yield* space.set("/data/x", 1)
      const second = yield* quiet()
      assert.isUndefined(second.pollUnsafe())
      yield* TestClock.adjust(100)
      yield* Fiber.join(second)
      assert.deepStrictEqual(log.take(), { late: 1 })
    }).pipe(Fx.provide(TestKernel.layer(live))))

  /** Waits for idle, in steps of the clock. Returns the elapsed time. */
  const quietAfter = Fx.fn("quietAfter")(function*(space: Space) {
    const idle = yield* Fx.forkChild(space.idle, { startImmediately: true })
    yield* turns()
    let waited = 0
    for (; idle.pollUnsafe() === undefined && waited < 5000; waited += 50) {
      yield* TestClock.adjust(50)
      yield* turns(4)
    }
    return waited
  })

  it.effect("H13 idle waits for a divergent ring in its first passes, even if another was suspended before", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const endless = (name: string) => {
        const ring = (here: string, there: string) => log.computation(`${name}-${here}`, `/data/${name}/${here}`, (tx) =>
          tx.get(`/data/${name}/on`) === true ? number(tx.get(`/data/${name}/${there}`)) + 1 : 0)
        return [ring("a", "b"), ring("b", "a"), log.effect(name, (tx) => tx.get(`/data/${name}/a`))]
      }
      const space = yield* Graph.open(...endless("one"), ...endless("two"))
      yield* space.idle
      log.take()
      yield* space.set("/data/one/on", true)
      assert.strictEqual(yield* quietAfter(space), 750)
      assert.isAtMost(present(log.take()["one-a"]), 30)
      yield* space.set("/data/two/on", true)
      assert.strictEqual(yield* quietAfter(space), 750)
    }).pipe(Fx.provide(TestKernel.layer(live))))

  it.effect("H14 idle waits as long again for a suspended ring that converged and diverges anew", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const ring = (here: string, there: string) =>
        log.computation(here, `/data/${here}`, (tx) => tx.get("/data/on") === true ? number(tx.get(`/data/${there}`)) + 1 : 0)
      const space = yield* Graph.open(ring("a", "b"), ring("b", "a"), log.effect("watch", (tx) => tx.get("/data/a")))
      for (let wave = 0; wave < 2; wave++) {
        yield* space.set("/data/on", true)
        assert.strictEqual(yield* quietAfter(space), 750)
        yield* space.set("/data/on", false)
        yield* TestClock.adjust(5000)
        yield* turns()
        yield* space.idle
      }
    }).pipe(Fx.provide(TestKernel.layer(live))))

  it.effect("J14 idle waits for a running delivery, successful or failed", () =>
    Fx.gen(function*() {
      for (const ends of ["well", "badly"]) {
        const gate = yield* Deferred.make<void, Error>()
        const space = yield* Graph.open(Reaction.make({
          name: `slow-${ends}`,
          read: (tx) => tx.get(`/data/${ends}`),
          deliver: () => Fx.runPromise(Deferred.await(gate))
        }))
        yield* space.handled({ signal: "/signals/put", payload: [[`/data/${ends}`, 1]] })
        const idle = yield* Fx.forkChild(space.idle, { startImmediately: true })
        yield* turns()
        assert.isUndefined(idle.pollUnsafe())
        yield* ends === "well" ? Deferred.succeed(gate, undefined) : Deferred.fail(gate, new Error("it did not arrive"))
        yield* Fiber.join(idle)
      }
    }).pipe(Fx.provide(TestKernel.layer(live))))
})
