import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect as Fx, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Space, Value } from "systole"
import { Computation, Link, Retry } from "systole"
import { replays, turns } from "../kernel/TestSpace.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as Graph from "./Graph.ts"

const number = (value: Value): number => Number(value ?? 0)

describe("J: pulls of delayed nodes", () => {
  const live = { pace: "demand" } as const

  /** A space with a node that waits a second after each of its runs, and one that reads it. */
  const slow = Fx.gen(function*() {
    const log = new Graph.Log()
    const space = yield* Graph.open(
      log.computation("slow", { output: "/data/slow", throttle: 1000 }, (tx) => number(tx.get("/data/x"))),
      log.computation("above", "/data/above", (tx) => number(tx.get("/data/slow")) * 10)
    )
    yield* space.set("/data/x", 1)
    assert.strictEqual(yield* space.pull("/data/above"), 10)
    yield* space.set("/data/x", 2)
    return space
  })

  const pulled = (space: Space, address: string, options?: { readonly wait?: number }) =>
    Fx.forkChild(Fx.result(space.pull(address, options)), { startImmediately: true })

  it.effect("J16 a pull waits for a gated node, and is answered by the beat that settles it", () =>
    Fx.gen(function*() {
      const space = yield* slow
      const pulls = [yield* pulled(space, "/data/slow"), yield* pulled(space, "/data/above")]
      yield* turns()
      yield* TestClock.adjust(999)
      yield* turns()
      for (const pull of pulls) assert.isUndefined(pull.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* turns()
      assert.deepStrictEqual((yield* Fiber.joinAll(pulls)).map((answer) => answer._tag === "Success" && answer.success), [2, 20])
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer(live))))

  it.effect("J16 a pull beyond its wait is answered with the time of the next try, and never with the old value", () =>
    Fx.gen(function*() {
      const space = yield* slow
      const opens = (yield* Clock.currentTimeMillis) + 1000
      const short = yield* pulled(space, "/data/above", { wait: 300 })
      yield* turns()
      yield* TestClock.adjust(300)
      yield* turns()
      const answer = yield* Fiber.join(short)
      assert.strictEqual(answer._tag === "Failure" && answer.failure.code, "cell/held")
      assert.deepInclude(answer._tag === "Failure" ? { ...answer.failure } : {}, { address: "/data/above", at: opens, after: 700 })
      yield* TestClock.adjust(700)
      yield* turns()
      const again = yield* pulled(space, "/data/above", { wait: 1 })
      yield* turns()
      assert.strictEqual((yield* Fiber.join(again).pipe(Fx.map((answer) => answer._tag === "Success" && answer.success))), 20)
    }).pipe(Fx.provide(TestKernel.layer(live))))

  it.effect("J16 a pull waits for retried nodes and divergent rings, ten seconds at most", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const ring = (here: string, there: string) => log.computation(here, `/data/${here}`, (tx) => number(tx.get(`/data/${there}`)) + 1)
      const space = yield* Graph.open(
        ring("a", "b"),
        ring("b", "a"),
        Computation.make({ name: "later", output: "/data/later", run: (tx) => {
          if (tx.now < 400) throw new Retry({ reason: "not yet" })
          return tx.now
        } })
      )
      const [later, endless] = [yield* pulled(space, "/data/later"), yield* pulled(space, "/data/a")]
      yield* turns()
      for (let i = 0; i < 99; i++) {
        yield* TestClock.adjust(100)
        yield* turns(3)
      }
      assert.isUndefined(endless.pollUnsafe())
      const answer = yield* Fiber.join(later)
      assert.strictEqual(answer._tag === "Success" && answer.success, 750)
      yield* TestClock.adjust(100)
      yield* turns()
      const held = yield* Fiber.join(endless)
      assert.strictEqual(held._tag === "Failure" && held.failure.code, "cell/held")
    }).pipe(Fx.provide(TestKernel.layer(live))))

  it.effect("J16 a pull follows links to derived cells", () =>
    Fx.gen(function*() {
      const space = yield* slow
      yield* space.set("/data/link", Link.make("/data/above"))
      const pull = yield* pulled(space, "/data/link")
      yield* TestClock.adjust(1000)
      yield* turns()
      const answer = yield* Fiber.join(pull)
      assert.strictEqual(answer._tag === "Success" && answer.success, 20)
    }).pipe(Fx.provide(TestKernel.layer(live))))
})
