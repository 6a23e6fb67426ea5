import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Computation, Kernel, MemoryStore, Persistence, type PlacedStore } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme } from "../TestSpace.ts"

/** A memory store that lists the keys of the documents that it reads. */
const listing = (read: Array<string>) =>
  Layer.effect(Persistence, Effect.map(Persistence, (memory) => ({
    ...memory,
    open: (name: string, options: Parameters<typeof memory.open>[1]) =>
      Effect.map(memory.open(name, options), (store): PlacedStore => new Proxy(store, {
        get: (target, key) => {
          const value: unknown = Reflect.get(target, key, target)
          if (key === "read") return (at: string) => (read.push(at), target.read(at))
          return typeof value === "function" ? value.bind(target) : value
        }
      }))
  }))).pipe(Layer.provide(MemoryStore.layer))

/** So few documents stay in memory that a second look at all enzymes reads the store. */
const limits = { ...TestKernel.settings.limits, residentBytes: 2000 }

describe("The activation of a node", () => {
  it.effect("reads no cell of an enzyme, however many there are", () => {
    const read: Array<string> = []
    return Effect.gen(function*() {
      const kernel = yield* Kernel
      const enzymes = Array.from({ length: 50 }, (_, i) => enzyme(`e${i}`, () => {}, { label: `Enzyme ${i}` }))
      const space = yield* TestKernel.space(enzymes)
      yield* space.step
      yield* space.step
      read.length = 0
      yield* kernel.register(Computation.make({ name: "node", output: "/data/n", run: () => 1 }))
      yield* space.step
      assert.deepStrictEqual(read.filter((key) => /^\/sys\/(titles|enzymes|modules\/e)/.test(key)), [])
      yield* kernel.register(enzyme("last", () => {}, { label: "Last" }))
      yield* space.step
      assert.isAbove(read.filter((key) => key.startsWith("/sys/titles/")).length, 50)
      assert.isDefined(yield* space.get("/sys/titles/last"))
    }).pipe(Effect.provide(TestKernel.layer({ limits }, listing(read))))
  })
})
