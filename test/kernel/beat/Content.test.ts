import { assert, describe, it } from "@effect/vitest"
import { Effect as Fx } from "effect"
import { createHash } from "node:crypto"
import { Computation, Link, Reaction, type Space, type Value } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme, put, register, replays, steps, write } from "../TestSpace.ts"
import * as TestMachine from "../TestMachine.ts"

const bytes = new TextEncoder().encode("a word or two")
const hash = createHash("sha256").update(bytes).digest("hex")
const place = `/cas/${hash}`

/** Reads the size of the content that a cell names, or links to. */
const size = (name: string, source: string) => Computation.make({ name, output: `/data/${name}`, run: (tx) => {
  const where = tx.get(source)
  const found = typeof where === "string" ? tx.get(where) : where
  return found instanceof Uint8Array ? found.length : -1
} })

const nodes = [
  size("size", "/data/ref"),
  size("linked", "/data/link"),
  Reaction.make({ name: "watch", read: (tx) => [tx.get("/data/size"), tx.get("/data/linked"), tx.keys(place)], deliver: () => {} })
]

const make = enzyme("make", (tx) => void tx.set("/data/ref", tx.blob(bytes)))

const upload = Fx.fnUntraced(function*(space: Space) {
  const { store, writer } = yield* space.content
  writer.write(bytes)
  yield* store(hash)
})

const sizes = (space: Space) => Fx.all([space.get("/data/size"), space.get("/data/linked")])

describe("Nodes that read content", () => {
  it.effect("find received content from the same beat on as handlers", () =>
    Fx.gen(function*() {
      yield* register(...nodes)
      const space = yield* TestKernel.space([put])
      yield* write(space, ["/data/ref", place], ["/data/link", Link.make(place)])
      assert.deepStrictEqual<ReadonlyArray<Value>>(yield* sizes(space), [-1, -1])
      yield* upload(space)
      yield* space.step
      assert.deepStrictEqual<ReadonlyArray<Value>>(yield* sizes(space), [bytes.length, bytes.length])
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("find the content of a handler in the beat in which it writes the address", () =>
    Fx.gen(function*() {
      yield* register(...nodes)
      const space = yield* TestKernel.space([put, make])
      yield* write(space, ["/data/ref", place], ["/data/link", Link.make(place)])
      yield* space.signal({ signal: "/signals/make" })
      yield* space.step
      assert.deepStrictEqual<ReadonlyArray<Value>>(yield* sizes(space), [bytes.length, bytes.length])
      yield* steps(space, 2)
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("find it under any scope: content has none", () =>
    Fx.gen(function*() {
      const watch = Reaction.make({ name: "watch", read: (tx) => tx.get("/data/scoped"), deliver: () => {} })
      yield* register(size("scoped", "/data/ref"), watch)
      const space = yield* TestKernel.space([put])
      yield* write(space, ["/data/ref", `${place}?scope=user:bob`])
      assert.strictEqual(yield* space.get("/data/scoped"), -1)
      yield* upload(space)
      yield* space.step
      assert.strictEqual(yield* space.get("/data/scoped"), bytes.length)
      yield* replays(space)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("derive the same when they run twice", () =>
    Fx.gen(function*() {
      yield* register(...nodes)
      const space = yield* TestKernel.space([put, make])
      yield* space.signal({ signal: "/signals/make" })
      yield* space.step
      assert.isEmpty(yield* TestKernel.diagnostics(space))
      assert.strictEqual(yield* space.get("/data/size"), bytes.length)
    }).pipe(Fx.provide(TestKernel.layer())))

  it.effect("run for content that was stored while their module was absent", () =>
    Fx.scoped(Fx.gen(function*() {
      const machine = yield* TestMachine.make
      yield* write(yield* machine.boot([put, ...nodes]), ["/data/ref", place])
      const away = yield* machine.boot([put])
      yield* upload(away)
      yield* write(away, ["/data/other", 1])
      const space = yield* machine.boot([put, ...nodes])
      yield* steps(space, 2)
      assert.strictEqual(yield* space.get("/data/size"), bytes.length)
    })))
})
