import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import type { Transaction, Value } from "systole"
import { Kernel } from "systole"
import * as TestKernel from "../support/TestKernel.ts"
import * as Graph from "./Graph.ts"

/** Which of these readers of `/data/x` run again when it goes from one value to another. */
const triggered = (readers: Readonly<Record<string, (tx: Transaction) => unknown>>, before: Value, after: Value) =>
  Fx.gen(function*() {
    const log = new Graph.Log()
    const space = yield* Graph.open(...Object.entries(readers).map(([name, read]) => log.effect(name, (tx) => (read(tx), null))))
    yield* Graph.put(space, ["/data/x", before])
    log.take()
    yield* Graph.put(space, ["/data/x", after])
    return log.take()
  }).pipe(Fx.provide(TestKernel.layer()))

const at = (path: string) => (tx: Transaction) => tx.get(`/data/x#${path}`)
const keys = (path: string) => (tx: Transaction) => tx.keys(`/data/x#${path}`)

describe("F: trigger matching", () => {
  it.effect("F1 a reader hears of a value that differs, and of no other", () =>
    Fx.gen(function*() {
      assert.deepStrictEqual(yield* triggered({ a: at("/a") }, { a: 1 }, { a: 2 }), { a: 1 })
      assert.deepStrictEqual(yield* triggered({ a: at("/a") }, { a: 1 }, { a: 1, b: 2 }), {})
    }))

  it.effect("F2 a deep reader hears of what lies below, and nobody of what lies beside", () =>
    Fx.gen(function*() {
      assert.deepStrictEqual(yield* triggered({ a: at("/a"), c: at("/a/b") }, { a: { b: 1, c: 1 } }, { a: { b: 1, c: 2 } }), { a: 1 })
    }))

  it.effect("F3 a new key is news to its readers and to those of what it is in", () =>
    Fx.gen(function*() {
      const readers = { fresh: at("/obj/newKey"), whole: at("/obj"), other: at("/obj/existing") }
      assert.deepStrictEqual(yield* triggered(readers, { obj: { existing: 1 } }, { obj: { existing: 1, newKey: 2 } }), { fresh: 1, whole: 1 })
    }))

  it.effect("F5 a field of what has no fields stays what it was", () =>
    Fx.map(triggered({ field: at("/field") }, 42, 43), (runs) => assert.deepStrictEqual(runs, {})))

  it.effect("F6 an item beyond both arrays stays what it was", () =>
    Fx.map(triggered({ sixth: at("/items/5") }, { items: [1, 2] }, { items: [3, 4] }), (runs) => assert.deepStrictEqual(runs, {})))

  it.effect("F7 values that come, go and change their kind are news, and null for null is none", () =>
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

  it.effect("F9 what changes inside is news to the deep reader, and not to who looks at the keys", () =>
    Fx.gen(function*() {
      const readers = { deep: at("/a"), shallow: keys("/a") }
      assert.deepStrictEqual(yield* triggered(readers, { a: { b: 1 } }, { a: { b: 2 } }), { deep: 1 })
      assert.deepStrictEqual(yield* triggered(readers, { a: { b: 1 } }, { a: { b: 1, c: 1 } }), { deep: 1, shallow: 1 })
    }))

  it.effect("F11 a change is news above, at and below its place, as far as values differ", () =>
    Fx.gen(function*() {
      const readers = { all: at("/users"), one: at("/users/123"), profile: at("/users/123/profile"), other: at("/users/7") }
      const runs = yield* triggered(readers, { users: { 123: { profile: 1 }, 7: 1 } }, { users: { 123: { profile: 2 }, 7: 1 } })
      assert.deepStrictEqual(runs, { all: 1, one: 1, profile: 1 })
    }))

  it.effect("F12 a node that read several places of what changed runs once", () =>
    Fx.gen(function*() {
      const readers = { all: (tx: Transaction) => [at("/a")(tx), at("/a/b")(tx), at("")(tx), keys("/a")(tx)] }
      assert.deepStrictEqual(yield* triggered(readers, { a: { b: 1 } }, { a: { b: 2, c: 1 } }), { all: 1 })
    }))

  it.effect("F15 a reader that looks into another scope hears of that one and of the old no more", () =>
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

  it.effect("F17 a node that is withdrawn hears of nothing that it reads now", () =>
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

  it.effect("F18 a write of what is there already is news to nobody", () =>
    Fx.gen(function*() {
      assert.deepStrictEqual(yield* triggered({ whole: at(""), keys: keys("") }, { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }), {})
    }))
})
