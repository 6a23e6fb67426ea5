import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { terminal } from "./Terminal.ts"

/** A plugin with these further fields, and the layers of services that they take. */
const plugin = (name: string, fields: string): string => `import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Plugin } from "systole"

class Prices extends Context.Service<Prices, object>()("shop/Prices") {}
class Taxes extends Context.Service<Taxes, object>()("shop/Taxes") {}
export const used = [Effect, Layer, Schema, Prices, Taxes]

export default Plugin.make({ name: "${name}", version: "1.0.0", ${fields} })
`

/** The fields of each refused plugin, and the sentence that refuses it. */
const refused = {
  command: [`commands: { cell: "cell.ts" }`, `the plugin "command" declares the command "cell", which the command line has`],
  port: [`settings: Schema.Struct({})`, `the plugin "port" declares settings, and the field "port" of the configuration is that of the`],
  reserves: [`reserved: ["/signals/ann/paid/"]`, `the plugin "reserves" reserves the signals /signals/ann/paid/, and the plugin "ann"`],
  second: [`services: Layer.succeed(Prices, {})`, `the plugin "second" are refused: it provides "shop/Prices", which the plugin "ann"`],
  failing: [`services: Layer.effect(Taxes, Effect.fail(new Error("no law")))`, `the plugin "failing" are refused: its layer fails: no law`],
  hanging: [`services: Layer.effect(Taxes, Effect.never)`, `the plugin "hanging" are refused: its layer is not built within 400 ms`],
  silent: [`telemetry: Layer.effectDiscard(Effect.never)`, `the telemetry of plugin "silent" (plugins/silent.ts) is left out`]
} as const

describe("A plugin that is refused at the start of a server", () => {
  it.live("is named, and the other plugins and the enzymes run", () => {
    const files = {
      "systole.config.ts": "export default { spaces: { create: 'on-demand' }, limits: { serviceMillis: 400, moduleMillis: 2000 } }\n",
      "enzymes/greet.ts": "export default { name: 'greet', query: '/signals/greet', run: () => 'hello' }\n",
      "plugins/ann.ts": plugin("ann", `reserved: ["/signals/ann/"], services: Layer.succeed(Prices, {})`),
      ...Object.fromEntries(Object.entries(refused).map(([name, [fields]]) => [`plugins/${name}.ts`, plugin(name, fields)]))
    }
    return Effect.flatMap(terminal(files), ({ json, serve }) =>
      Effect.promise(async () => {
        const { stop, told } = await serve("start")
        for (const [, sentence] of Object.values(refused)) await told(sentence)
        const { handlings } = await json("signal", "shop", "--signal", "/signals/greet", "--wait", "60") as {
          readonly handlings: ReadonlyArray<{ readonly value: unknown }>
        }
        assert.deepStrictEqual(handlings.map(({ value }) => value), ["hello"])
        const { code, stderr } = await stop("SIGTERM")
        assert.notInclude(stderr, `the plugin "ann" are refused`)
        assert.strictEqual(code, 0)
      }))
  })
})
