import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import type { Transaction, Value } from "systole"
import { Computation, Kernel, Reaction, SpaceScheduler } from "systole"
import { enzyme } from "../kernel/TestSpace.ts"
import * as Random from "../support/Random.ts"
import * as TestKernel from "../support/TestKernel.ts"
import * as Trials from "../support/Trials.ts"
import { present } from "../support/Present.ts"

const number = (value: Value): number => Number(value ?? 0)
const viewOf = (scheduler: SpaceScheduler, name: string) => present(scheduler.snapshot().find((node) => node.name === name))

/** The number of live readers of each node, by the engine. */
const counts = (scheduler: SpaceScheduler) => Object.fromEntries(scheduler.snapshot().map(({ liveRefs, name }) => [name, liveRefs]))

/** The same, computed from the reads alone. */
const rebuilt = (scheduler: SpaceScheduler): Record<string, number> => {
  const nodes = [...scheduler.registry.values()].sort((a, b) => a.ordinal - b.ordinal)
  const reads = new Map(nodes.map((node) => {
    const keys: Array<string> = []
    for (let edge = node.reads; edge !== undefined; edge = edge.nextRead) keys.push(edge.location.key)
    return [node, keys] as const
  }))
  const readersOf = (writer: (typeof nodes)[number]) => nodes.flatMap((reader) =>
    reader === writer ? [] : present(reads.get(reader)).filter((key) => key === writer.output?.key).map(() => reader))
  const live = new Set(nodes.filter(({ definition: { _tag } }) => _tag !== "Computation"))
  for (let size = -1; size !== live.size;) {
    size = live.size
    for (const node of nodes) if (readersOf(node).some((reader) => live.has(reader))) live.add(node)
  }
  return Object.fromEntries(nodes.map((node) => [node.definition.name, readersOf(node).filter((reader) => live.has(reader)).length]))
}

describe("G: liveness", () => {
  it("G24 readers registered before the writer give it their demand, and so to its own writers", () => {
    const scheduler = new SpaceScheduler()
    scheduler.register(Reaction.make({ name: "watch", read: (tx) => tx.get("/b"), deliver: () => {} }))
    scheduler.settle()
    scheduler.register(Computation.make({ name: "a", output: "/a", run: () => 1 }))
    assert.strictEqual(viewOf(scheduler, "a").liveRefs, 0)
    scheduler.register(Computation.make({ name: "b", output: "/b", run: (tx) => tx.get("/a") }))
    assert.strictEqual(viewOf(scheduler, "b").liveRefs, 1)
    scheduler.settle()
    assert.deepStrictEqual(["a", "b"].map((name) => viewOf(scheduler, name).liveRefs), [1, 1])
    assert.strictEqual(viewOf(scheduler, "watch").runs, 2)
  })

  it("G25 after each change, the counts of live readers equal a full count", () => {
    for (const seed of Trials.seeds(300)) {
      const draw = Random.make(seed)
      const scheduler = new SpaceScheduler()
      const size = 3 + draw(8)
      /** Where each node reads now: the values of these cells, so that links move as data changes. */
      const place = (i: number) => `/p/${i}`
      const define = (i: number) => {
        const [name, parts] = [`n${i}`, 1 + draw(3)]
        const read = (tx: Transaction): Value => {
          let sum = 0
          for (let part = 0; part < parts; part++) sum += number(tx.get(`/c/${number(tx.get(place((i * 3 + part) % (size * 2))))}`))
          return sum % 3
        }
        const kind = draw(5)
        if (kind === 0) return Reaction.make({ name, read, deliver: () => {} })
        return Computation.make({ name, output: `/c/${i}`, run: read })
      }
      for (let i = 0; i < size * 2; i++) scheduler.set(place(i), draw(size))
      for (let round = 0; round < 25; round++) {
        const i = draw(size)
        const known = scheduler.registry.get(`n${i}`)
        if (draw(3) > 0) scheduler.set(place(draw(size * 2)), draw(size))
        else if (known === undefined) scheduler.register(define(i))
        else if (draw(2) === 0) scheduler.remove(`n${i}`)
        else if (known.definition._tag === "Computation") scheduler.register(Reaction.make({
          name: `n${i}`,
          read: (tx) => tx.get(`/c/${draw(size)}`) ?? null,
          deliver: () => {}
        }))
        assert.deepStrictEqual(counts(scheduler), rebuilt(scheduler), `seed ${seed}, before round ${round} settles`)
        scheduler.settle(round * 3000)
        assert.deepStrictEqual(counts(scheduler), rebuilt(scheduler), `seed ${seed}, round ${round}`)
      }
    }
  })

  it("G26 a name keeps its place when it comes back, and an effect does not become a computation", () => {
    const scheduler = new SpaceScheduler()
    const names = ["a", "b", "c"]
    for (const name of names) scheduler.register(Computation.make({ name, output: `/${name}`, run: () => 1 }))
    scheduler.remove("b")
    scheduler.register(Computation.make({ name: "d", output: "/d", run: () => 1 }))
    scheduler.register(Computation.make({ name: "b", output: "/b", run: () => 1 }))
    assert.deepStrictEqual(scheduler.snapshot().map(({ name }) => name), ["a", "b", "c", "d"])
    scheduler.register(Reaction.make({ name: "e", read: () => 1, deliver: () => {} }))
    assert.throws(() => scheduler.register(Computation.make({ name: "e", output: "/e", run: () => 1 })), /cannot become a Computation/)
  })

  it("G27 a node known before its parent still runs after it", () => {
    const scheduler = new SpaceScheduler()
    const order: Array<string> = []
    const child = Computation.make({ name: "child", output: "/child", run: (tx) => (order.push("child"), tx.get("/x")) })
    // Its position is the first one, from before any start.
    scheduler.register(child)
    scheduler.remove("child")
    scheduler.register(Reaction.make({ name: "watch", read: (tx) => tx.get("/child") ?? null, deliver: () => {} }))
    scheduler.register(Reaction.make({
      name: "parent",
      read: (tx) => {
        order.push("parent")
        if (tx.get("/x") !== 3) tx.start(child)
        return null
      },
      deliver: () => {}
    }))
    for (const x of [1, 2, 3]) {
      scheduler.set("/x", x)
      scheduler.settle()
    }
    assert.isBelow(present(scheduler.registry.get("watch")).ordinal, present(scheduler.registry.get("parent")).ordinal)
    assert.deepStrictEqual(order, ["parent", "child", "parent", "child", "parent"])
  })

  it("G33 nodes that list the folder of their outputs can be withdrawn one by one, and the others settle", () => {
    const names = ["a", "b", "c"]
    const folder = () => {
      const scheduler = new SpaceScheduler()
      for (const name of names) scheduler.register(Computation.make({ name, output: `/c/${name}`, run: (tx) => tx.list("/c").length }))
      for (const name of names) {
        scheduler.register(Reaction.make({ name: `watch-${name}`, read: (tx) => tx.get(`/c/${name}`) ?? null, deliver: () => {} }))
      }
      scheduler.settle()
      return scheduler
    }
    for (const first of names) {
      for (const second of names) {
        const scheduler = folder()
        scheduler.remove(first)
        scheduler.settle()
        scheduler.set(`/c/${first}`, undefined)
        scheduler.settle()
        for (const name of names) {
          assert.strictEqual(scheduler.pull(`/c/${name}`), name === first ? undefined : 2, `${name} without ${first}`)
        }
        // A watched node loses its output in the graph as well.
        if (second !== first) scheduler.register(Reaction.make({ name: second, read: (tx) => tx.list("/c").length, deliver: () => {} }))
        scheduler.settle()
        for (const name of names) scheduler.remove(name)
        scheduler.settle()
        assert.deepStrictEqual(scheduler.snapshot().map(({ name }) => name), names.map((name) => `watch-${name}`))
      }
    }
  })

  it.effect("G33 the same when their module goes, and when a piece is stopped", () =>
    Fx.gen(function*() {
      const kernel = yield* Kernel
      // A node is not notified of its own output, so each counts the others.
      const others = (tx: Transaction, own: Value) => tx.list("/data/c").filter((name) => name !== own).length
      const count = (name: string) => Computation.make({ name, output: `/data/c/${name}`, run: (tx) => others(tx, name) })
      const c = count("c")
      for (const node of [count("a"), count("b"), c]) yield* kernel.register(node)
      yield* kernel.register(Reaction.make({ name: "watch", read: (tx) => tx.get("/data/c/a") ?? null, deliver: () => {} }))
      yield* kernel.register(Computation.make({
        name: "piece", inputs: ["name"], output: "/data/c/:name", run: (tx, { name }) => others(tx, name)
      }))
      const space = yield* TestKernel.space([
        enzyme("start", (tx) => tx.set("/data/started", ["d", "e"].map((name) => tx.start("piece", { name })))),
        enzyme("stop", (tx) => {
          tx.stop(present((tx.get("/data/started") as ReadonlyArray<string>)[1]))
          tx.delete("/data/c/e")
        }),
        enzyme("tidy", (tx) => tx.delete("/data/c/c"))
      ])
      const send = (signal: string) => Fx.andThen(space.signal({ signal: `/signals/${signal}` }), space.step)
      yield* send("start")
      assert.strictEqual(yield* space.get("/data/c/a"), 4)
      yield* send("stop")
      assert.strictEqual(yield* space.get("/data/c/a"), 3)
      yield* kernel.unregister(c)
      yield* send("tidy")
      assert.strictEqual(yield* space.get("/data/c/a"), 2)
    }).pipe(Fx.provide(TestKernel.layer())))
})
