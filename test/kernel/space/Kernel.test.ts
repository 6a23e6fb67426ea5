import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Scope } from "effect"
import { Kernel } from "systole"
import * as TestKernel from "../../support/TestKernel.ts"
import { enzyme, steps, turns } from "../TestSpace.ts"

describe("the kernel", () => {
  it.effect("creates a space on demand, the same for all callers", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const [first, second] = yield* Effect.all([kernel.space("shop"), kernel.space("shop")], { concurrency: "unbounded" })
      assert.strictEqual(first, second)
      yield* kernel.space("attic")
      assert.deepStrictEqual(yield* kernel.spaces, ["attic", "shop"])
      assert.strictEqual(yield* first.head, -1)
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("creates none if creation is explicit, and explains how", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const error = yield* Effect.flip(kernel.space("shop"))
      assert.strictEqual(error.code, "space/unknown")
      assert.include(error.message, "systole space create shop")
      yield* kernel.space("shop", { create: true })
      yield* kernel.space("shop")
    }).pipe(Effect.provide(TestKernel.layer({ create: "explicit" }))))

  it.effect("refuses a name that cannot name a space", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      for (const name of ["", "Shop", "a/b", "-a", "x".repeat(64)]) assert.strictEqual(
        (yield* Effect.flip(kernel.space(name))).code, "space/name", name
      )
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("keeps spaces apart: cells, beats and signals", () =>
    Effect.gen(function*() {
      const shop = yield* TestKernel.space([enzyme("count", (tx) => tx.increment("/data/n"))], "shop")
      const attic = yield* TestKernel.space([], "attic")
      for (const space of [shop, shop, attic]) yield* space.signal({ signal: "/signals/count" })
      yield* steps(shop, 3)
      assert.strictEqual(yield* attic.head, -1)
      yield* attic.step
      assert.deepStrictEqual([yield* shop.get("/data/n"), yield* attic.get("/data/n")], [2, 1])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("lets an enzyme that is registered while a beat runs react in the next", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const seen: Array<string> = []
      const late = enzyme("late", (tx) => void seen.push(`late@${tx.beat}`), { query: "/signals/s" })
      const space = yield* TestKernel.space([enzyme("early", async (tx) => {
        seen.push(`early@${tx.beat}`)
        if (tx.beat === 0) await Effect.runPromise(kernel.register(late))
      }, { query: "/signals/s" })])
      for (let i = 0; i < 2; i++) yield* space.signal({ signal: "/signals/s" })
      yield* steps(space, 2)
      assert.deepStrictEqual(seen, ["early@0", "early@1", "late@1"])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("withdraws exactly what was registered", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      const made = enzyme("count", (tx) => tx.increment("/data/n"))
      const space = yield* TestKernel.space([made])
      assert.strictEqual((yield* Effect.flip(kernel.unregister(enzyme("count", () => undefined)))).code, "enzyme/unknown")
      yield* space.signal({ signal: "/signals/count" })
      yield* space.step
      yield* kernel.unregister(made)
      yield* space.signal({ signal: "/signals/count" })
      yield* space.step
      assert.strictEqual(yield* space.get("/data/n"), 1)
      assert.deepStrictEqual(yield* kernel.enzymes, [])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("fails all waiters when it closes", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const kernel = Context.get(yield* Layer.buildWithScope(Layer.fresh(TestKernel.layer()), scope), Kernel)
      const space = yield* kernel.space("shop")
      yield* space.signal({ signal: "/signals/s" })
      const waiting = yield* Effect.forkChild(Effect.flip(space.settled("x.0.0")), { startImmediately: true })
      yield* turns()
      yield* Scope.close(scope, yield* Effect.exit(Effect.void))
      const error = yield* Fiber.join(waiting)
      assert.include(error.message, "the runtime is closing")
      assert.strictEqual((yield* Effect.flip(space.signal({ signal: "/signals/s" }))).code, "space/stopped")
    }))
})
