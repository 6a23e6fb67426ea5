import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Kernel, replay, type Space } from "systole"
import { ModuleRestore } from "../../src/kernel/model/ModuleRestore.ts"
import * as Loader from "../../src/loader/Loader.ts"
import * as Restored from "../../src/loader/Restored.ts"
import * as HostHash from "../../src/main/host/HostHash.ts"
import * as HostModules from "../../src/main/module/HostModules.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import * as TestKernel from "../support/TestKernel.ts"

const key = `import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Transaction } from "systole"
export class Pricing extends Context.Service<Pricing, {
  readonly price: (item: string) => Effect.Effect<number, never, Transaction>
}>()("shop/Pricing") {}
`

/** A plugin whose prices are in cells, with a factor. */
const pricing = (name: string, factor: string) => `import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Plugin, Transaction } from "systole"
import { Pricing } from "../lib/Pricing.ts"
export default Plugin.make({
  name: "${name}",
  version: "1.0.0",
  services: Layer.succeed(Pricing, {
    price: Effect.fn(function*(item) {
      const tx = yield* Transaction
      return Number(tx.get(\`/data/prices/\${item}\`) ?? 5) * ${factor}
    })
  })
})
`

const quote = `import * as Effect from "effect/Effect"
import { Enzyme, Event, Transaction } from "systole"
import { Pricing } from "../lib/Pricing.ts"

const noted = (price: number) => Effect.gen(function*() {
  const tx = yield* Transaction
  const { id } = yield* Event
  tx.set(\`/data/quotes/\${id}\`, price)
  return price
})

const run = Effect.fn(function*(item: string) {
  const { price } = yield* Pricing
  return yield* noted(yield* price(item))
})

export default [
  Enzyme.make({ name: "quote", query: "/signals/quote/:item", services: [Pricing], run: (_tx, event) => run(event.params.item) }),
  Enzyme.make({
    name: "later",
    query: "/signals/later/:item",
    durable: true,
    services: [Pricing],
    run: (tx, event) => Effect.gen(function*() {
      const { price } = yield* Pricing
      const before = yield* price(event.params.item)
      yield* Effect.promise(() => tx.sleep({ beats: 1 }))
      return yield* noted(before + (yield* price(event.params.item)))
    })
  })
]
`

const write = (root: string, files: Readonly<Record<string, string>>): void => {
  for (const [file, text] of Object.entries({ "lib/Pricing.ts": key, "enzymes/quote.ts": quote, ...files })) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
}

const sources = (plugins = "plugins"): Loader.Sources => ({ enzymes: ["enzymes"], plugins: [plugins], required: [], millis: 10_000 })

type Provided = Layer.Success<ReturnType<typeof TestKernel.layer>> | Layer.Success<ReturnType<typeof HostModules.layer>>

/** A runtime that loads its modules from a folder and stores its spaces there, with or without the texts of earlier modules. */
const life = <A, E>(root: string, effect: Effect.Effect<A, E, Provided>, hasTexts = true) => {
  const past = hasTexts ? Restored.layer : Layer.succeed(ModuleRestore, () => Promise.resolve("there is none"))
  return Effect.provide(effect, Layer.fresh(
    TestKernel.layer({}, SqliteFolder.layerIn(join(root, "data"))).pipe(
      Layer.provide(past),
      Layer.provideMerge(HostModules.layer(root).pipe(Layer.provide(HostHash.layer)))
    )
  ))
}

const whole = (space: Space) => space.examine((history) => replay(history, undefined, Infinity))

const asked = Effect.fnUntraced(function*(space: Space, signal: string) {
  const { id } = yield* space.signal({ signal, payload: {} })
  yield* space.step
  return id
})

const opened = Effect.flatMap(Kernel, (kernel) => kernel.space("test", { create: true }))

/** Records quotes of two versions of the plugin, the second one with another factor. */
const recorded = Effect.fnUntraced(function*(root: string) {
  write(root, { "plugins/pricing.ts": pricing("pricing", "2") })
  const first = yield* Loader.register(yield* Loader.load(sources()))
  assert.deepStrictEqual(first.broken, [])
  const space = yield* opened
  const [one, later] = [yield* asked(space, "/signals/quote/tea"), yield* asked(space, "/signals/later/tea")]
  write(root, { "plugins/pricing.ts": pricing("pricing", "3") })
  const second = yield* Loader.reload(first, sources())
  assert.deepStrictEqual(second.broken, [])
  const two = yield* asked(space, "/signals/quote/tea")
  yield* space.step
  assert.deepStrictEqual(yield* Effect.forEach([one, later, two], (id) => space.get(`/data/quotes/${id}`)), [10, 20, 15])
  assert.lengthOf((yield* space.get("/sys/code/services/pricing")) as unknown as ReadonlyArray<string>, 1)
  return space
})

describe("Services of enzymes", () => {
  it.live("replay with the code that ran, also that of a durable run, in the same process and in a new one", () =>
    Effect.gen(function*() {
      const root = yield* SqliteFolder.folder
      yield* life(root, Effect.gen(function*() {
        const { beats, changed, difference, impossible } = yield* whole(yield* recorded(root))
        assert.deepStrictEqual([beats > 3, changed, difference, impossible], [true, [], undefined, undefined])
      }))
      yield* life(root, Effect.gen(function*() {
        yield* Loader.register(yield* Loader.load(sources()))
        const { changed, difference, impossible } = yield* whole(yield* opened)
        assert.deepStrictEqual([changed, difference, impossible], [[], undefined, undefined])
      }))
    }))

  it.live("of a durable run stay those with which it began, also in a new process with others", () =>
    Effect.gen(function*() {
      const root = yield* SqliteFolder.folder
      const begun = (factor: string) => {
        write(root, { "plugins/pricing.ts": pricing("pricing", factor) })
        return Effect.andThen(Effect.flatMap(Loader.load(sources()), Loader.register), opened)
      }
      const id = yield* life(root, Effect.flatMap(begun("2"), (space) => asked(space, "/signals/later/tea")))
      yield* life(root, Effect.gen(function*() {
        const space = yield* begun("3")
        yield* space.step
        const other = yield* asked(space, "/signals/quote/tea")
        assert.deepStrictEqual(yield* Effect.forEach([id, other], (id) => space.get(`/data/quotes/${id}`)), [20, 15])
      }))
    }))

  it.live("of another environment replay with the same answers, and other answers are named", () =>
    Effect.gen(function*() {
      const root = yield* SqliteFolder.folder
      yield* life(root, Effect.gen(function*() {
        write(root, { "plugins/pricing.ts": pricing("pricing", "2") })
        yield* Loader.register(yield* Loader.load(sources()))
        const space = yield* opened
        yield* asked(space, "/signals/quote/tea")
      }))
      write(root, { "same/pricing.ts": pricing("doubled", "(1 + 1)"), "other/pricing.ts": pricing("tripled", "3") })
      const replayed = (plugins: string, hasTexts = false) => life(root, Effect.gen(function*() {
        const { broken } = yield* Loader.register(yield* Loader.load(sources(plugins)))
        return { broken, ...yield* whole(yield* opened) }
      }), hasTexts)
      const same = yield* replayed("same")
      assert.deepStrictEqual([same.broken, same.difference, same.impossible], [[], undefined, undefined])
      assert.deepStrictEqual(same.changed, ["service shop/Pricing"])
      const other = yield* replayed("other")
      assert.deepStrictEqual([other.difference, other.impossible?.code], [undefined, "replay/service"])
      assert.include(other.impossible?.reason, `"shop/Pricing" of the plugin "pricing"`)
      rmSync(join(root, "same"), { recursive: true })
      const none = yield* replayed("same", true)
      assert.deepStrictEqual(none.broken.map(({ code }) => code), ["module/broken", "service/absent", "service/absent"])
      assert.deepStrictEqual([none.changed, none.difference, none.impossible], [[], undefined, undefined])
    }))
})
