import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { vi } from "vitest"
import type { Build } from "../../../src/cli/Host.ts"
import { verbs } from "../../../src/contract/Control.ts"
import { names } from "../../../src/ledger/SliceTable.ts"
import { face } from "../../../src/operation/Face.ts"
import * as Inside from "../../cli/Inside.ts"
import { terminal } from "../../cli/Terminal.ts"
import type { Host } from "../../scripts/Host.ts"
import { node, root, tool } from "../../scripts/Host.ts"
import { run as runProcess } from "../../scripts/Process.ts"
import type { Server } from "../../scripts/Server.ts"
import { start } from "../../scripts/Server.ts"

const shop = join(root, "examples", "shop")

/** Runs a command of the sources in a project. Returns what it printed. */
const systole = async (cwd: string, ...args: ReadonlyArray<string>): Promise<string> => {
  const { code, stderr, stdout } = await Inside.run(cwd, args)
  assert.strictEqual(code, 0, stderr)
  return stdout + stderr
}

/** The enzymes of a server, and a price after one signal. */
const sold = async ({ url }: Server) => {
  const receipt = await fetch(`${url}/v1/spaces/shop/signals`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "wait=60" },
    body: JSON.stringify({ signal: "/signals/goods/receive", target: "/data/products/tea", payload: { price: 4, count: 5 } })
  })
  assert.strictEqual(receipt.status, 200, await receipt.text())
  const get = async (path: string) => (await fetch(url + path)).json() as Promise<unknown>
  const page = await (await fetch(`${url}/`)).text()
  return { page, stock: await get("/v1/spaces/shop/cells/data/stock?pull"), enzymes: await get("/v1/enzymes") }
}

const greet = (greeting: string) => `import { Enzyme } from "systole"
export default Enzyme.make({ name: "greet", query: "/signals/greet", run: (tx) => tx.set("/data/greeting", ${JSON.stringify(greeting)}) })
`

/** An enzyme that writes a cell of a type. */
const typed = `import * as Schema from "effect/Schema"
import { Cell, Enzyme } from "systole"
const Sold = Cell.of("/data/sold", Schema.Int)
export default Enzyme.make({
  name: "sell",
  query: "/signals/sell",
  schedule: "0 9 * * *",
  writes: [Sold],
  run: (tx) => tx.set(Sold, 1)
})
`

/** The text of all files of a build. */
const textOf = (folder: string): string =>
  readdirSync(folder).filter((file) => file.endsWith(".js")).map((file) => readFileSync(join(folder, file), "utf8")).join("\n")

/** A Worker has no words for people alone. It makes JSON Schemas and reads cron expressions only if a module has some. */
const checkRest = (untyped: string, typed: string): void => {
  for (const words of [verbs.pause.does, face.verbs.cancel.does, face.text.example]) {
    assert.isAbove(words.length, 8)
    assert.isFalse((untyped + typed).includes(words), `the Worker has no use for "${words}"`)
  }
  assert.deepStrictEqual([untyped, typed].map((text) => text.includes("additionalProperties")), [false, true])
  assert.deepStrictEqual([untyped, typed].map((text) => text.includes("declared no type when the build was made")), [true, false])
  assert.deepStrictEqual([untyped, typed].map((text) => text.includes("The build has no cron expressions")), [true, false])
}

/** A durable enzyme that waits for a signal. Each version makes other calls. */
const waiting = (version: string) => `import { Enzyme } from "systole"
export default Enzyme.make({
  name: "greet",
  query: "/signals/greet/:guest",
  durable: true,
  run: async (tx) => {
    tx.get("/data/versions/${version}")
    tx.hear("/signals/go", "/data/go")
    await tx.waitForSignal("/signals/go", "/data/go")
    tx.increment("/data/times")
    return "${version}"
  }
})
`

/** A client of a space. */
interface Client {
  /** Sends a signal, which is durable by then. */
  readonly post: (signal: object) => Promise<{ readonly id: string }>
  readonly get: (path: string, prefer?: string) => Promise<unknown>
  /** Writes a cell in a beat after all earlier signals. */
  readonly mark: () => Promise<unknown>
}

/** Uses a space of a server until its end. */
const using = async <A>({ end, url }: Server, use: (client: Client) => Promise<A>): Promise<A> => {
  const base = `${url}/v1/spaces/greetings`
  const json = async (path: string, init: RequestInit) => (await fetch(base + path, init)).json() as Promise<unknown>
  const sent = (method: string, body: unknown): RequestInit =>
    ({ method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
  try {
    return await use({
      post: async (signal) => await json("/signals", sent("POST", signal)) as { readonly id: string },
      get: (path, prefer = "") => json(path, { headers: { prefer } }),
      mark: () => fetch(`${base}/cells/data/mark`, sent("PUT", true))
    })
  } finally {
    await end("SIGTERM")
  }
}

type Terminal = Effect.Success<ReturnType<typeof terminal>>

/** Defines a test in a temporary project. */
const test = (name: string, files: Readonly<Record<string, string>>, run: (terminal: Terminal) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(terminal(files), (terminal) => Effect.promise(() => run(terminal))))

/** Builds for Node and returns the digest of the only enzyme. */
const built = async ({ json }: Terminal, ...args: ReadonlyArray<string>): Promise<string> => {
  const { modules } = await json("build", "--target", "node", ...args) as Build
  return modules["enzymes/greet.ts"] ?? assert.fail("there is no digest")
}

/** A file of a build with the files that it imports when it begins. */
const staticFiles = (folder: string, file: string, known = new Set<string>()): ReadonlyArray<string> => {
  if (known.has(file)) return []
  known.add(file)
  const imported = readFileSync(join(folder, file), "utf8").matchAll(/(?:\bfrom|\bimport)\s*"\.\/([^"]+)"/g)
  return [file, ...[...imported].flatMap(([, name = ""]) => staticFiles(folder, name, known))]
}

/** The Worker in front has less than 20.5 kB compressed, and is without the runtime, which other files have. */
const checkFront = (folder: string): void => {
  const textOf = (file: string): string => readFileSync(join(folder, file), "utf8")
  const front = staticFiles(folder, "worker.js").map(textOf)
  assert.isBelow(front.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0), 23_900)
  assert.isFalse(front.some((text) => text.includes("/data/greeting") || text.includes("scanJournal")))
  assert.isTrue(readdirSync(folder).filter((file) => file.endsWith(".js")).some((file) => textOf(file).includes("scanJournal")))
}

describe("systole build", () => {
  it.each<Host>(["node", "deno", "bun"])("writes a folder that %s runs alone, with the journal of the sources", async (host) => {
    const folder = mkdtempSync(join(tmpdir(), "systole-build-"))
    try {
      const [project, out, data] = [join(folder, "shop"), join(folder, "out"), join(folder, "data")]
      cpSync(shop, project, { recursive: true, filter: (file) => !/[\\/]\.(?:data|systole)$/.test(file) })
      await systole(project, "build", "--target", host, "--out", out)
      const server = await start(out, data, { host, command: join(out, "systole.js"), told: () => undefined })
      const fromBuild = await sold(server)
      await server.end("SIGTERM")
      const source = await start(project, join(folder, "other"))
      assert.deepStrictEqual(fromBuild, await sold(source))
      await source.end("SIGTERM")
      assert.deepStrictEqual(fromBuild.stock, { tea: 5 })
      assert.include(await systole(project, "journal", "verify", "shop", "--data", data), "hold")
      assert.include(await systole(project, "replay", "shop", "--data", data), "came out the same")
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test("writes a module for deno serve, which takes its address from Deno and needs a token where other machines reach it", {
    "systole.config.ts": "export default { spaces: { create: \"on-demand\" } }\n",
    "enzymes/greet.ts": greet("hello")
  }, async ({ json, root }) => {
    await json("build", "--target", "deno", "--out", "out")
    const out = join(root, "out")
    const line = (host: string) => [tool("deno"), "serve", "-A", "--host", host, "--port", "0", join(out, "serve.js")] as const
    const data = join(root, "data")
    const server = await start(out, data, { line: line("127.0.0.1"), told: () => undefined })
    await using(server, async ({ get, post }) => {
      const { id } = await post({ signal: "/signals/greet" })
      await get(`/receipts/${id}`, "wait=60")
      assert.strictEqual(await get("/cells/data/greeting"), "hello")
    })
    const open = await runProcess([...line("0.0.0.0"), "--data", data], { cwd: out })
    assert.strictEqual(open.code, 2, open.output)
    assert.include(open.output, "host \"0.0.0.0\" can be reached from other machines, and there is no token")
  })

  test("refuses a run what its module kept when it was loaded, as the sources do", {
    "systole.config.ts": "export default { spaces: { create: \"on-demand\" } }\n",
    "enzymes/greet.ts": `import { Enzyme } from "systole"
const { now } = Date
export default Enzyme.make({ name: "greet", query: "/signals/greet", run: (tx) => tx.set("/data/greeting", now()) })
`
  }, async ({ json, root }) => {
    await json("build", "--target", "node", "--out", "out")
    const out = join(root, "out")
    for (const [folder, options] of [[out, { command: join(out, "systole.js") }], [root, {}]] as const) {
      const server = await start(folder, join(root, "data"), { ...options, told: () => undefined })
      await using(server, async ({ get, post }) => {
        const { id } = await post({ signal: "/signals/greet" })
        const { handlings } = await get(`/receipts/${id}`, "wait=60") as { readonly handlings: ReadonlyArray<{ readonly error?: object }> }
        assert.include(handlings[0]?.error, { code: "run/nondeterministic" }, folder)
      })
    }
  })

  test("takes the configuration of an environment, and its tokens from the process", {
    "systole.config.ts": `export default {
  token: "a-token-of-development",
  environments: { production: { spaces: { create: "on-demand" }, token: "a-token-of-production" } }
}
`,
    "enzymes/greet.ts": greet("hello")
  }, async ({ root, run }) => {
    const { code, stderr } = await run("build", "--target", "node", "--env", "production", "--out", "out")
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, "Set SYSTOLE_TOKEN")
    const out = join(root, "out")
    for (const file of readdirSync(out).filter((file) => file.endsWith(".js"))) {
      assert.notMatch(readFileSync(join(out, file), "utf8"), /a-token-of/)
    }
    const from = (env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
      runProcess([node(), "systole.js", ...args], { cwd: out, env })
    const without = await from({}, "start", "--port", "0")
    assert.strictEqual(without.code, 2)
    assert.include(without.output, "Set SYSTOLE_TOKEN")
    const wrong = await from({ SYSTOLE_TOKEN: "a-token-of-this-test" }, "space", "ls", "--env", "staging")
    assert.include(wrong.output, "this is a build for \"production\"")
    const signal = ["signal", "demo", "--signal", "/signals/greet", "--wait", "60"] as const
    const sent = await from({ SYSTOLE_TOKEN: "a-token-of-this-test" }, ...signal)
    assert.strictEqual(sent.code, 0, sent.output)
  })

  test("has the commands of the plugins of its project, with their settings and in its help", {
    "systole.config.ts": `export default { greeter: { greeting: "hello" }, spaces: { create: "on-demand" } }\n`,
    "plugins/greeter.ts": `import * as Schema from "effect/Schema"
import { Plugin } from "systole"
const settings = Schema.Struct({ greeting: Schema.String })
export default Plugin.make({ name: "greeter", version: "1.0.0", commands: { greet: "greeter/greet.ts" }, settings })
`,
    "plugins/greeter/greet.ts": `import * as Effect from "effect/Effect"
import { Argument, Command, defineCommand, Output, pluginSettings } from "systole/cli"
const command = Command.make("greet", { name: Argument.String("name"), json: Output.json }, ({ json, name }) =>
  Effect.flatMap(pluginSettings("greeter"), ({ greeting } = {}) => Output.data(json, { greeting, name }, greeting + ", " + name)))
export default defineCommand(command.pipe(Command.withDescription("Greet a person")))
`,
    "enzymes/greet.ts": greet("hello")
  }, async ({ root, run }) => {
    const { code, stderr } = await run("build", "--target", "node", "--out", "out")
    assert.strictEqual(code, 0, stderr)
    const inBuild = (...args: ReadonlyArray<string>) => runProcess([node(), "systole.js", ...args], { cwd: join(root, "out") })
    assert.deepInclude(await inBuild("greet", "ann"), { code: 0, output: "hello, ann\n" })
    assert.match((await inBuild("--help")).output, /greet +Greet a person/)
  })

  test("refuses a bundle with a token in it", {
    "systole.config.ts": `const token = "a-token-of-development"
export default { token, pages: { "/": () => token } }
`,
    "enzymes/greet.ts": greet("hello")
  }, async ({ root, run }) => {
    const { code, stderr } = await run("build", "--target", "node")
    assert.deepStrictEqual([code, existsSync(join(root, "dist"))], [1, false])
    assert.include(stderr, "token stands in a file of the project that the build contains")
    assert.include(stderr, "(build/secret)")
  })

  test("refuses a token in the text of a module, from where the bundle does not take it", {
    "systole.config.ts": "export default { token: \"a-token-of-development\" }\n",
    "enzymes/greet.ts": `${greet("hello")}export const token = "a-token-of-development"\n`
  }, async ({ root, run }) => {
    const { code, stderr } = await run("build", "--target", "node")
    assert.deepStrictEqual([code, existsSync(join(root, "dist"))], [1, false])
    assert.include(stderr, "(build/secret)")
  })

  test("refuses a bundle with the token of another environment in it, also where its text has to be escaped", {
    "systole.config.ts": `export default {
  pages: { "/": () => "hello" },
  environments: { staging: {}, production: { token: ${JSON.stringify("a\\token'of\"two`quotes")} } }
}
`,
    "enzymes/greet.ts": greet("hello")
  }, async ({ root, run }) => {
    const { code, stderr } = await run("build", "--target", "workers", "--env", "staging")
    assert.deepStrictEqual([code, existsSync(join(root, "dist"))], [1, false])
    assert.include(stderr, "(build/secret)")
  })

  test("has a Worker in front of its own, and all slices but those that the configuration leaves out, with the size of each", {
    "systole.config.ts": "export default { without: [\"rendezvous\", \"flows\", \"history\"] }\n",
    "enzymes/greet.ts": greet("hello")
  }, async ({ json, root, run, write }) => {
    const { stdout } = await run("build", "--target", "workers", "--out", "lean")
    assert.deepStrictEqual(Array.from(stdout.matchAll(/^slice (\w+) +[\d.]+ kB$/gm), ([, name]) => name), [
      "requests", "durable", "archive", "graph", "debug"
    ])
    const lean = textOf(join(root, "lean"))
    assert.isFalse(lean.includes("rv/token-refused"))
    write("systole.config.ts", "export default {}\n")
    write("enzymes/sell.ts", typed)
    const all = await json("build", "--target", "workers", "--out", "all") as Build
    assert.deepStrictEqual(all.slices.map(({ slice }) => slice), [...names])
    for (const { bytes, slice } of all.slices) assert.isAbove(bytes, 400, slice)
    checkFront(join(root, "all"))
    checkRest(lean, textOf(join(root, "all")))
  })

  test("has the command agent and its YAML only for an agent", {
    "systole.config.ts": "export default { environments: { watched: { agent: { attempts: 1 } } } }\n",
    "enzymes/greet.ts": greet("hello")
  }, async ({ json, root }) => {
    const partsOf = ({ parts }: Build) => parts.map(({ part }) => part)
    const without = await json("build", "--target", "node", "--out", "without") as Build
    assert.notIncludeMembers(partsOf(without), ["package yaml"])
    const watched = partsOf(await json("build", "--target", "node", "--env", "watched", "--out", "watched") as Build)
    assert.includeMembers(watched, ["package yaml", "systole plugins"])
    assert.notInclude((await runProcess([node(), "systole.js", "--help"], { cwd: join(root, "without") })).output, "heartbeat.md")
    const init = await runProcess([node(), "systole.js", "agent", "init"], { cwd: join(root, "watched") })
    assert.strictEqual(init.code, 0, init.output)
    assert.isTrue(existsSync(join(root, "watched", "heartbeat.md")))
  })

  test("refuses broken modules, options that are no JSON, unknown environments and folders with other files", {
    "enzymes/greet.ts": greet("hello"),
    "systole.config.ts": "export default { channels: { a: { use: \"timer\", options: { clock: Date } } } }\n"
  }, async ({ run, write }) => {
    const refused = async (...args: ReadonlyArray<string>) => {
      const { code, stderr } = await run("build", "--target", "node", ...args)
      assert.notStrictEqual(code, 0)
      return stderr
    }
    assert.include(await refused(), "the configuration.channels.a.options.clock is no plain JSON")
    write("systole.config.ts", "export default {}\n")
    assert.include(await refused("--env", "production"), "there is no environment \"production\"")
    assert.include(await refused("--out", "."), "(build/folder)")
    for (const name of ["enzymes/greet.ts", "enzymes/greet.ts/out"]) {
      assert.match(await refused("--out", name), /cannot hold a build: .*Name another folder with --out \(build\/folder\)/)
    }
    assert.include(await refused("--keep", "f".repeat(64)), "(build/kept)")
    assert.include(await refused("--keep", "f"), "is no digest")
    write("enzymes/greet.ts", greet("hello").replace("tx.set", "tx.set(("))
    write("enzymes/other.ts", "import x from \"no-such-package\"\nexport default x\n")
    const broken = await refused()
    for (const file of ["enzymes/greet.ts", "enzymes/other.ts"]) assert.include(broken, `Module ${file} is not loaded`)
  })

  test("keeps earlier modules, removes the other files of an earlier build, and takes a variable for no token that cannot be one", {
    "enzymes/greet.ts": greet("hello")
  }, async (terminal) => {
    const { root, write } = terminal
    // The text is in each bundle.
    vi.stubEnv("SYSTOLE_TOKEN", "a")
    const before = await built(terminal).finally(() => vi.unstubAllEnvs())
    const chunks = readdirSync(join(root, "dist/node")).filter((file) => file.startsWith("chunk-"))
    write("enzymes/greet.ts", greet("hi"))
    const after = await built(terminal, "--keep", before)
    assert.notStrictEqual(after, before)
    const files = readdirSync(join(root, "dist/node"))
    assert.isTrue(chunks.some((file) => !files.includes(file)))
    const texts = files.filter((file) => file.endsWith(".js")).map((file) => readFileSync(join(root, "dist/node", file), "utf8"))
    for (const greeting of ["hello", "hi"]) assert.isTrue(texts.some((text) => text.includes(`"/data/greeting", "${greeting}"`)))
    assert.include(readFileSync(join(root, "dist/node/build.json"), "utf8"), before)
  })

  test("holds 100 waiting runs under new code, until a build keeps theirs, and runs each once", {
    "systole.config.ts": "export default { spaces: { create: \"on-demand\" } }\n",
    "enzymes/greet.ts": waiting("first")
  }, async (terminal) => {
    const { root, write } = terminal
    const first = await built(terminal, "--out", "first")
    write("enzymes/greet.ts", waiting("second"))
    await built(terminal, "--out", "second")
    cpSync(join(root, "first/modules"), join(root, "second/modules"), { recursive: true })
    const server = (out: string) =>
      start(root, join(root, ".data"), { command: join(root, out, "systole.js"), told: () => undefined })
    const count = 100
    const ids = await using(await server("first"), async ({ mark, post }) => {
      const sent = []
      for (let i = 0; i < count; i++) sent.push(await post({ signal: `/signals/greet/${i}` }))
      await mark()
      return sent.map(({ id }) => id)
    })
    await using(await server("second"), async ({ get, mark, post }) => {
      await post({ signal: "/signals/go", target: "/data/go" })
      await mark()
      const runs: Array<{ readonly state: string; readonly note: string }> = []
      for (let after = ""; ;) {
        const page = await get(`/runs?limit=100${after}`) as { readonly runs: typeof runs; readonly next: string | null }
        runs.push(...page.runs)
        if (page.next === null) break
        after = `&after=${encodeURIComponent(page.next)}`
      }
      assert.deepStrictEqual(new Set(runs.map(({ note, state }) => `${state} ${note}`)), new Set(["held run/code-missing"]))
      assert.strictEqual(runs.length, count)
    })
    await built(terminal, "--out", "second", "--keep", first)
    await using(await server("second"), async ({ get }) => {
      for (const id of ids) assert.include(JSON.stringify(await get(`/receipts/${id}`, "wait=60")), "\"value\":\"first\"")
      assert.strictEqual(await get("/cells/data/times"), count)
    })
  })
})
