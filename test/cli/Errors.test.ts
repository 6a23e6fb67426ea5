import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { hosts } from "../scripts/Host.ts"
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

const broken = {
  "enzymes/failing.ts": "interface Item {\n  readonly price: number\n}\n\nexport const items: ReadonlyArray<Item> = JSON.parse(`[`)\n",
  "enzymes/malformed.ts": `export { add as default } from "../lib/malformed.ts"\n`,
  "lib/malformed.ts": "export const add = (item: string) => {\n  return item +\n}\n",
  "enzymes/absent.ts": `import { tax } from "./tax.ts"\n\nexport default () => tax\n`
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
        const { code, stderr } = await spawned("start")
        assert.strictEqual(code, 2)
        assert.include(stderr, "ingress /hooks/stripe has a secret that is not set. Set its variable to the secret of the sender")
        assert.include(stderr, ". It reads the variable STRIPE_SECRET, which is not set. See to systole.config.ts")
      })))

  it.live("is enough for a command that serves nobody, without the tokens and secrets of its server", () =>
    Effect.flatMap(terminal({ "systole.config.ts": hooks.replace("port,", `port, host: "0.0.0.0", labels: {
      cells: {}, readers: { web: { clearance: [] } }
    },`) }), ({ spawned }) => Effect.promise(async () => {
      for (const command of [["space", "create", "shop"], ["space", "ls"], ["enzyme", "ls"]]) {
        const { code, stderr } = await spawned(...command)
        assert.strictEqual(code, 0, stderr)
      }
      const { code, stderr } = await spawned("start")
      assert.strictEqual(code, 2)
      assert.include(stderr, "config/invalid")
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
            "\"effect\" has no export \"Schemata\" (enzymes/names.ts:4:10)\n" +
            names.split("\n").slice(0, 4).map((line, i) => `    ${i + 1} | ${line}\n`).join("")
        )
      })))
})

const ORDER = ["--signal", "/signals/order", "--payload", `{"item":"tea"}`, "--wait", "60"]
const NEAR = `if (item === undefined) throw new RangeError("no such item")`

describe("An error thrown by a module", () => {
  it.live("is printed with its message, file, line and source line, and with its stack on request", () =>
    Effect.flatMap(terminal(files), ({ run, write }) =>
      Effect.promise(async () => {
        const send = () => run("signal", "shop", ...ORDER)
        const { stderr } = await send()
        const [line, source] = stderr.split("\n")
        const told = /^sev:crit run\/dead shop@\d+ order: order gave up .*: RangeError: no such item at lib\/price\.ts:6:\d+ \(run\/f/
        assert.match(line!, told)
        assert.strictEqual(source, `    6 | ${NEAR}`)
        assert.notInclude(stderr, "    at ")
        process.env["SYSTOLE_DEBUG"] = "1"
        const debug = await send().finally(() => delete process.env["SYSTOLE_DEBUG"])
        assert.match(debug.stderr, /RangeError: no such item\n.*lib\/price\.ts:6:\d+\)?\n.*enzymes\/order\.ts:12:\d+/)
        // A failed node is printed in the same way.
        const pulled = await run("cell", "get", "shop", "/data/total", "--pull")
        assert.match(
          pulled.stderr,
          /^sev:crit node\/failed shop@\d+ total: total failed, .*: no total of \S+ at enzymes\/total\.ts:8:\d+ .*\n {4}8 \| throw/m
        )
        write("enzymes/broken.ts", `const x: string | undefined = undefined\n\nexport default x!.length\n`)
        const failing = /enzymes\/broken\.ts.* at enzymes\/broken\.ts:3:\d+\n {4}3 \| export default x!\.length$/m
        assert.match((await run("enzyme", "ls")).stderr, failing)
      })))

  it.live("is in the receipt and in the dead letter with its place and source line, under systole dev alone", () =>
    Effect.flatMap(terminal(files), ({ json, run, serve }) =>
      Effect.promise(async () => {
        const send = async () => {
          const { stderr, stdout } = await run("signal", "shop", ...ORDER)
          const [, id] = /^dead (\S+)$/m.exec(stdout) ?? []
          return { id: id!, stdout, stderr }
        }
        const at = /^lib\/price\.ts:6:\d+$/
        const server = await serve("dev")
        const { id, stderr, stdout } = await send()
        assert.match(stdout, /^ {2}at lib\/price\.ts:6:\d+\n {4}6 \| if \(item/m)
        assert.match(stderr, /gave it up: no such item at lib\/price\.ts:6:\d+\./)
        const answer = await fetch(`${server.url}/v1/spaces/shop/receipts/${id}`)
        const receipt = await answer.json() as { readonly handlings: ReadonlyArray<{ readonly error: Readonly<Record<string, string>> }> }
        const { error } = receipt.handlings[0]!
        const { place, ...rest } = error
        assert.match(place!, at)
        assert.deepStrictEqual(rest, { tag: "RangeError", code: "run/failed", message: "no such item", source: NEAR })
        const letter = await json("dead", "show", "shop", id, "order") as Readonly<Record<string, string>>
        assert.match(letter["place"]!, at)
        assert.strictEqual(letter["source"], NEAR)
        await server.stop("SIGTERM")
        // The receipt is in the journal.
        assert.match((await json("dead", "show", "shop", id, "order") as Readonly<Record<string, string>>)["place"]!, at)
        const other = await send()
        assert.notInclude(other.stdout, "price.ts")
        assert.notInclude(JSON.stringify(await json("dead", "show", "shop", other.id, "order")), "price.ts")
      })))

  it.live.each(hosts)("is told with its place and its source line on %s", (host) =>
    Effect.flatMap(terminal({ ...files, ...broken }), ({ spawnedOn }) =>
      Effect.promise(async () => {
        const { stderr } = await spawnedOn(host, "signal", "shop", ...ORDER)
        for (const told of [
          /order gave up .* at lib\/price\.ts:6:\d+ \(run\/failed\)\n {4}6 \| if \(item === undefined\) throw/,
          // Its types are gone when it is loaded.
          /failing\.ts is not loaded: .*SyntaxError.* at enzymes\/failing\.ts:5:\d+\n {4}5 \| export const items: Readonly/,
          /malformed\.ts is not loaded: lib\/malformed\.ts:3:1: .*\n {4}3 \| }\n/,
          /absent\.ts is not loaded: enzymes\/absent\.ts:1:\d+: Could not resolve .*\n {4}1 \| import { tax }/
        ]) assert.match(stderr, told)
      })))

  it.live("in the configuration is told by the command with its source line", () =>
    Effect.flatMap(terminal({ "systole.config.ts": "export default {\n  port: 4200,\n  data: ,\n}\n" }), ({ run }) =>
      Effect.promise(async () => {
        const { code, stderr } = await run("space", "ls")
        assert.strictEqual(code, 2)
        assert.match(stderr, /systole\.config\.ts:3:9: .* \(module\/broken\)\n {4}3 \| data: ,\n$/)
      })))
})
