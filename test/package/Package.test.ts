import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { build } from "esbuild"
import { join } from "node:path"
import * as Browser from "../examples/Browser.ts"
import * as Edge from "../runtime/Edge.ts"
import * as Server from "../scripts/Server.ts"
import type { Project } from "./Project.ts"
import { node } from "../scripts/Host.ts"
import type { Ended } from "../scripts/Process.ts"
import { COMMAND, create } from "./Project.ts"

const enzyme = `
import { Enzyme } from "systole"

export default Enzyme.make({
  name: "greet",
  query: "/signals/greet/:who",
  writes: ["/data/greetings/*"],
  run: (tx, event) => {
    tx.increment(\`/data/greetings/\${event.params.who}#/times\`)
    return tx.get(\`/data/greetings/\${event.params.who}\`)
  }
})
`

const config = `
import { defineConfig } from "systole"

export default defineConfig({ persistence: "sqlite" })
`

interface PackageFile {
  readonly scripts: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

/** The errors of the compiler by their files: of those, and of no others, that are wrong on purpose. */
const errorsOf = ({ output }: Ended): Readonly<Record<string, string>> => {
  const errors: Record<string, string> = {}
  for (const [line, file = ""] of output.matchAll(/^([^\s(]*).*(?:\n +.*)*/gm)) if (line !== "") errors[file] = (errors[file] ?? "") + line
  return errors
}

describe("package", () => {
  let project: Project | undefined

  beforeAll(async () => {
    project = await create()
  })
  afterAll(() => project?.end())
  const installed = (): Project => project!

  /** The commands that a new project prints. */
  const stepsOf = async (name: string, template: string): Promise<ReadonlyArray<string>> =>
    [...(await installed().command("new", "project", name, "--template", template)).matchAll(/^\d\. (.*)$/gm)].map(([, step]) => step!)

  /** Runs a printed command in a project, whose packages lie above it. */
  const byHand = async (name: string, line: string): Promise<string> => {
    assert.match(line, /^npx systole /)
    return installed().commandIn(name, ...line.split(" ").slice(2))
  }

  /** Runs a project under `dev`. */
  const served = async (name: string, use: (url: string) => Promise<void>): Promise<void> => {
    const folder = join(installed().folder, name)
    const line = [node(), join(installed().folder, COMMAND), "dev", "--port", "0"]
    const server = await Server.start(folder, ".data", { line, told: () => undefined })
    try {
      await use(server.url)
    } finally {
      await server.end("SIGTERM")
    }
  }

  it("contains JavaScript, types and a licence, but no tests", () => {
    for (const file of [
      "package.json", "LICENSE", "dist/src/index.js", "dist/src/index.d.ts", "dist/command/systole.js", "dist/plugins/sqlite.js",
      "dist/command/testing.js", "dist/src/main/testing/index.d.ts", "dist/enzymes/rv_init.js", "dist/enzymes/rv_route.d.ts",
      "src/index.ts",
      "dist/plugins/http.js", "dist/plugins/http/HttpChannel.d.ts", "dist/plugins/webhook-out.js",
      "dist/command/plugins/webhook-out.js",
      "dist/plugins/shell.js", "dist/plugins/channel/Jail.js", "dist/command/plugins/shell.js", "plugins/shell.ts",
      "plugins/channel/Jail.ts"
    ]) assert.include(installed().packed, file)
    assert.deepStrictEqual(installed().packed.filter((file) => /(^|\/)(test|node_modules)\//.test(file) || file.endsWith(".test.ts")), [])
  })

  it("runs an enzyme in a project without other dependencies", async () => {
    await installed().write("systole.config.ts", config)
    await installed().write("enzymes/greet.ts", enzyme)
    const systole = async (...args: ReadonlyArray<string>): Promise<string> => {
      const { code, output } = await installed().node("node_modules/systole/dist/command/systole.js", ...args, "--json")
      assert.strictEqual(code, 0, output)
      return output
    }
    await systole("space", "create", "demo")
    const receipt = await systole("signal", "demo", "--signal", "/signals/greet/ann", "--wait", "10")
    assert.include(receipt, "\"handled\"")
    assert.include(receipt, "\"greet\"")
    // The store survives the process: a second process reads the data of the first.
    assert.include(await systole("cell", "get", "demo", "/data/greetings/ann"), "{\"times\":1}")
  })

  it("shares its instances of systole and effect with the modules of a project", async () => {
    await installed().write("enzymes/effects.ts", `import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import { Enzyme, Retry } from "systole"
export default Enzyme.make({
  name: "effects",
  query: "/signals/effects",
  payload: Schema.Struct({ times: Schema.Natural }),
  run: (tx, { attempt, payload }) =>
    attempt === 1
      ? new Retry({ reason: "once more" })
      : Effect.map(Random.next, (chance) => tx.set("/data/chance", [payload.times, chance]))
})
`)
    const systole = async (...args: ReadonlyArray<string>) =>
      installed().node("node_modules/systole/dist/command/systole.js", ...args, "--json")
    await systole("space", "create", "effects")
    assert.include(
      (await systole("signal", "effects", "--signal", "/signals/effects", "--payload", "{\"times\":3}", "--wait", "10")).output,
      "\"handled\""
    )
    assert.strictEqual(
      (await systole("signal", "effects", "--signal", "/signals/effects", "--payload", "{\"times\":-3}", "--wait", "10")).code,
      1
    )
    assert.deepInclude(await systole("replay", "effects"), { code: 0 })
  })

  it("creates a project that depends on the same package", async () => {
    const archive = "elsewhere/systole-0.1.0.tgz"
    await installed().write("node_modules/.package-lock.json", JSON.stringify({
      packages: { "node_modules/systole": { resolved: `file:${archive}` } }
    }))
    const { code, output } = await installed().node("node_modules/systole/dist/command/systole.js", "new", "project", "hello")
    assert.strictEqual(code, 0, output)
    assert.include(output, "1. cd hello && npm install\n")
    const { dependencies } =
      JSON.parse(await installed().read("hello/package.json")) as { readonly dependencies: Readonly<Record<string, string>> }
    assert.isTrue(dependencies["systole"]!.startsWith("file:/"))
    assert.isTrue(dependencies["systole"]!.endsWith(`/${archive}`))
  })

  it.each(["http", "workers", "agent"])("makes a project of the template %s, which compiles, and whose test runs", async (template) => {
    await installed().command("new", "project", template, "--template", template)
    const { devDependencies, scripts } = JSON.parse(await installed().read(`${template}/package.json`)) as PackageFile
    assert.deepInclude(scripts, { check: "tsc", test: "node --test" })
    assert.property(devDependencies, "typescript")
    const file = `${template}/enzymes/greet.ts`
    const text = await installed().read(file)
    // One run of the compiler shows both: the project compiles, and a misspelt field of a cell does not.
    const misspelt = `${template}/enzymes/misspelt.ts`
    await installed().write(misspelt, text.replace(`"times"`, `"tymes"`))
    const errors = errorsOf(await installed().typesOf(template))
    assert.deepStrictEqual(Object.keys(errors), [misspelt])
    assert.include(errors[misspelt], "tymes")
    await installed().remove(misspelt)
    const test = ["--test", `${template}/test/greet.test.ts`]
    const passed = await installed().node(...test)
    assert.strictEqual(passed.code, 0, passed.output)
    await installed().write(file, text.replace(`Cell.into(greeted, "times")`, `Cell.into(greeted, "times"), 2`))
    const failed = await installed().node(...test)
    assert.strictEqual(failed.code, 1, failed.output)
    assert.include(failed.output, "the value of greet is {\"times\":2}, and {\"times\":1} is expected")
    await installed().write(file, text)
  })

  it("shows the first beat of each template by the steps that it printed", async () => {
    const [install, dev, page] = await stepsOf("steps-http", "http")
    assert.deepStrictEqual([install, dev, page], ["cd steps-http && npm install", "npx systole dev", "http://127.0.0.1:4200/"])
    await served("steps-http", async (url) => {
      assert.include(await (await fetch(url)).text(), "<button>Greet</button>")
      if (Browser.installed === undefined) return
      const page = await Browser.open(url)
      try {
        await page.until("document.readyState === \"complete\"")
        await page.run("document.querySelector(\"button\").click()")
        assert.match(String(await page.until("document.getElementById(\"said\").textContent")), /^beat \d+: ann is greeted, time 1$/)
      } finally {
        await page.close()
      }
    })

    const [, , signal = ""] = await stepsOf("steps-workers", "workers")
    await served("steps-workers", async () =>
      assert.match(await byHand("steps-workers", signal), /greet {2}ok {2}beat \d+ {2}\{"times":1\}/))

    const [, wake = "", cell = ""] = await stepsOf("steps-agent", "agent")
    assert.match(await byHand("steps-agent", wake), /^greet {2}completed/m)
    assert.deepStrictEqual(JSON.parse(await byHand("steps-agent", cell)), { times: 1 })
  })

  it("builds the template of a Worker", async () => {
    await installed().command("new", "project", "edge", "--template", "workers")
    await byHand("edge", "npx systole build --target workers")
    await Edge.running({ folder: join(installed().folder, "edge/dist/workers") }, async ({ signal }) =>
      assert.deepInclude((await signal("home", { signal: "/signals/greet/ann" })).body, { status: "handled" }))
  })

  it("builds a server without the packages of the command line, which it contains", async () => {
    await installed().command("new", "project", "server")
    await byHand("server", "npx systole build --target node")
    const { code, output } = await installed().node("server/dist/node/systole.js", "space", "ls", "--data", "server-data")
    assert.deepStrictEqual([code, output], [0, ""])
  })

  it("installs on Node 20 without a warning: no package of it asks for a newer one", async () => {
    assert.deepStrictEqual(await installed().engines(20), [])
  })

  it("has the client, the cells and the hooks for pages: a bundle for browsers has none of Effect", async () => {
    for (const name of ["react", "react-dom", "@types/react", "@types/react-dom"]) await installed().link(name)
    await installed().write("page.tsx", `import { createElement } from "react"
import { renderToString } from "react-dom/server"
import { Cell, Schema, Signal } from "systole/cells"
import { connect } from "systole/client"
import { SpaceProvider, useCell, useSignal } from "systole/react"

const Order = Schema.Struct({ item: Schema.String, count: Schema.Natural })
const Orders = Cell.family("/data/orders/:id", Order)
const Place = Signal.make("/signals/order/:id/place", Order)
const space = connect({ url: "http://127.0.0.1:1" }).space("shop")
const Row = () => {
  const { status, value } = useCell(Orders.at({ id: "1" }), { initial: { item: "tea", count: 2 } })
  const { isSending } = useSignal(Place)
  const count: number | undefined = value?.count
  return createElement("p", null, [status, count, isSending].join(" "))
}
console.log(renderToString(createElement(SpaceProvider, { space }, createElement(Row))))
`)
    assert.deepInclude(await installed().types("--jsx", "react-jsx", "page.tsx"), { output: "", code: 0 })
    const bundle = async (platform: "browser" | "node", outfile: string): Promise<ReadonlyArray<string>> => {
      const { metafile } = await build({
        absWorkingDir: installed().folder,
        entryPoints: ["page.tsx"],
        outfile,
        platform,
        bundle: true,
        format: "esm",
        logLevel: "silent",
        metafile: true,
        preserveSymlinks: true,
        external: ["react", "react-dom"]
      })
      return Object.keys(metafile.inputs)
    }
    const page = await bundle("browser", "page.browser.js")
    assert.include(page, "node_modules/systole/dist/src/cell/Page.js")
    assert.deepStrictEqual(page.filter((file) => file.includes("node_modules/effect/")), [])
    assert.include(await bundle("node", "page.node.js"), "node_modules/systole/dist/src/cell/index.js")
    await installed().write("rich.ts", `import { rich } from "systole/rich"
console.log(rich.read(rich.write(new Date(0))) instanceof Date)
`)
    assert.deepInclude(await installed().types("rich.ts"), { output: "", code: 0 })
    assert.deepInclude(await installed().node("rich.ts"), { code: 0, output: "true\n" })
    for (const file of ["page.browser.js", "page.node.js"]) {
      assert.deepInclude(await installed().node(file), { code: 0, output: "<p>loading 2 false</p>\n" })
    }
  })

  it("has the contract of persistence for the store of a project", async () => {
    await installed().write("contract.ts", `import { MemoryStore } from "systole"
import { persistenceContract } from "systole/testing"

const tests = persistenceContract({ persistence: MemoryStore.layer }).filter(({ name }) => name.startsWith("writers"))
for (const { run } of tests) await run()
console.log(tests.length)
`)
    assert.deepInclude(await installed().node("contract.ts"), { code: 0, output: "7\n" })
    assert.deepInclude(await installed().types("contract.ts"), { output: "", code: 0 })
  })

  it("completes external work with the first-party enzymes", async () => {
    await installed().write("systole.config.ts", config.replace(
      "{ persistence",
      "{ enzymes: [\"enzymes\", \"node_modules/systole/dist/enzymes\"], system: [\"inst_ing\", \"mr_init\", \"mr_route\", \"rv_init\"], " +
        "persistence"
    ))
    await installed().write("enzymes/ask.ts", `import { Enzyme } from "systole"
export default Enzyme.make({ name: "ask", query: "/signals/ask", run: (tx) => void tx.rv.spawn({ key: "job", due_off: 1000 }) })
`)
    const systole = async (...args: ReadonlyArray<string>): Promise<string> => {
      const { code, output } = await installed().node("node_modules/systole/dist/command/systole.js", ...args, "--json")
      assert.strictEqual(code, 0, output)
      return output
    }
    for (const signal of ["/CEP:sig_sys/init", "/signals/ask"]) {
      assert.include(await systole("signal", "demo", "--signal", signal, "--wait", "10"), "\"handled\"")
    }
    await systole("rv", "report", "demo", "job", "--telemetry", "{\"done\":1}")
    assert.include(await systole("rv", "show", "demo", "job"), "\"state\":\"applied\"")
  })

  it("starts with the first-party channels", async () => {
    await installed().write("systole.config.ts", `import { defineConfig } from "systole"

export default defineConfig({
  channels: {
    files: "file",
    cache: "kv",
    tools: { use: "shell", options: { allow: ["true"] } },
    waits: "timer",
    work: { use: "worker", options: { module: "enzymes/greet.ts" } }
  }
})
`)
    const { code, output } = await installed().node("node_modules/systole/dist/command/systole.js", "space", "ls", "--json")
    assert.strictEqual(code, 0, output)
    assert.include(output, "demo")
    await installed().write("systole.config.ts", config)
  })

  it("exports the types of enzymes, and those in a space and in a transaction, which the folders of ledgers add", async () => {
    const uses = `
import type { Space, Transaction } from "systole"

export const used = (space: Space, tx: Transaction) => {
  tx.op.start({ verb: "a", target: "/data/a", mode: "opm:direct" })
  return [space.ops.cancel("a"), space.rv.kill("a", {}), space.flows.list({ limit: 1 }), space.io.channels, space.runs.get("a")]
}
`
    const files = {
      "types.ts": uses,
      "wrong.ts": uses.replace("flows.list({ limit: 1 })", "flows.list({ most: 1 })"),
      "enzymes/wrong.ts": enzyme.replace("query:", "quarry:")
    }
    for (const [file, text] of Object.entries(files)) await installed().write(file, text)
    const errors = errorsOf(await installed().types("systole.config.ts", "enzymes/greet.ts", ...Object.keys(files)))
    assert.deepStrictEqual(Object.keys(errors).sort(), ["enzymes/wrong.ts", "wrong.ts"])
    assert.include(errors["wrong.ts"], "most")
    assert.include(errors["enzymes/wrong.ts"], "quarry")
    // The types of tests stand alone, so nothing else adds the ledgers here.
    await installed().write("testing.ts", `
import type { TestSpace } from "systole/testing"

export const used = ({ space }: TestSpace) => space.flows.list({ limit: 1 })
`)
    assert.deepInclude(await installed().types("testing.ts"), { output: "", code: 0 })
  })
})
