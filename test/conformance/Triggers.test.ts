import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import type { Transaction, Value } from "systole"
import { Computation, Document, Kernel, Link, Reaction, replay, SpaceScheduler } from "systole"
import * as TestKernel from "../support/TestKernel.ts"
import { present } from "../support/Present.ts"
import * as Graph from "./Graph.ts"

/** The readers of `/data/x` that run again when its value changes. */
const triggered = (readers: Readonly<Record<string, (tx: Transaction) => unknown>>, before: Value, after: Value) =>
  Fx.gen(function*() {
    const log = new Graph.Log()
    const space = yield* Graph.open(...Object.entries(readers).map(([name, read]) => log.effect(name, (tx) => (read(tx), null))))
    yield* Graph.put(space, ["/data/x", before])
    log.take()
    yield* Graph.put(space, ["/data/x", after])
    return log.take()
  }).pipe(Fx.provide(TestKernel.layer()))

const number = (value: Value): number => Number(value ?? 0)
const viewOf = (scheduler: SpaceScheduler, name: string) => present(scheduler.snapshot().find((node) => node.name === name))

const at = (path: string) => (tx: Transaction) => tx.get(`/data/x#${path}`)
const keys = (path: string) => (tx: Transaction) => tx.keys(`/data/x#${path}`)

describe("F: trigger matching", () => {
  it.effect("F1 a reader is invalidated by a different value, and by no other", () =>
    Fx.gen(function*() {
      assert.deepStrictEqual(yield* triggered({ a: at("/a") }, { a: 1 }, { a: 2 }), { a: 1 })
      assert.deepStrictEqual(yield* triggered({ a: at("/a") }, { a: 1 }, { a: 1, b: 2 }), {})
    }))

  it.effect("F2 a deep reader is invalidated by changes below, and no reader by changes beside", () =>
    Fx.gen(function*() {
      assert.deepStrictEqual(yield* triggered({ a: at("/a"), c: at("/a/b") }, { a: { b: 1, c: 1 } }, { a: { b: 1, c: 2 } }), { a: 1 })
    }))

  it.effect("F3 a new key invalidates its readers and those of its container", () =>
    Fx.gen(function*() {
      const readers = { fresh: at("/obj/newKey"), whole: at("/obj"), other: at("/obj/existing") }
      assert.deepStrictEqual(
        yield* triggered(readers, { obj: { existing: 1 } }, { obj: { existing: 1, newKey: 2 } }),
        { fresh: 1, whole: 1 }
      )
    }))

  it.effect("F5 a field of a value without fields does not change", () =>
    Fx.map(triggered({ field: at("/field") }, 42, 43), (runs) => assert.deepStrictEqual(runs, {})))

  it.effect("F6 an item beyond both arrays does not change", () =>
    Fx.map(triggered({ sixth: at("/items/5") }, { items: [1, 2] }, { items: [3, 4] }), (runs) => assert.deepStrictEqual(runs, {})))

  it.effect("F7 values that appear, vanish or change their kind invalidate, and null for null does not", () =>
    Fx.gen(function*() {
      const pairs: ReadonlyArray<readonly [Value, Value, boolean]> = [
        [{}, { a: 1 }, true],
        [{ a: 1 }, {}, true],
        [{ a: null }, { a: 1 }, true],
        [{ a: 1 }, { a: { b: 1 } }, true],
        [{ a: [1] }, { a: { 0: 1 } }, true],
        [{ a: null }, { a: null, b: 1 }, false]
      ]
      for (const [before, after, isNews] of pairs) {
        assert.deepStrictEqual(yield* triggered({ a: at("/a") }, before, after), isNews ? { a: 1 } : {}, JSON.stringify([before, after]))
      }
    }))

  it.effect("F9 a change inside invalidates the deep reader, and not the reader of the keys", () =>
    Fx.gen(function*() {
      const readers = { deep: at("/a"), shallow: keys("/a") }
      assert.deepStrictEqual(yield* triggered(readers, { a: { b: 1 } }, { a: { b: 2 } }), { deep: 1 })
      assert.deepStrictEqual(yield* triggered(readers, { a: { b: 1 } }, { a: { b: 1, c: 1 } }), { deep: 1, shallow: 1 })
    }))

  it.effect("F11 a change invalidates above, at and below its place, as far as values differ", () =>
    Fx.gen(function*() {
      const readers = { all: at("/users"), one: at("/users/123"), profile: at("/users/123/profile"), other: at("/users/7") }
      const runs = yield* triggered(readers, { users: { 123: { profile: 1 }, 7: 1 } }, { users: { 123: { profile: 2 }, 7: 1 } })
      assert.deepStrictEqual(runs, { all: 1, one: 1, profile: 1 })
    }))

  it.effect("F12 a node that read several changed places runs once", () =>
    Fx.gen(function*() {
      const readers = { all: (tx: Transaction) => [at("/a")(tx), at("/a/b")(tx), at("")(tx), keys("/a")(tx)] }
      assert.deepStrictEqual(yield* triggered(readers, { a: { b: 1 } }, { a: { b: 2, c: 1 } }), { all: 1 })
    }))

  it.effect("F15 a reader that changes its scope is invalidated by the new one alone", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(log.effect("mine", (tx) => tx.get(`/data/x?scope=user:${tx.get("/data/who")}`)))
      yield* Graph.put(space, ["/data/who", "ann"])
      log.take()
      yield* Graph.put(space, ["/data/x?scope=user:bob", 1])
      assert.deepStrictEqual(log.take(), {})
      yield* Graph.put(space, ["/data/who", "bob"])
      log.take()
      yield* Graph.put(space, ["/data/x?scope=user:ann", 1])
      assert.deepStrictEqual(log.take(), {})
      yield* Graph.put(space, ["/data/x?scope=user:bob", 2])
      assert.deepStrictEqual(log.take(), { mine: 1 })
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("F17 a withdrawn node is not invalidated by its reads", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const node = log.effect("reader", (tx) => tx.get(String(tx.get("/data/where") ?? "/data/a")))
      const space = yield* Graph.open(node)
      yield* Graph.put(space, ["/data/where", "/data/b"])
      yield* (yield* Kernel).unregister(node)
      log.take()
      yield* Graph.put(space, ["/data/a", 1], ["/data/b", 1], ["/data/where", "/data/c"])
      assert.deepStrictEqual(log.take(), {})
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("F18 a write of the same value invalidates no reader", () =>
    Fx.gen(function*() {
      assert.deepStrictEqual(yield* triggered({ whole: at(""), keys: keys("") }, { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }), {})
    }))

  it.effect("F9 a reader of keys sees those behind a link, and is invalidated when the link changes", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const link = (to: string) => Link.make(to) as unknown as Value
      const space = yield* Graph.open(log.effect("keys", (tx) => [...tx.keys("/data/link") ?? []]))
      yield* Graph.put(space, ["/data/a", { x: 1 }], ["/data/b", { y: 1, z: 1 }], ["/data/link", link("/data/a")])
      assert.deepStrictEqual(log.seen["keys"], ["x"])
      yield* Graph.put(space, ["/data/link", link("/data/b")])
      assert.deepStrictEqual(log.seen["keys"], ["y", "z"])
      yield* Graph.put(space, ["/data/b", { y: 1 }])
      assert.deepStrictEqual(log.seen["keys"], ["y"])
      log.take()
      yield* Graph.put(space, ["/data/b", { y: 2 }], ["/data/a", { w: 1 }])
      assert.deepStrictEqual(log.take(), {})
      const head = yield* space.head
      for (let from = 0; from <= head; from++) {
        assert.isUndefined((yield* space.examine((archive) => replay(archive, from, head))).difference)
      }
    }).pipe(Fx.provide(TestKernel.layer())))

  it("F14 reads are listed by address, without those inside another one of the same document and scope", () => {
    const scheduler = new SpaceScheduler()
    scheduler.register(Reaction.make({
      name: "reader",
      read: (tx) => {
        for (const place of ["/x#/10", "/x#/2", "/x#/1", "/x#/a/b/c", "/x#/a/b", "/x#/a/bc", "/y#/a/b/c", "/x?scope=user:ann#/a/b/c"]) {
          tx.get(place)
        }
        for (const place of ["/x#/a/b", "/x#/a/b/d", "/x#/k"]) tx.keys(place)
        tx.get("/x#/k/l")
        return tx.list("/x") as unknown as Value
      },
      deliver: () => {}
    }))
    scheduler.set("/x", { a: { b: { c: 1 } }, k: { l: 1 } })
    scheduler.settle()
    const reads = ["/x#/1", "/x#/10", "/x#/2", "/x#/a/b", "/x#/a/bc", "/x#/k", "/x#/k/l", "/x/*", "/x?scope=user:ann#/a/b/c", "/y#/a/b/c"]
    assert.deepStrictEqual(viewOf(scheduler, "reader").reads.toSorted(), reads.toSorted())
    assert.deepStrictEqual(viewOf(scheduler, "reader").reads.filter((read) => read.startsWith("/x#")), reads.slice(0, 7))
    assert.deepStrictEqual(present(scheduler.observation("reader")).reads.filter(([read]) => read === "/x#/k"), [["/x#/k", "shallow"]])
    // An omitted read is still a cause.
    scheduler.set("/x", { a: { b: { c: 2 } }, k: { l: 1 } })
    const known = present(scheduler.observation("reader"))
    assert.deepStrictEqual(known.causes.map((i) => known.reads[i]?.[0]), ["/x#/a/b"])
  })

  it("F16 an address without readers and writers is removed, in its own graph alone, and found again by a reader", () => {
    const held = new Map<string, Document.Document>([["/x", Document.encode(1)], ["/y", Document.encode({ a: 1 })]])
    const ground = { read: (key: string) => held.get(key), children: () => [], content: () => undefined, holds: true }
    const graphs = [new SpaceScheduler(ground), new SpaceScheduler(ground)]
    const reader = Reaction.make({
      name: "reader",
      read: (tx) => number(tx.get("/x")) + number(tx.get("/y#/a")) + number(tx.get("/derived")),
      deliver: () => {}
    })
    const writer = Computation.make({ name: "writer", output: "/derived", run: (tx) => number(tx.get("/y")) })
    const places = (graph: SpaceScheduler) => [...graph.graph.locations.values()].map(({ key }) => key).toSorted()
    for (const graph of graphs) {
      graph.register(writer)
      graph.register(reader)
      graph.settle()
      assert.deepStrictEqual(places(graph), ["/derived", "/x", "/y"])
    }
    const [graph, other] = graphs as [SpaceScheduler, SpaceScheduler]
    graph.remove("reader")
    graph.settle()
    assert.deepStrictEqual(places(graph), ["/derived", "/y"])
    graph.remove("writer")
    graph.settle()
    assert.deepStrictEqual(places(graph), [])
    assert.deepStrictEqual(places(other), ["/derived", "/x", "/y"])
    assert.strictEqual(graph.pull("/x"), 1)
    graph.settle()
    assert.deepStrictEqual(places(graph), [])
    held.set("/x", Document.encode(5))
    graph.register(reader)
    graph.settle()
    assert.deepStrictEqual(graph.graph.locations.whole(graph.graph.locations.root("/x")), 5)
  })

  it.effect("F19 a peeked cell is up to date, and no cause to run again", () =>
    Fx.gen(function*() {
      const log = new Graph.Log()
      const space = yield* Graph.open(
        log.computation("double", "/data/double", (tx) => number(tx.get("/data/x")) * 2),
        log.effect("reader", (tx) => [tx.get("/data/when") ?? null, tx.peek("/data/double") ?? null, tx.peek("/data/link") ?? null])
      )
      yield* Graph.put(space, ["/data/x", 1], ["/data/y", "old"], ["/data/link", Link.make("/data/y") as unknown as Value])
      assert.deepStrictEqual(log.seen["reader"], [null, 2, "old"])
      log.take()
      yield* Graph.put(space, ["/data/x", 2], ["/data/y", "new"])
      assert.deepStrictEqual(log.take(), {})
      yield* Graph.put(space, ["/data/when", 1])
      assert.deepStrictEqual(log.take(), { reader: 1, double: 1 })
      assert.deepStrictEqual(log.seen["reader"], [1, 4, "new"])
      const head = yield* space.head
      for (let from = 0; from <= head; from++) {
        assert.isUndefined((yield* space.examine((archive) => replay(archive, from, head))).difference)
      }
    }).pipe(Fx.provide(TestKernel.layer())))

  it("F19 a place peeked at and then read is a cause to run", () => {
    const log = new Graph.Log()
    const scheduler = new SpaceScheduler()
    scheduler.register(log.effect("reader", (tx) => [tx.peek("/x") ?? null, tx.get("/x") ?? null, tx.peek("/x") ?? null]))
    for (const x of [1, 2]) {
      scheduler.set("/x", x)
      scheduler.settle()
      assert.deepStrictEqual(log.seen["reader"], [x, x, x])
    }
  })
})
