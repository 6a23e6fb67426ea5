import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { Enzyme, Plugin } from "systole"
import agent from "systole/plugins/agent"
import * as Loader from "../../src/loader/Loader.ts"
import * as ManifestModules from "../../src/main/module/ManifestModules.ts"

const enzymeOf = (name: string) => Enzyme.make({ name, query: `/signals/${name}`, run: () => 1 })

const plugin = (name: string, more: Partial<Plugin.Definition>) =>
  Plugin.make({ name, version: "1.0.0", provides: {}, enzymes: [enzymeOf(name)], ...more })

/** The enzymes of a project with these plugins, and the reasons of the refused plugins. */
const load = (...plugins: ReadonlyArray<Plugin.Plugin>) =>
  Loader.load({ enzymes: ["enzymes"], plugins: ["plugins"], required: ["agent"], millis: 10_000, commands: ["cell", "agent"] }).pipe(
    Effect.provide(Layer.fresh(ManifestModules.layer(Object.fromEntries([
      ["enzymes/own.ts", { module: enzymeOf("own"), hash: "own" }] as const,
      ["systole/plugins/agent", { module: agent, hash: "agent" }] as const,
      ...plugins.map((module, i) => [`plugins/p${i}.ts`, { module, hash: `p${i}` }] as const)
    ])))),
    Effect.map(({ broken, enzymes }) => ({
      enzymes: enzymes.map(({ enzyme }) => enzyme.name).filter((name) => !/^(?:agent|heartbeat)_/.test(name)).toSorted(),
      refused: broken.map(({ message }) => message)
    }))
  )

const settings = Schema.Struct({ greeting: Schema.String })

describe("A plugin that declares what there is already", () => {
  it.effect("is refused by name, and the others and the enzymes of the project run", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* load(plugin("ann", { commands: { greet: "greet.ts" }, settings, reserved: ["/signals/ann/"] })), {
        enzymes: ["ann", "own"], refused: []
      })
      const { enzymes, refused } = yield* load(
        plugin("ann", { commands: { greet: "greet.ts" } }),
        plugin("bob", { commands: { cell: "cell.ts" } }),
        plugin("cid", { commands: { greet: "greet.ts" } }),
        plugin("dan", { commands: { agent: "agent.ts" } })
      )
      assert.deepStrictEqual(enzymes, ["ann", "own"])
      assert.deepStrictEqual(refused.map((message) => message.replace(/^.*?the plugin/, "the plugin")), [
        `the plugin "bob" declares the command "cell", which the command line has. Rename it`,
        `the plugin "cid" declares the command "greet", which the plugin "ann" in plugins/p0.ts has. Rename it`,
        `the plugin "dan" declares the command "agent", which the command line has. Rename it`
      ])
    }))

  it.effect("has no settings in a field of the runtime, or of another plugin", () =>
    Effect.gen(function*() {
      const { enzymes, refused } = yield* load(plugin("port", { settings }), plugin("ann", { settings }), plugin("ann", { settings }))
      assert.deepStrictEqual(enzymes, ["ann", "own"])
      assert.lengthOf(refused, 2)
      assert.include(refused[0], `plugins/p0.ts`)
      assert.include(refused[0], `the plugin "port" declares settings, and the field "port" of the configuration is that of the runtime`)
      assert.include(refused[1], `the plugin "ann" declares settings, and the field "ann" of the configuration is that of the plugin "ann"`)
    }))

  it.effect("reserves no signals of another plugin, not even a part of them", () =>
    Effect.gen(function*() {
      const { enzymes, refused } = yield* load(
        plugin("ann", { reserved: ["/signals/heartbeat/"] }),
        plugin("bob", { reserved: ["/signals/bob/"] }),
        plugin("cid", { reserved: ["/signals/bob/paid/"] })
      )
      assert.deepStrictEqual(enzymes, ["bob", "own"])
      assert.lengthOf(refused, 2)
      assert.include(refused[0], `the plugin "ann" reserves the signals /signals/heartbeat/, and the plugin "agent" in systole/`)
      assert.include(refused[1], `the plugin "cid" reserves the signals /signals/bob/paid/`)
    }))

  it.effect("provides no transport of another plugin", () =>
    Effect.gen(function*() {
      const provides = { transports: { tcp: () => assert.fail("it is not made") } }
      const { enzymes, refused } = yield* load(plugin("ann", { provides }), plugin("bob", { provides }))
      assert.deepStrictEqual(enzymes, ["ann", "own"])
      assert.deepStrictEqual(refused.map((message) => message.replace(/^.*?the plugin/, "the plugin")), [
        `the plugin "bob" provides the transport "tcp", which the plugin "ann" in plugins/p0.ts has. Rename it`
      ])
    }))

  it("is no plugin with a command, settings or signals in another form", () => {
    const refusal = (more: object): string => {
      try {
        plugin("ann", more)
        return "accepted"
      } catch (error) {
        return (error as Error).message
      }
    }
    assert.include(refusal({ commands: { "Greet all": "greet.ts" } }), `its command "Greet all" is no name`)
    assert.include(refusal({ commands: { greet: () => {} } }), `its command "greet" has no module`)
    assert.include(refusal({ settings: { greeting: "text" } }), "its settings are no Schema")
    for (const beginning of ["/CEP:sig_", "/signals/", "/signals/ann", "ann/"]) {
      assert.include(refusal({ reserved: [beginning] }), `it reserves "${beginning}"; write a beginning such as "/signals/ann/"`)
    }
  })
})
