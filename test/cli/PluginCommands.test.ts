import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { terminal } from "./Terminal.ts"

const files = {
  "systole.config.ts": `export default { greeter: { greeting: "hello" }, environments: { loud: { greeter: { greeting: "HELLO" } } } }\n`,
  "plugins/greeter.ts": `import * as Schema from "effect/Schema"
import { Enzyme, Plugin } from "systole"

declare module "systole" {
  interface PluginSettings {
    readonly greeter: { readonly greeting: string }
  }
}

export default Plugin.make({
  name: "greeter",
  version: "1.0.0",
  provides: {},
  enzymes: [Enzyme.make({ name: "greeted", query: "/signals/greeted", run: () => 1 })],
  commands: { greet: "greeter/greet.ts" },
  settings: Schema.Struct({ greeting: Schema.String })
})
`,
  "plugins/greeter/greet.ts": `import * as Effect from "effect/Effect"
import { Argument, Client, Command, CliFailure, defineCommand, exits, Output, pluginSettings } from "systole/cli"

export default defineCommand(
  Command.make("greet", { name: Argument.String("name"), json: Output.json }, ({ json, name }) => Effect.gen(function*() {
    if (name === "nobody") return yield* new CliFailure({ exit: exits.absent, code: "greet/absent", message: "Nobody is there" })
    const { greeting = "" } = (yield* pluginSettings("greeter")) ?? {}
    const client = yield* Client
    const { enzymes } = yield* client.ask<{ readonly enzymes: ReadonlyArray<unknown> }>("/v1/enzymes")
    yield* Output.data(json, { greeting, name, enzymes: enzymes.length }, greeting + ", " + name)
  })).pipe(Command.withDescription("Greet a person"), Command.provide(Client.layer))
)
`
}

/** The module of the command. */
const MODULE = "plugins/greeter/greet.ts"

describe("A command of a project's plugin", () => {
  it.live("runs with the settings of its plugin, and stands in the help", () =>
    Effect.flatMap(terminal(files), ({ spawned }) => Effect.promise(async () => {
      assert.deepStrictEqual(await spawned("greet", "ann"), { code: 0, stdout: "hello, ann\n", stderr: "" })
      const loud = await spawned("--env", "loud", "greet", "ann", "--json")
      assert.strictEqual(loud.stdout, `{"greeting":"HELLO","name":"ann","enzymes":1}\n`)
      assert.deepStrictEqual(await spawned("greet", "nobody"), { code: 3, stdout: "", stderr: "Nobody is there (greet/absent)\n" })
      const help = (await spawned("--help")).stdout
      assert.match(help, /greet +Greet a person/)
      assert.match(help, /agent +Run the actions of a control file/)
      assert.strictEqual((await spawned("grete", "ann")).code, 2)
    })))

  it.live("is told where its module is no such command, or its settings do not fit", () =>
    Effect.flatMap(terminal({ ...files, [MODULE]: "export default 7" }), ({ spawned, write }) => Effect.promise(async () => {
      const other = await spawned("greet", "ann")
      assert.strictEqual(other.code, 2)
      assert.include(other.stderr, `plugins/greeter/greet.ts is not loaded: it is the module of the command "greet" of a plugin`)
      write("systole.config.ts", "export default { greeter: { greeting: 7 } }\n")
      const misfit = await spawned("enzyme", "ls")
      assert.strictEqual(misfit.code, 2)
      assert.include(misfit.stderr, "greeter.greeting is 7; give a string")
      write("systole.config.ts", "export default { gretter: {} }\n")
      assert.match((await spawned("enzyme", "ls")).stderr, /there is no field "gretter"; .*Did you mean greeter\?/)
    })))

  it.live("is refused by name where it has the name of another one, and the rest runs", () =>
    Effect.flatMap(terminal({
      ...files,
      "plugins/later.ts": files["plugins/greeter.ts"].replaceAll("greeter", "later").replaceAll("greeted", "late")
    }), ({ spawned }) => Effect.promise(async () => {
      const { code, stderr, stdout } = await spawned("enzyme", "ls")
      assert.strictEqual(code, 0)
      assert.include(stdout, "greeted")
      assert.notInclude(stdout, "late")
      assert.include(stderr, `the plugin "later" declares the command "greet", which the plugin "greeter" in plugins/greeter.ts has`)
      assert.strictEqual((await spawned("greet", "ann")).stdout, "hello, ann\n")
    })))
})

describe("systole agent", () => {
  it.live("works before there is a configuration, and beside one that is refused", () =>
    Effect.flatMap(terminal({}), ({ spawned, write }) => Effect.promise(async () => {
      assert.strictEqual((await spawned("agent", "init")).code, 0)
      write("systole.config.ts", "export default { prot: 1 }\n")
      assert.include((await spawned("agent", "--help")).stdout, "Run the actions of a control file, heartbeat.md")
      assert.strictEqual((await spawned("agent", "fmt")).code, 2)
    })))
})
