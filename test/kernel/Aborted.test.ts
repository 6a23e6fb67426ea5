import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import { TestClock } from "effect/testing"
import { Computation, Effect, Fatal, Retry, type Space, type Value } from "systole"
import * as TestKernel from "../support/TestKernel.ts"
import { enzyme, put, register, replays, steps, turns, write } from "./Kit.ts"

const number = (value: Value): number => Number(value ?? 0)

/** Reads a place, which is fatal. */
const die = enzyme("die", (tx, { payload }) => {
  tx.get(String(payload))
  return new Fatal({ reason: "out of order" })
}, { onFatal: "continue" })

const look = (seen: Array<Value>) => enzyme("look", (tx, { payload }) => void seen.push(tx.get(String(payload)) ?? null))

/** A beat that reads a place and is aborted, and the one that buries its run. */
const aborted = (space: Space, address: string) => Fx.gen(function*() {
  yield* space.signal({ signal: "/signals/die", payload: address })
  yield* Fx.flip(space.step)
  yield* space.step
})

const names = (space: Space) => Fx.map(space.graph.view, ({ nodes }) => nodes.map(({ name }) => name))

describe("A beat that is aborted", () => {
  it.effect("starts no nodes: an effect that a run of it started is gone and tells nothing", () =>
    Fx.gen(function*() {
      const told: Array<Value> = []
      const ghost = Effect.make({ name: "ghost", read: (tx) => tx.get("/data/y") ?? 0, deliver: (value) => void told.push(value) })
      yield* register(Computation.make({ name: "p", output: "/data/p", run: (tx) => {
        if (number(tx.get("/data/x")) === 2) tx.start(ghost)
        return 1
      } }))
      const space = yield* TestKernel.space([put, die])
      yield* write(space, ["/data/x", 2])
      yield* aborted(space, "/data/p")
      yield* steps(space, 3)
      yield* turns()
      assert.isEmpty(told)
      assert.deepStrictEqual(yield* names(space), ["p"])
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("ends no nodes: what its run started no more is there, and goes on", () =>
    Fx.gen(function*() {
      const kid = Computation.make({ name: "kid", output: "/data/kid", run: (tx) => number(tx.get("/data/y")) + 1 })
      yield* register(
        Computation.make({ name: "p", output: "/data/p", run: (tx) => {
          if (number(tx.get("/data/x")) === 1) tx.start(kid)
          return 1
        } }),
        Effect.make({ name: "e", read: (tx) => tx.get("/data/kid"), deliver: () => {} })
      )
      const space = yield* TestKernel.space([put, die, look([])])
      yield* write(space, ["/data/x", 1])
      yield* space.signal({ signal: "/signals/look", payload: "/data/p" })
      yield* space.step
      yield* write(space, ["/data/x", 2])
      yield* aborted(space, "/data/p")
      yield* write(space, ["/data/y", 5])
      assert.strictEqual(yield* space.get("/data/kid"), 6)
      yield* space.signal({ signal: "/signals/look", payload: "/data/p" })
      yield* space.step
      assert.notInclude(yield* names(space), "kid")
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("closes no gate: a handler that reads next waits for no throttle and no attempt of it", () =>
    Fx.gen(function*() {
      const seen: Array<Value> = []
      let isShy = true
      yield* register(
        Computation.make({ name: "slow", output: "/data/slow", throttle: 5000, run: (tx) => number(tx.get("/data/x")) }),
        Computation.make({ name: "shy", output: "/data/shy", run: (tx) => {
          if (isShy) throw new Retry({ reason: "not yet" })
          return number(tx.get("/data/x"))
        } })
      )
      const space = yield* TestKernel.space([put, die, look(seen)])
      yield* write(space, ["/data/x", 1])
      for (const address of ["/data/slow", "/data/shy"]) {
        yield* space.signal({ signal: "/signals/die", payload: address })
        yield* Fx.flip(space.step)
        isShy = false
        yield* space.signal({ signal: "/signals/look", payload: address })
        yield* space.step
      }
      assert.deepStrictEqual(seen, [1, 1])
      yield* TestClock.adjust(5000)
      yield* steps(space, 2)
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))
})
