import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Computation, Enzyme } from "systole"
import { ModuleRestore, type RestoredModule } from "../../src/kernel/model/ModuleRestore.ts"
import * as Loader from "../../src/loader/Loader.ts"
import * as Restored from "../../src/loader/Restored.ts"
import { ModuleBroken, ModuleHost } from "../../src/loader/ModuleHost.ts"
import * as ManifestModules from "../../src/main/module/ManifestModules.ts"

const enzyme = Enzyme.make({ name: "count", query: "/signals/count", run: () => 1 })
const plugin = (name: string, provides = {}) => ({ _tag: "Plugin", name, version: "1.0.0", provides, enzymes: [] })
const loaded = (module: unknown, hostImports: ReadonlyArray<string> = []) =>
  ({ file: "enzymes/a.ts", hash: "h", module, text: "t", hostImports })

const load = (modules: Readonly<Record<string, unknown>>, sources: Partial<Loader.Sources> = {}) =>
  Loader.load({ enzymes: ["enzymes"], plugins: ["plugins"], required: [], millis: 10_000, ...sources }).pipe(
    Effect.provide(Layer.fresh(ManifestModules.layer(
      Object.fromEntries(Object.entries(modules).map(([file, module]) => [file, { module, hash: `hash of ${file}` }]))
    )))
  )

const refusalOf = (module: unknown, hostImports: ReadonlyArray<string> = []): string => {
  const result = Loader.decode(loaded(module, hostImports))
  return Result.isFailure(result) ? result.failure.message : "accepted"
}

describe("Loader", () => {
  describe("isModule", () => {
    it("takes modules and leaves tests, declarations, dot files and what is set aside", () => {
      const names = ["a.ts", "b.js", "c.mjs", "_d.ts", ".e.ts", "f.test.ts", "g.d.ts", "h.json", "i.spec.js", "README.md"]
      assert.deepStrictEqual(names.filter(Loader.isModule), ["a.ts", "b.js", "c.mjs"])
    })
  })

  describe("decode", () => {
    it("takes an enzyme, a raw definition, and an array of both", () => {
      const raw = { name: "raw", query: "/signals/raw", run: () => 2 }
      const names = (module: unknown) => Result.getOrThrow(Loader.decode(loaded(module))).enzymes.map((found) => found.enzyme.name)
      assert.deepStrictEqual(names(enzyme), ["count"])
      assert.deepStrictEqual(names(raw), ["raw"])
      assert.deepStrictEqual(names([enzyme, raw]), ["count", "raw"])
    })

    it("takes nodes beside enzymes, and none that would not derive the same on every host", () => {
      const node = Computation.make({ name: "double", output: "/data/double", run: (tx) => Number(tx.get("/data/one")) * 2 })
      const found = Result.getOrThrow(Loader.decode(loaded([enzyme, node])))
      assert.deepStrictEqual([found.enzymes.length, found.nodes.map((found) => found.node.name)], [1, ["double"]])
      assert.include(refusalOf(node, ["node:fs"]), "node:fs")
    })

    it("takes a plugin with its enzymes", () => {
      const found = Result.getOrThrow(Loader.decode(loaded({ ...plugin("extra"), enzymes: [enzyme] })))
      assert.deepStrictEqual(found.plugins.map((item) => item.plugin.name), ["extra"])
      assert.deepStrictEqual(found.enzymes.map((item) => item.enzyme.name), ["count"])
    })

    it("says what is wrong with anything else", () => {
      assert.include(refusalOf(undefined), "no default export")
      assert.include(refusalOf(7), "type number")
      assert.include(refusalOf({ name: "x", query: "/signals/x" }), "no run function")
      assert.include(refusalOf({ name: "x", query: "/signals/x", run: () => 1, qurey: 1 }), "qurey")
      assert.include(refusalOf({ ...plugin("extra"), provides: { weather: () => 1 } }), "weather")
      assert.include(refusalOf({ ...plugin("extra"), enzymes: 3 }), "enzymes/a.ts")
    })

    it("refuses host imports of an enzyme that is not trusted", () => {
      assert.include(refusalOf(enzyme, ["node:fs"]), "node:fs")
      assert.strictEqual(refusalOf({ name: "x", query: "", run: () => 1, trusted: true }, ["node:fs"]), "accepted")
      assert.strictEqual(refusalOf(plugin("extra"), ["node:fs"]), "accepted")
    })
  })

  describe("load", () => {
    it.effect("loads each folder in the order of its names", () =>
      Effect.gen(function*() {
        const other = { name: "other", query: "", run: () => 1 }
        const found = yield* load({ "enzymes/b.ts": enzyme, "enzymes/a.ts": other, "enzymes/_c.ts": 1, "plugins/p.ts": plugin("extra") })
        assert.deepStrictEqual(found.enzymes.map((item) => [item.file, item.hash]), [
          ["enzymes/a.ts", "hash of enzymes/a.ts"],
          ["enzymes/b.ts", "hash of enzymes/b.ts"]
        ])
        assert.deepStrictEqual(found.plugins.map((item) => item.plugin.name), ["extra"])
        assert.deepStrictEqual(found.broken, [])
      }))

    it.effect("reports a broken module and keeps the others", () =>
      Effect.gen(function*() {
        const found = yield* load({ "enzymes/a.ts": undefined, "enzymes/b.ts": enzyme })
        assert.deepStrictEqual(found.broken.map((broken) => broken.file), ["enzymes/a.ts"])
        assert.deepStrictEqual(found.enzymes.map((item) => item.file), ["enzymes/b.ts"])
      }))

    it.effect("leaves out a module whose top level never settles once its limit is over, by its name, and loads the others meanwhile", () =>
      Effect.gen(function*() {
        const files = ["a.ts", "b.ts", "stuck.ts", "stuck_too.ts"]
        const host = Layer.mock(ModuleHost, {
          changes: Stream.empty,
          files: (folder) => Effect.succeed(folder === "enzymes" ? files : undefined),
          load: (file) => file.includes("stuck") ? Effect.never : Effect.succeed({ ...loaded({ ...enzyme, name: file.slice(8, 9) }), file })
        })
        const sources = { enzymes: ["enzymes"], plugins: ["plugins"], required: [], millis: 500 }
        const loading = yield* Effect.forkChild(Loader.load(sources).pipe(Effect.provide(host)), { startImmediately: true })
        yield* TestClock.adjust(500)
        const found = yield* Fiber.join(loading)
        assert.deepStrictEqual(found.enzymes.map((item) => item.file), ["enzymes/a.ts", "enzymes/b.ts"])
        assert.deepStrictEqual(found.broken.map(({ file }) => file), ["enzymes/stuck.ts", "enzymes/stuck_too.ts"])
        assert.include(found.broken[0]!.message, "did not settle within 500 ms")
      }), 5000)

    it.effect("reports a folder that the configuration names and that is not there", () =>
      Effect.gen(function*() {
        const found = yield* load({}, { enzymes: ["enzymes", "reactions"] })
        assert.deepStrictEqual(found.broken.map((broken) => broken.file), ["reactions"])
      }))

    it.effect("takes the runtime's own plugin unless the project has one of that name", () =>
      Effect.gen(function*() {
        const own = { "systole/plugins/store": plugin("store") }
        const alone = yield* load(own, { required: ["store"] })
        assert.deepStrictEqual(alone.plugins.map((item) => item.file), ["systole/plugins/store"])
        const replaced = yield* load({ ...own, "plugins/mine.ts": plugin("store") }, { required: ["store"] })
        assert.deepStrictEqual(replaced.plugins.map((item) => item.file), ["plugins/mine.ts"])
      }))
  })

  describe("restore", () => {
    /** Returns the result of a module that the host restores from a text. */
    const restored = (answer: ReturnType<ModuleHost["Service"]["restore"]>) =>
      Effect.provide(Effect.gen(function*() {
        const restore = yield* ModuleRestore
        return yield* Effect.promise(() => restore("h", "t"))
      }), Restored.layer.pipe(Layer.provide(Layer.mock(ModuleHost, { changes: Stream.empty, restore: () => answer }))))

    const names = (found: RestoredModule | string) =>
      typeof found === "string" ? found : [...found.enzymes, ...found.nodes].map(({ name }) => name)

    it.effect("gives a module's enzymes and nodes, a plugin's too", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(
          names(yield* restored(Effect.succeed(loaded([enzyme, { name: "x", query: "", run: () => 1 }])))),
          ["count", "x"]
        )
        assert.deepStrictEqual(names(yield* restored(Effect.succeed(loaded({ ...plugin("extra"), enzymes: [enzyme] })))), ["count"])
        const double = Computation.make({ name: "double", output: "/data/double", run: (tx) => Number(tx.get("/data/one")) * 2 })
        assert.deepStrictEqual(names(yield* restored(Effect.succeed(loaded(double)))), ["double"])
      }))

    it.effect("says why it cannot", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* restored(Effect.fail(new ModuleBroken({ file: "f", reason: "no luck" }))), "no luck")
        assert.include(yield* restored(Effect.succeed(loaded(7))), "type number")
        const waiting = yield* Effect.forkChild(restored(Effect.never), { startImmediately: true })
        yield* TestClock.adjust("10 seconds")
        assert.include(yield* Fiber.join(waiting), "did not settle within 10000 ms")
      }))
  })

  describe("persistence", () => {
    it.effect("finds the provider, and names what is missing", () =>
      Effect.gen(function*() {
        const provider = () => Layer.empty as never
        const found = yield* load({ "plugins/a.ts": plugin("store", { persistence: provider }), "plugins/b.ts": plugin("bare") })
        assert.strictEqual(yield* Loader.persistence(found, "store"), provider)
        assert.include((yield* Effect.flip(Loader.persistence(found, "bare"))).message, "provides no persistence")
        assert.include((yield* Effect.flip(Loader.persistence(found, "absent"))).message, "\"absent\"")
      }))
  })
})
