import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { NodeDefinition, Space, Value } from "systole"
import { Computation, Fatal, Reaction } from "systole"
import rvInit from "../../../enzymes/rv_init.ts"
import { granted } from "../../rendezvous/RendezvousSpace.ts"
import { begun, controlled, enzyme, glimpsed, put, replays, steps, turns } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const number = (value: Value): number => Number(value ?? 0)

/** A cell, ten times. */
const tenfold = Computation.make({ name: "out", output: "/data/out", run: (tx) => number(tx.get("/data/x")) * 10 })

/** The same node with other code. */
const version = (factor: number) => ({
  module: Computation.make({ ...tenfold, output: "/data/out", run: (tx) => number(tx.get("/data/x")) * factor }),
  hash: `version-${factor}`
})

const set = (space: Space, address: string, value: unknown) => controlled(space, space.set(address, value))

/** The answer of the next beat to a pull. */
const pulled = (space: Space, address: string) =>
  Fx.map(glimpsed(space, space.pull(address)), (answer) => answer?._tag === "Success" ? answer.success : undefined)

/** A way in which a change comes from outside. */
interface Way {
  readonly name: string
  /** The computation shows this. */
  readonly look: Computation.ComputationDefinition["run"]
  readonly prepare?: (space: Space) => Fx.Effect<unknown, unknown>
  readonly change: (space: Space, oid: string) => Fx.Effect<unknown, unknown>
}

const place = (address: string): Way["look"] => (tx) => tx.get(address) ?? null

const operation: Way["look"] = (tx) => tx.list("/rt/ops").map((oid) => {
  const { state, status } = tx.get(`/rt/ops/${oid}`) as { readonly state?: Value; readonly status?: Value }
  return [state ?? null, status ?? null]
})

const start = (space: Space) => space.ops.start({ verb: "op/act", target: "/data/x", mode: "opm:states" })

const ways: ReadonlyArray<Way> = [
  { name: "a cell is set", look: place("/data/x"), change: (space) => space.set("/data/x", 3) },
  { name: "a part of a cell is set", look: place("/data/x#/a"), change: (space) => space.set("/data/x#/a", 3) },
  { name: "a cell is made", look: (tx) => tx.list("/data/made").length, change: (space) => space.set("/data/made/one", 3) },
  { name: "a cell is set by a group", look: place("/data/x"), change: (space) => space.set("/data/x", 3, { group: "far" }) },
  {
    name: "changes of another writer are integrated",
    look: place("/data/x"),
    change: (space) => space.integrate({ kind: "integrate", group: "far", changes: [{ address: "/data/x", value: 3 }] })
  },
  { name: "an operation starts", look: operation, change: start },
  {
    name: "an operation gets a state",
    look: operation,
    prepare: start,
    change: (space, oid) => space.ops.state(oid, { state: "ist:half" })
  },
  {
    name: "an operation closes",
    look: operation,
    prepare: start,
    change: (space, oid) => space.ops.close(oid, { status: "sts:ok", summary: 3 })
  },
  {
    name: "a rendezvous is spawned",
    look: place("/data/rv/job#/state"),
    change: (space) => space.rv.spawn({ key: "job" })
  },
  {
    name: "a rendezvous is reported",
    look: place("/data/rv/job"),
    prepare: (space) => space.rv.spawn({ key: "job" }),
    change: (space) => space.rv.report("job", { telemetry: { n: 3 } })
  },
  { name: "an enzyme is bound", look: (tx) => tx.list("/sys/bind/data").length, change: (space) => space.bind("/data/x", "put") },
  {
    name: "a piece starts",
    look: (tx) => tx.list("/sys/pieces").length,
    change: (space) => space.start("line", { cart: "a" })
  },
  {
    name: "an event is handled",
    look: place("/data/x"),
    change: (space) => space.signal({ signal: "/signals/put", payload: [["/data/x", 3]] })
  }
]

const line = Computation.make({ name: "line", inputs: ["cart"], output: "/data/lines/:cart", run: (_, { cart }) => `${cart}` })

/** The values pulled before the change and after it. The change comes in the first beat after an opening. */
const told = (way: Way, isReopened: boolean) => Fx.scoped(Fx.gen(function*() {
  const machine = yield* TestMachine.make
  const boot = machine.boot([put, rvInit, line, Computation.make({ name: "out", output: "/data/out", run: way.look })])
  let space = yield* boot
  yield* space.signal({ signal: "/CEP:sig_sys/init" })
  yield* steps(space, 2)
  if (way.prepare !== undefined) yield* begun(space, way.prepare(space))
  const before = yield* pulled(space, "/data/out")
  if (isReopened) space = yield* boot
  const [oid = ""] = yield* space.list("/rt/ops")
  yield* begun(space, way.change(space, oid))
  if (isReopened) space = yield* boot
  const after = yield* pulled(space, "/data/out")
  yield* replays(space)
  return [before, after]
})).pipe(granted)

describe("The first beat after an opening", () => {
  for (const way of ways) {
    it.effect(`is not forgotten by the derived cells at the next opening: ${way.name}`, () =>
      Fx.gen(function*() {
        const [before, after] = yield* told(way, true)
        assert.notDeepEqual(after, before)
        assert.deepStrictEqual([before, after], yield* told(way, false))
      }))
  }

  it.effect("is not forgotten by a throttled effect, which delivers when its gate opens", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const seen: Array<Value> = []
      const deliver = (value: Value): void => void seen.push(value)
      const boot = machine.boot([Reaction.make({ name: "show", throttle: 1000, read: (tx) => tx.get("/data/x"), deliver })])
      yield* set(yield* boot, "/data/x", 1)
      yield* TestClock.adjust(10)
      yield* set(yield* boot, "/data/x", 3)
      const space = yield* boot
      yield* TestClock.adjust(1000)
      yield* space.step
      yield* turns()
      assert.deepStrictEqual(seen, [1, 3])
    }).pipe(Fx.scoped))

  it.effect("does not delay the first run of a debounced effect anew", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const seen: Array<Value> = []
      const deliver = (value: Value): void => void seen.push(value)
      const show = Reaction.make({ name: "show", debounce: 1000, read: (tx) => tx.get("/data/x"), deliver })
      const starter = Reaction.make({ name: "starter", read: (tx) => tx.start({ ...show, name: "started" }), deliver: () => {} })
      for (let x = 1; x <= 5; x++) {
        yield* set(yield* machine.boot([show, starter]), "/data/x", x)
        yield* TestClock.adjust(300)
      }
      assert.deepStrictEqual(seen, [5, 5])
    }).pipe(Fx.scoped))

  it.effect("is not forgotten if a fatal run aborted it, and the next beat took the same input; in a space that stays open, too", () =>
    Fx.forEach([true, false], (isReopened) =>
      Fx.gen(function*() {
        const machine = yield* TestMachine.make
        const fatal = enzyme("fatal", () => new Fatal({ reason: "as asked" }), { onFatal: "continue" })
        const boot = machine.boot([fatal, tenfold])
        let space = yield* boot
        yield* set(space, "/data/x", 1)
        assert.strictEqual(yield* pulled(space, "/data/out"), 10)
        if (isReopened) space = yield* boot
        yield* space.signal({ signal: "/signals/fatal" })
        yield* Fx.forkChild(space.set("/data/x", 3), { startImmediately: true })
        assert.strictEqual((yield* Fx.flip(space.step)).code, "beat/aborted")
        yield* space.step
        space = yield* boot
        assert.strictEqual(yield* space.get("/data/x"), 3)
        assert.strictEqual(yield* pulled(space, "/data/out"), 30)
      }).pipe(Fx.scoped), { discard: true }))
})

/** The derived cell under `first`, which derived it before, after a story under `other`. */
const backAgain = (
  modules: { readonly first: TestMachine.Versioned | NodeDefinition; readonly other: ReadonlyArray<TestMachine.Versioned> },
  story: (space: Space) => Fx.Effect<unknown, unknown>
) => Fx.scoped(Fx.gen(function*() {
  const machine = yield* TestMachine.make
  const space = yield* machine.boot([modules.first])
  yield* set(space, "/data/x", 1)
  yield* pulled(space, "/data/out")
  yield* story(yield* machine.boot(modules.other))
  return yield* pulled(yield* machine.boot([modules.first]), "/data/out")
}))

describe("A derived cell whose code changes and returns", () => {
  it.effect("has heard of the changes meanwhile", () =>
    Fx.gen(function*() {
      const found = yield* backAgain({ first: version(10), other: [version(20)] }, (space) =>
        Fx.andThen(space.step, set(space, "/data/x", 3)))
      assert.strictEqual(found, 30)
    }))

  it.effect("has heard of the changes meanwhile, if it was swapped in an open space", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([version(10)])
      yield* set(space, "/data/x", 1)
      assert.strictEqual(yield* pulled(space, "/data/out"), 10)
      yield* machine.unregister(version(10).module)
      yield* machine.register(version(20))
      yield* space.step
      yield* set(space, "/data/x", 3)
      assert.strictEqual(yield* pulled(yield* machine.boot([version(10)]), "/data/out"), 30)
    }).pipe(Fx.scoped))

  it.effect("is derived again if the other code wrote it", () =>
    Fx.gen(function*() {
      const found = yield* backAgain({ first: version(10), other: [version(20)] }, (space) => pulled(space, "/data/out"))
      assert.strictEqual(found, 10)
    }))

  it.effect("is derived again if another node or a command wrote it in its absence", () =>
    Fx.gen(function*() {
      const other = Computation.make({ name: "other", output: "/data/out", run: (tx) => number(tx.get("/data/x")) * 7 })
      const first = version(10)
      assert.strictEqual(yield* backAgain({ first, other: [{ module: other, hash: "other" }] }, (space) => pulled(space, "/data/out")), 10)
      assert.strictEqual(yield* backAgain({ first, other: [] }, (space) => set(space, "/data/out", 77)), 10)
    }))
})

/** An effect over the derived cell, in a space that runs beats by itself. */
const shown = (
  first: TestMachine.Versioned | NodeDefinition,
  then: TestMachine.Versioned | NodeDefinition,
  story: (space: Space) => Fx.Effect<unknown, unknown>
) => Fx.scoped(Fx.gen(function*() {
  const machine = yield* TestMachine.make
  const seen: Array<Value> = []
  const deliver = (value: Value): void => void seen.push(value)
  const show = Reaction.make({ name: "show", noDebounce: true, read: (tx) => tx.get("/data/out"), deliver })
  const settings = { pace: "demand" } as const
  const space = yield* machine.boot([first, show], settings)
  yield* space.set("/data/x", 1)
  yield* space.idle
  yield* story(space)
  yield* machine.boot([then, show], settings)
  yield* turns()
  yield* TestClock.adjust(2000)
  yield* turns()
  return seen.at(-1)
}))

describe("A space that opens", () => {
  it.effect("runs a demanded computation with other code, without further input", () =>
    Fx.gen(function*() {
      assert.strictEqual(yield* shown(version(10), version(20), () => Fx.void), 20)
    }))

  it.effect("runs a demanded computation when its gate opens, without further input", () =>
    Fx.gen(function*() {
      const slow = { ...tenfold, throttle: 1000 }
      assert.strictEqual(yield* shown(slow, slow, (space) => space.set("/data/x", 3)), 30)
    }))

  it.effect("runs a demanded piece with other code, without further input", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const total = (factor: number) => ({
        module: Computation.make({
          name: "total",
          inputs: ["cart"],
          output: "/data/totals/:cart",
          run: (tx, { cart }) => number(tx.get(`/data/carts/${cart}`)) * factor
        }),
        hash: `version-${factor}`
      })
      const show = Reaction.make({ name: "show", read: (tx) => tx.get("/data/totals/a"), deliver: () => {} })
      const settings = { pace: "demand" } as const
      const space = yield* machine.boot([total(10), show], settings)
      yield* space.set("/data/carts/a", 1)
      yield* space.start("total", { cart: "a" })
      yield* space.idle
      assert.strictEqual(yield* space.get("/data/totals/a"), 10)
      const other = yield* machine.boot([total(20), show], settings)
      yield* turns()
      assert.strictEqual(yield* other.get("/data/totals/a"), 20)
    }).pipe(Fx.scoped))

  it.effect("runs no beat for a demanded computation that the labels refuse", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const labels = { cells: { "/data/secret": ["secret"] }, declassify: {} }
      const out = Computation.make({ ...tenfold, output: "/data/out", run: (tx) => tx.get("/data/secret") })
      const show = Reaction.make({ name: "show", read: (tx) => tx.get("/data/out"), deliver: () => {} })
      const boot = machine.boot([out, show], { pace: "demand", labels })
      const space = yield* boot
      yield* space.set("/data/secret", 1)
      yield* space.idle
      const head = yield* space.head
      const other = yield* boot
      yield* turns()
      assert.strictEqual(yield* other.head, head)
    }).pipe(Fx.scoped))

  it.effect("runs no beat for a computation without demand", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const settings = { pace: "demand" } as const
      const space = yield* machine.boot([version(10)], settings)
      yield* space.set("/data/x", 1)
      yield* space.pull("/data/out")
      const head = yield* space.head
      const other = yield* machine.boot([version(20)], settings)
      yield* turns()
      assert.strictEqual(yield* other.head, head)
    }).pipe(Fx.scoped))

  /** The values of a subscription that begins before the first beat of an opening, in a space that runs beats by itself. */
  const watched = (
    address: string,
    modules: { readonly first: ReadonlyArray<NodeDefinition | TestMachine.Versioned>; readonly then: typeof modules.first },
    story: (space: Space) => Fx.Effect<unknown, unknown>
  ) => Fx.gen(function*() {
    const machine = yield* TestMachine.make
    const settings = { pace: "demand" } as const
    const space = yield* machine.boot([put, ...modules.first], settings)
    yield* story(space)
    yield* space.idle
    const other = yield* machine.boot([put, ...modules.then], settings)
    const seen: Array<Value> = []
    yield* Fx.forkChild(Stream.runForEach(other.watch(address), ({ value }) => Fx.sync(() => void seen.push(value))), {
      startImmediately: true
    })
    yield* turns()
    // Beats before a deployment need the former code.
    if (modules.first === modules.then) yield* replays(other)
    return { seen, beats: (yield* other.head) - (yield* space.head) }
  }).pipe(Fx.scoped)

  const total = Computation.make({ name: "total", output: "/data/total", run: (tx) => number(tx.get("/data/out")) + 1 })

  it.effect("runs a computation that never ran for its first subscriber, also above another one", () =>
    Fx.gen(function*() {
      for (const [address, value] of [["/data/out", 10], ["/data/total", 11]] as const) {
        const modules = [tenfold, total]
        const { seen } = yield* watched(address, { first: modules, then: modules }, (space) => space.set("/data/x", 1))
        assert.deepStrictEqual(seen, [undefined, value])
      }
    }))

  it.effect("runs a computation for a subscriber if it missed a change, or has other code", () =>
    Fx.gen(function*() {
      const set = (space: Space) => Fx.gen(function*() {
        yield* space.set("/data/x", 1)
        yield* space.pull("/data/total")
        yield* space.set("/data/x", 2)
      })
      const pulled = (space: Space) => Fx.andThen(space.set("/data/x", 1), space.pull("/data/total"))
      const [same, other] = [[tenfold, total], [version(20), total]]
      assert.deepStrictEqual((yield* watched("/data/total", { first: same, then: same }, set)).seen, [11, 21])
      assert.deepStrictEqual((yield* watched("/data/total", { first: [version(10), total], then: other }, pulled)).seen, [11, 21])
    }))

  it.effect("runs a piece for its first subscriber, and a child of a computation", () =>
    Fx.gen(function*() {
      const pieces = watched("/data/lines/a", { first: [line], then: [line] }, (space) => space.start("line", { cart: "a" }))
      assert.deepStrictEqual((yield* pieces).seen, [undefined, "a"])
      const child = Computation.make({ name: "child", output: "/data/child", run: (tx) => number(tx.get("/data/x")) + 1 })
      const parent = Computation.make({ name: "parent", output: "/data/parent", run: (tx) => void tx.start(child) })
      const children = watched("/data/child", { first: [parent], then: [parent] }, (space) => Fx.gen(function*() {
        yield* space.pull("/data/parent")
        yield* space.pull("/data/child")
        yield* space.set("/data/x", 1)
      }))
      assert.deepStrictEqual((yield* children).seen, [1, 2])
    }))

  it.effect("runs no beat for a subscriber of a settled or a stored cell, nor for one of another cell", () =>
    Fx.gen(function*() {
      const story = (space: Space) => Fx.andThen(space.set("/data/x", 1), space.pull("/data/out"))
      for (const address of ["/data/out", "/data/x", "/data/none"]) {
        const modules = [tenfold, total]
        const { beats, seen } = yield* watched(address, { first: modules, then: modules }, story)
        assert.deepStrictEqual([beats, seen.length], [0, 1], address)
      }
    }))

  it.effect("runs a computation that a module change brings for a subscriber that was there before", () =>
    Fx.gen(function*() {
      const machine = yield* TestMachine.make
      const space = yield* machine.boot([put], { pace: "demand" })
      yield* space.set("/data/x", 1)
      const other = yield* machine.boot([put], { pace: "demand" })
      const seen: Array<Value> = []
      yield* Fx.forkChild(Stream.runForEach(other.watch("/data/out"), ({ value }) => Fx.sync(() => void seen.push(value))), {
        startImmediately: true
      })
      yield* turns()
      yield* machine.register(tenfold)
      yield* turns()
      assert.deepStrictEqual(seen, [undefined, 10])
    }).pipe(Fx.scoped))
})
