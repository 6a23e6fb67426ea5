import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Queue } from "effect"
import { TestClock } from "effect/testing"
import { Enzyme, Kernel, Plugin } from "systole"
import * as Loader from "../../src/loader/Loader.ts"
import * as ManifestModules from "../../src/main/module/ManifestModules.ts"
import * as RunGuards from "../../src/main/guard/RunGuards.ts"
import * as TestKernel from "../support/TestKernel.ts"

class Prices extends Context.Service<Prices, { readonly of: (item: string) => number }>()("shop/Prices") {}
class Taxes extends Context.Service<Taxes, { readonly share: number }>()("shop/Taxes") {}

const prices = Layer.succeed(Prices, { of: (item) => item.length })
const taxes = Layer.succeed(Taxes, { share: 0.5 })

const quote = Enzyme.make({
  name: "quote",
  query: "/signals/quote/:item",
  services: [Prices],
  run: (tx, { params: { item } }) => Prices.useSync((known) => tx.set(`/data/quotes/${item}`, known.of(item)))
})

const tax = Enzyme.make({
  name: "tax",
  query: "/signals/tax",
  services: [Taxes, Prices],
  run: (tx) => Effect.gen(function*() {
    tx.set("/data/tax", (yield* Taxes).share * (yield* Prices).of("tea"))
  })
})

const plain = Enzyme.make({ name: "plain", query: "/signals/plain", run: (tx) => tx.set("/data/plain", true) })

const plugin = (name: string, services: Plugin.Definition["services"], enzymes: ReadonlyArray<Enzyme.Enzyme> = []) =>
  Plugin.make({ name, version: "1.0.0", enzymes, ...services && { services } })

const enzymes = { "enzymes/plain.ts": plain, "enzymes/quote.ts": quote, "enzymes/tax.ts": tax }

const sources = { enzymes: ["enzymes"], plugins: ["plugins"], required: [], millis: 10_000 }

/** The modules of a project, with these plugins in the order of their names. Another revision of the plugins has other code. */
const project = (plugins: Readonly<Record<string, Plugin.Plugin>>, revision = 0) => {
  const named = Object.entries(plugins).map(([name, module]) => [`plugins/${name}.ts`, { module, hash: `${name} ${revision}` }] as const)
  const others = Object.entries(enzymes).map(([file, module]) => [file, { module, hash: `hash of ${file}` }] as const)
  return Layer.fresh(ManifestModules.layer(Object.fromEntries([...others, ...named])))
}

/** The modules of a project as they are registered. */
const registered = Effect.fnUntraced(function*(plugins: Readonly<Record<string, Plugin.Plugin>>) {
  return yield* Loader.register(yield* Loader.load(sources).pipe(Effect.provide(project(plugins))))
})

/** The names of the registered enzymes, and the code and the file of each refusal. */
const outcome = ({ broken, enzymes }: Loader.LoadedModules) => ({
  enzymes: enzymes.map(({ enzyme }) => enzyme.name),
  refused: broken.map(({ code, file }) => [file, code])
})

const messages = ({ broken }: Loader.LoadedModules) => broken.map(({ message }) => message).join("\n")

/** The values of cells after a beat with a signal for each enzyme. */
const isRunning = Effect.fnUntraced(function*(...cells: ReadonlyArray<string>) {
  const kernel = yield* Kernel
  const space = yield* kernel.space("test", { create: true })
  for (const signal of ["/signals/plain", "/signals/quote/tea", "/signals/tax"]) yield* space.signal({ signal })
  yield* space.step
  return yield* Effect.forEach(cells, (cell) => space.get(cell))
})

describe("The services of plugins", () => {
  it.effect("are those of the enzymes that name them", () =>
    Effect.gen(function*() {
      const found = yield* registered({ a: plugin("a", prices), b: plugin("b", taxes) })
      assert.deepStrictEqual(outcome(found), { enzymes: ["plain", "quote", "tax"], refused: [] })
      assert.deepStrictEqual(yield* isRunning("/data/plain", "/data/quotes/tea", "/data/tax"), [true, 3, 1.5])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("are refused with the plugin of a layer that fails, by name, and the rest runs", () =>
    Effect.gen(function*() {
      const failing = plugin("b", Layer.effect(Taxes, Effect.fail(new Error("no law"))), [{ ...plain, name: "own" }])
      const found = yield* registered({ a: plugin("a", prices), b: failing })
      assert.deepStrictEqual(outcome(found), {
        enzymes: ["plain", "quote"],
        refused: [["plugins/b.ts", "service/failed"], ["enzymes/tax.ts", "service/absent"]]
      })
      assert.include(messages(found), `The services of the plugin "b" are refused: its layer fails: no law`)
      assert.include(messages(found), `enzyme "tax" are refused: no plugin provides "shop/Taxes"`)
      assert.deepStrictEqual(yield* isRunning("/data/plain", "/data/quotes/tea", "/data/tax"), [true, 3, undefined])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.effect("are refused once their limit is over, also where a layer ignores its interruption", () =>
    Effect.gen(function*() {
      const hanging = Layer.effect(Taxes, Effect.uninterruptible(Effect.never))
      const loading = yield* Effect.forkChild(registered({ a: plugin("a", prices), b: plugin("b", hanging) }), { startImmediately: true })
      yield* TestClock.adjust(500)
      const found = yield* Fiber.join(loading)
      assert.deepStrictEqual(outcome(found).refused, [["plugins/b.ts", "service/timeout"], ["enzymes/tax.ts", "service/absent"]])
      assert.include(messages(found), "not built within 500 ms")
      assert.deepStrictEqual(yield* isRunning("/data/plain", "/data/quotes/tea"), [true, 3])
    }).pipe(Effect.provide(TestKernel.layer({ limits: { ...TestKernel.settings.limits, serviceMillis: 500 } }))))

  it.effect("are those of the first plugin that has them; a second one is refused", () =>
    Effect.gen(function*() {
      const both = plugin("c", Layer.merge(Layer.succeed(Prices, { of: () => 99 }), taxes))
      const found = yield* registered({ a: plugin("a", prices), c: both })
      assert.deepStrictEqual(outcome(found).refused, [["plugins/c.ts", "service/taken"], ["enzymes/tax.ts", "service/absent"]])
      assert.include(messages(found), `it provides "shop/Prices", which the plugin "a" provides, too`)
      assert.deepStrictEqual(yield* isRunning("/data/quotes/tea"), [3])
    }).pipe(Effect.provide(TestKernel.layer())))

  it.live("are built under the rules of runs: without time, chance and I/O", () =>
    Effect.gen(function*() {
      const calls: ReadonlyArray<readonly [name: string, call: Effect.Effect<unknown>]> = [
        ["Date.now()", Effect.sync(() => Date.now())],
        ["Math.random()", Effect.sync(() => Math.random())],
        ["Math.random() later", Effect.andThen(Effect.yieldNow, Effect.sync(() => Math.random()))],
        ["fetch()", Effect.promise(async () => {
          await Promise.resolve()
          return fetch("http://127.0.0.1:1")
        })],
        ["setTimeout()", Effect.sleep(1)]
      ]
      for (const [name, call] of calls) {
        const found = yield* registered({ a: plugin("a", Layer.effect(Prices, Effect.as(call, { of: () => 1 }))), b: plugin("b", taxes) })
          .pipe(Effect.provide(Layer.fresh(TestKernel.layer().pipe(Layer.provide(RunGuards.layer())))))
        assert.deepInclude(outcome(found).refused, ["plugins/a.ts", "service/failed"], name)
        assert.include(messages(found), `called ${name.split(" ")[0]}`)
      }
      assert.isNumber(Date.now(), "the guards are open outside")
    }))

  it.effect("end with the runtime", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const layer = Layer.effect(Taxes, Effect.acquireRelease(
        Effect.sync(() => {
          seen.push("built")
          return { share: 1 }
        }),
        () => Effect.sync(() => void seen.push("ended"))
      ))
      yield* Effect.gen(function*() {
        yield* registered({ a: plugin("a", prices), b: plugin("b", layer) })
        yield* isRunning()
        yield* isRunning()
        assert.deepStrictEqual(seen, ["built"])
      }).pipe(Effect.provide(TestKernel.layer()))
      assert.deepStrictEqual(seen, ["built", "ended"])
    }))

  it.effect("are replaced by a reload after the beat in progress, and a refused layer leaves the earlier one", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const ends = yield* Queue.unbounded<string>()
      const layer = (price: number) => Layer.effect(Prices, Effect.acquireRelease(
        Effect.sync(() => ({ of: () => price })),
        () => Effect.suspend(() => {
          // The code of a plugin may take its time, or call the space.
          seen.push(new Error().stack?.includes("GroupCommit") === true ? "ended within the loop of beats" : `ended ${price}`)
          return Queue.offer(ends, `${price}`)
        })
      ))
      const reloaded = (before: Loader.LoadedModules, revision: number, services: Plugin.Definition["services"]) =>
        Loader.reload(before, sources).pipe(Effect.provide(project({ a: plugin("a", services), b: plugin("b", taxes) }, revision)))
      const [begun, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const kernel = yield* Kernel
      const run = () => Effect.runPromise(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(gate)))
      yield* kernel.register(Enzyme.make({ name: "waits", query: "/signals/waits", run }))
      const first = yield* registered({ a: plugin("a", layer(1)), b: plugin("b", taxes) })
      const space = yield* kernel.space("test", { create: true })
      yield* space.signal({ signal: "/signals/waits" })
      yield* space.signal({ signal: "/signals/quote/tea" })
      const beat = yield* Effect.forkChild(space.step, { startImmediately: true })
      yield* Deferred.await(begun)
      const second = yield* reloaded(first, 1, layer(2))
      yield* Effect.yieldNow
      assert.deepStrictEqual(seen, [], "the beat in progress has the earlier layer")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(beat)
      assert.deepStrictEqual([yield* space.get("/data/quotes/tea"), yield* Queue.take(ends), seen], [1, "1", ["ended 1"]])
      assert.deepStrictEqual(yield* isRunning("/data/quotes/tea"), [2])
      const third = yield* reloaded(second, 2, Layer.effect(Prices, Effect.fail(new Error("no market"))))
      assert.deepStrictEqual(outcome(third).refused, [["plugins/a.ts", "service/failed"]])
      assert.deepStrictEqual(yield* isRunning("/data/quotes/tea"), [2])
      yield* reloaded(third, 3, layer(4))
      assert.deepStrictEqual([yield* isRunning("/data/quotes/tea"), yield* Queue.take(ends), seen], [[4], "2", ["ended 1", "ended 2"]])
    }).pipe(Effect.provide(TestKernel.layer())))

  it("are no host's: a plugin with services imports none of its modules", () => {
    const loaded = { file: "plugins/a.ts", hash: "h", module: plugin("a", prices), text: "t", hostImports: ["node:fs"] }
    const result = Loader.decode(loaded)
    assert.strictEqual(result._tag, "Failure")
    if (result._tag === "Failure") assert.include(result.failure.message, "node:fs")
  })

  it("are a Layer", () => {
    assert.throws(() => plugin("a", {} as never), /no Layer/)
    assert.throws(() => Enzyme.make({ name: "a", query: "/signals/a", services: [7] as never, run: () => 1 }), /no list of keys/)
  })

  it.effect("are refused to an enzyme that is registered without them", () =>
    Effect.gen(function*() {
      const kernel = yield* Kernel
      assert.include((yield* Effect.flip(kernel.register(quote))).message, `"shop/Prices"`)
    }).pipe(Effect.provide(TestKernel.layer())))
})
