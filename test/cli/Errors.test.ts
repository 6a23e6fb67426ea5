import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { terminal } from "./Terminal.ts"

const files = {
  "systole.config.ts": `export default { spaces: { create: "on-demand" } }\n`,
  "lib/price.ts": "interface Item {\n  readonly price: number\n}\n\nexport const price = (item: Item | undefined): number => {\n  if " +
    `(item === undefined) throw new RangeError("no such item")\n  return item.price\n}\n`,
  "enzymes/order.ts": `import { Enzyme } from "systole"
import { price } from "../lib/price.ts"

type Payload = { readonly item: string }

export default Enzyme.make({
  name: "order",
  query: "/signals/order",
  run: (tx, event) => {
    const { item } = event.payload as Payload
    tx.set("/data/order", item)
    const cost = price(undefined)
    tx.set("/data/cost", cost)
  }
})
`,
  "enzymes/total.ts": `import { Computation } from "systole"

export default Computation.make({
  name: "total",
  output: "/data/total",
  run: (tx) => {
    const order: unknown = tx.get("/data/order")
    throw new TypeError("no total of " + String(order))
  }
})
`
}

const names = `import { Enzym, Enzyme } from "systole"
import http, { other } from "systole/plugins/http"
import { tail } from "node:path"
import { Schemata } from "effect"
export default Enzyme.make({ name: "names", query: "", trusted: true, run: () => String([Enzym, http, other, tail, Schemata]) })
`

const hooks = `import process from "node:process"
import { defineConfig, webhook } from "systole"

const { port = 4200 } = { port: Number(process.env.SHOP_PORT ?? 4200) }

export default defineConfig({
  port,
  ingress: { "/hooks/stripe": webhook({ scheme: "stripe", secret: process.env["STRIPE_SECRET"], signal: "/signals/paid" }) }
})
`

describe("A configuration", () => {
  it.live("that lacks a value is refused with the unset variables that it reads", () =>
    Effect.flatMap(terminal({ "systole.config.ts": hooks }), ({ spawned }) =>
      Effect.promise(async () => {
        const { code, stderr } = await spawned("space", "ls")
        assert.strictEqual(code, 2)
        assert.include(stderr, "ingress /hooks/stripe has a secret that is not set. Set its variable to the secret of the sender")
        assert.include(stderr, ". It reads the variable STRIPE_SECRET, which is not set. See to systole.config.ts")
      })))

  it.live("with an unknown option of a channel is refused with the nearest one", () =>
    Effect.flatMap(
      terminal({ "systole.config.ts": "export default { channels: { web: { use: \"http\", options: { allwo: [] } } } }\n" }),
      ({ spawned }) => Effect.promise(async () => {
        const { code, stderr } = await spawned("space", "ls")
        assert.strictEqual(code, 2)
        assert.match(stderr, /options of channel "web" are refused: its field "allwo" is unknown; .*\. Did you mean allow\?/)
      })
    ))
})

describe("Names that no module exports", () => {
  it.live("are told together, with the places in the project", () =>
    Effect.flatMap(terminal({ "enzymes/names.ts": names }), ({ spawned }) =>
      Effect.promise(async () => {
        const { stderr } = await spawned("enzyme", "ls")
        assert.strictEqual(
          stderr,
          "sev:crit module/broken: Module enzymes/names.ts is not loaded: it fails while it is loaded: " +
            "\"systole\" has no export \"Enzym\" (enzymes/names.ts:1:10); " +
            "\"systole/plugins/http\" has no export \"other\" (enzymes/names.ts:2:16); " +
            "\"node:path\" has no export \"tail\" (enzymes/names.ts:3:10); " +
            "\"effect\" has no export \"Schemata\" (enzymes/names.ts:4:10)\n"
        )
      })))
})

describe("An error thrown by a module", () => {
  it.live("is printed with its message, file and line, and with its stack on request", () =>
    Effect.flatMap(terminal(files), ({ run, write }) =>
      Effect.promise(async () => {
        const send = () => run("signal", "shop", "--signal", "/signals/order", "--payload", `{"item":"tea"}`, "--wait", "60")
        const { stderr } = await send()
        assert.match(
          stderr,
          /^sev:crit run\/dead shop@\d+ order: order gave up .*: RangeError: no such item at lib\/price\.ts:6:\d+ \(run\/failed\)$/m
        )
        assert.notInclude(stderr, "    at ")
        process.env["SYSTOLE_DEBUG"] = "1"
        const debug = await send().finally(() => delete process.env["SYSTOLE_DEBUG"])
        assert.match(debug.stderr, /RangeError: no such item\n.*lib\/price\.ts:6:\d+\)?\n.*enzymes\/order\.ts:12:\d+/)
        // A failed node is printed in the same way.
        const pulled = await run("cell", "get", "shop", "/data/total", "--pull")
        assert.match(
          pulled.stderr,
          /^sev:crit node\/failed shop@\d+ total: total failed, .*: no total of \S+ at enzymes\/total\.ts:8:\d+ \(run\/failed\)$/m
        )
        write("enzymes/broken.ts", `const x: string | undefined = undefined\n\nexport default x!.length\n`)
        assert.match((await run("enzyme", "ls")).stderr, /enzymes\/broken\.ts.* at enzymes\/broken\.ts:3:\d+/)
      })))
})
