import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx, Layer } from "effect"
import type { Told, Transaction } from "systole"
import { Computation, CurrentReporter, Enzyme, Reaction, Reporter, Slices } from "systole"
import { Kernel, MemoryStore, Pacemaker, Persistence, Reactor, Registry, Scheduler } from "systole"
import { TestPacemaker } from "systole/testing"
import * as PureHash from "../../src/main/host/PureHash.ts"
import * as Runtime from "../../src/main/composition/Runtime.ts"

const services: Runtime.Services = {
  kernel: Kernel.layer(Slices.all),
  registry: Registry.layer,
  scheduler: Scheduler.layer(),
  reactor: Reactor.none,
  persistence: MemoryStore.layer,
  pacemaker: TestPacemaker.layer
}

const enzyme = (name: string) => Enzyme.make({ name, query: "/signals/count", run: (tx) => tx.increment(`/data/${name}`) })

/** A node that reads the output of the other one: the two never come to rest. */
const turns = (name: string, other: string) =>
  Computation.make({ name, output: `/data/${name}`, run: (tx: Transaction) => Number(tx.get(`/data/${other}`) ?? 0) + 1 })

/** A node whose second run differs. */
const draws = () => {
  let drawn = 0
  return Computation.make({ name: "draws", output: "/data/drawn", run: () => drawn++ })
}

/** One signal in a runtime with other layers in the places of some. */
const handled = (changed: Partial<Runtime.Services> = {}) => {
  const facts: Array<Told> = []
  const reporter = Layer.succeed(CurrentReporter, new Reporter((told) => void facts.push(told)))
  return Fx.gen(function*() {
    const kernel = yield* Kernel
    const show = Reaction.make({ name: "show", read: (tx) => [tx.get("/data/drawn"), tx.get("/data/left")], deliver: () => {} })
    for (const module of [enzyme("count"), draws(), turns("left", "right"), turns("right", "left"), show]) yield* kernel.register(module)
    const space = yield* kernel.space("layers", { create: true })
    const { handlings } = yield* space.handled({ signal: "/signals/count" })
    return {
      handled: handlings.map(({ enzyme }) => enzyme),
      ring: yield* space.get("/data/left"),
      clock: (yield* space.journal(0))?.clock,
      spaces: yield* kernel.spaces,
      isUnstable: facts.some(({ topic }) => topic === "node/unstable")
    }
  }).pipe(Fx.provide(Runtime.compose({ ...services, ...changed }).pipe(Layer.provide([PureHash.layer, reporter]))))
}

const usual = { handled: ["count"], ring: 20, clock: 0, spaces: ["layers"], isUnstable: false }

describe("The composition of a runtime", () => {
  it.effect("is Kernel over Registry, Scheduler, Persistence and Pacemaker", () =>
    Fx.gen(function*() {
      assert.deepStrictEqual(yield* handled(), usual)
    }))

  it.effect("takes a scheduler with other budgets, and one that checks", () =>
    Fx.gen(function*() {
      assert.deepStrictEqual(yield* handled({ scheduler: Scheduler.layer({ budgets: { passRuns: 2 } }) }), { ...usual, ring: 4 })
      assert.deepStrictEqual(yield* handled({ scheduler: Scheduler.layer({ check: true }) }), { ...usual, isUnstable: true })
    }))

  it.effect("takes another registry", () => {
    const registry = Layer.effect(Registry, Fx.map(Registry, (enzymes) => {
      enzymes.register(enzyme("also"))
      return enzymes
    })).pipe(Layer.provide(Registry.layer))
    return Fx.gen(function*() {
      assert.deepStrictEqual(yield* handled({ registry }), { ...usual, handled: ["also", "count"] })
    })
  })

  it.effect("takes another persistence", () => {
    const elsewhere = Layer.effect(Persistence, Fx.map(Persistence, (memory) => ({ ...memory, spaces: Fx.succeed(["elsewhere"]) })))
    const persistence = Layer.provide(elsewhere, MemoryStore.layer)
    return Fx.gen(function*() {
      assert.deepStrictEqual(yield* handled({ persistence }), { ...usual, spaces: ["elsewhere"] })
    })
  })

  it.effect("takes another pacemaker", () => {
    const pacemaker = Layer.effect(Pacemaker, Fx.map(Pacemaker, (test) => ({ ...test, now: () => 5000 })))
    return Fx.gen(function*() {
      assert.deepStrictEqual(yield* handled({ pacemaker: Layer.provide(pacemaker, TestPacemaker.layer) }), { ...usual, clock: 5000 })
    })
  })

  it.effect("takes another kernel", () => {
    const kernel = Layer.effect(Kernel, Fx.map(Kernel, (real) => ({ ...real, spaces: Fx.succeed(["hidden"]) })))
    return Fx.gen(function*() {
      const replaced = Layer.provide(kernel, Kernel.layer(Slices.all))
      assert.deepStrictEqual(yield* handled({ kernel: replaced }), { ...usual, spaces: ["hidden"] })
    })
  })
})
