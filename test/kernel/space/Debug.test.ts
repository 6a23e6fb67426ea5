import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Computation, Kernel, Reaction, Scheduler } from "systole"
import { defaults } from "../../../src/kernel/model/Limits.ts"
import { CurrentRunWatch, type Stop } from "../../../src/kernel/watchdog/RunWatch.ts"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme, turns } from "../TestSpace.ts"

const LIMIT = defaults.commandMillis

const put = enzyme("put", (tx, { payload }) => tx.set("/data/one", payload))

/** A space of two nodes, one of which reads the other, and the recorded breakpoints. */
const watched = (pace: "manual" | "demand") => {
  const stops: Array<Stop & { readonly seen: unknown }> = []
  let seen: unknown
  const make = Fx.gen(function*() {
    const kernel = yield* Kernel
    yield* kernel.register(
      Computation.make({ name: "double", output: "/data/double", run: (tx) => (seen = "double ran", Number(tx.get("/data/one") ?? 0) * 2) })
    )
    yield* kernel.register(Reaction.make({ name: "show", read: (tx) => tx.get("/data/double"), deliver: () => {} }))
    return yield* TestKernel.space([put])
  })
  const watch = Layer.succeed(CurrentRunWatch, { stop: (at) => void stops.push({ ...at, seen }), placeOf: () => undefined })
  return {
    make,
    stops,
    forget: () => void (seen = undefined),
    layer: TestKernel.layer({ pace }, undefined, { scheduler: Scheduler.layer() }).pipe(Layer.provide(watch))
  }
}

describe("A space that is stepped through", () => {
  it.effect("calls the debugger before each run of a node with a breakpoint, with its causes", () => {
    const { forget, layer, make, stops } = watched("manual")
    return Fx.gen(function*() {
      const space = yield* make
      yield* space.step
      yield* space.debug.breakAt(["double", "nobody"])
      forget()
      yield* space.signal({ signal: "/signals/put", payload: 3 })
      yield* space.step
      assert.deepStrictEqual(stops, [{ beat: 1, node: "double", causes: ["/data/one"], seen: undefined }])
      assert.deepStrictEqual(yield* space.debug.view, { beat: 1, breakpoints: ["double", "nobody"], held: true })
      yield* space.debug.breakAt([])
      yield* space.signal({ signal: "/signals/put", payload: 4 })
      yield* space.step
      assert.lengthOf(stops, 1)
      assert.strictEqual(yield* space.get("/data/double"), 8)
    }).pipe(Fx.provide(layer))
  })

  it.effect("withdraws a command that a hold keeps from its beat, and tells the hold", () => {
    const { layer, make } = watched("demand")
    return Fx.gen(function*() {
      const space = yield* make
      yield* space.idle
      const { beat } = yield* space.debug.view
      yield* space.control.hold
      const fork = (value: number) => Fx.forkChild(Fx.result(space.set("/data/one", value)), { startImmediately: true })
      const late = yield* fork(1)
      yield* TestClock.adjust(LIMIT - 1)
      yield* turns()
      assert.isUndefined(late.pollUnsafe())
      yield* TestClock.adjust(1)
      const refused = yield* Fx.flip(Fx.flatMap(Fiber.join(late), Fx.fromResult))
      assert.strictEqual(refused.code, "space/held")
      assert.match(refused.message, /Space "test" is held.*changed nothing\. Release the space/)
      const stepped = yield* fork(2)
      assert.strictEqual(yield* space.step, beat + 1)
      assert.strictEqual(yield* Fx.flatMap(Fiber.join(stepped), Fx.fromResult), beat + 1)
      assert.strictEqual(yield* space.get("/data/one"), 2)
      const released = yield* fork(3)
      yield* TestClock.adjust(LIMIT - 1)
      yield* space.control.release
      assert.strictEqual(yield* Fx.flatMap(Fiber.join(released), Fx.fromResult), beat + 2)
      yield* TestClock.adjust(LIMIT)
      assert.strictEqual(yield* space.get("/data/one"), 3)
    }).pipe(Fx.provide(layer))
  })

  it.effect("accepts input while held, runs one beat for each step, and continues when released", () => {
    const { layer, make } = watched("demand")
    return Fx.gen(function*() {
      const space = yield* make
      yield* space.idle
      const { beat } = yield* space.debug.view
      assert.deepInclude(yield* space.control.hold, { state: "running", held: true })
      const ids = yield* Fx.forEach([1, 2, 3], (payload) => Fx.map(space.signal({ signal: "/signals/put", payload }), ({ id }) => id))
      yield* turns()
      assert.deepInclude(yield* space.debug.view, { beat, held: true })
      assert.isUndefined(yield* space.receipt(ids[0]!).pipe(Fx.map((receipt) => receipt?.handlings[0])))
      // Events of one lane share no beat.
      for (let i = 1; i <= 2; i++) {
        assert.strictEqual(yield* space.step, beat + i)
        yield* turns()
        assert.strictEqual(yield* space.get("/data/one"), i)
        assert.strictEqual(yield* space.get("/data/double"), i * 2)
      }
      assert.deepInclude(yield* space.control.release, { held: false })
      yield* space.idle
      assert.strictEqual(yield* space.get("/data/double"), 6)
      assert.deepInclude(yield* space.debug.view, { beat: beat + 3, held: false })
    }).pipe(Fx.provide(layer))
  })
})
