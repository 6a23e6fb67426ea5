import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Server, terminal } from "../cli/Terminal.ts"
import * as Trials from "../support/Trials.ts"

/** Runs that end their process, by the last segment of the signal; other signals are counted. */
const enzymes = `import { Enzyme } from "systole"

const poisons = {
  loop: () => { for (;;) continue },
  microtasks: async () => { for (;;) await undefined },
  backtrack: () => /^(a+)+$/.test("a".repeat(64) + "!"),
  allocate: () => { const all = []; for (;;) all.push(new Array(100_000).fill(all.length)) },
  exit: () => process.exit(0)
}

export default Enzyme.make({
  name: "taker",
  query: "/signals/take/:what",
  limitMs: 600,
  run: (tx, event) => poisons[event.params.what]?.() ?? tx.increment("/data/" + event.params.what)
})
`

/** A durable run that ends its process with its third segment, by the same last segment of the signal. */
const durable = `import { Enzyme } from "systole"

export default Enzyme.make({
  name: "taker",
  query: "/signals/take/:what",
  limitMs: 600,
  durable: true,
  run: async (tx, event) => {
    if (event.params.what !== "segment") return tx.increment("/data/" + event.params.what)
    await tx.sleep(1)
    await tx.sleep(300)
    for (;;) continue
  }
})
`

/** The modules of cases that do not use `enzymes`. */
const modules: Readonly<Record<string, string>> = { segment: durable }

const config = `export default { tempo: 1, spaces: { create: "on-demand" }, limits: { stuckMillis: 600, stopMillis: 3000 } }\n`

const space = "/v1/spaces/shop"

/** The space, the time and the wait of a signal. */
interface Posting {
  readonly at?: object
  readonly name?: string
  readonly wait?: number
}

const post = (server: Server, what: string, { at, name = "shop", wait = 0 }: Posting = {}) =>
  fetch(`${server.url}/v1/spaces/${name}/signals`, {
    method: "POST",
    headers: { "content-type": "application/json", ...wait > 0 ? { prefer: `wait=${wait}` } : {} },
    body: JSON.stringify({ signal: `/signals/take/${what}`, ...at === undefined ? {} : { at } })
  })

interface Letters {
  readonly letters: ReadonlyArray<{ readonly id: string; readonly enzyme: string; readonly code: string; readonly signal: string }>
}

const none: Letters = { letters: [] }

/** Restarts the server until it stays up, and returns the number of ends and its output. */
const survive = async (serve: (...args: ReadonlyArray<string>) => Promise<Server>, first: Server) => {
  const said: Array<string> = []
  for (let server = first, ends = 0; ; ends++) {
    const ended = server.ended.then(({ stderr }) => said.push(stderr))
    const isUp =
      await Promise.race([ended.then(() => false), post(server, "good", { wait: 60 }).then(({ status }) => status === 200, () => false)])
    if (isUp) {
      // The run may begin, and end the process, between the two requests.
      const { letters } = await fetch(`${server.url}${space}/dead`).then((dead) => dead.json() as Promise<Letters>).catch(() => none)
      if (letters.length > 0) return { ends, letters, said: said.join(""), server }
    }
    await ended
    assert.isBelow(ends, 8, said.join(""))
    server = await serve("start")
  }
}

/** The scope of the code that loads the modules, which no guard refuses. */
const outOfRuns = `import { AsyncResource } from "node:async_hooks"
import { existsSync, writeFileSync } from "node:fs"
const outside = new AsyncResource("outside")`

const isNode = !("Bun" in globalThis) && !("Deno" in globalThis)

/** The ways to end a process, each with its most ends. A short form has one of those that hold the thread in JavaScript alike. */
const ways: ReadonlyArray<readonly [what: string, ends: number]> = [
  ["segment", 2],
  ...isNode ? [["backtrack", 2], ["exit", 2]] as const : [],
  ...Trials.form<ReadonlyArray<readonly [string, number]>>({
    short: [],
    long: [["loop", 2], ...isNode ? [["microtasks", 2], ["allocate", 6]] as const : []]
  })
]

describe("A run that ends its process", () => {
  for (const [what, ends] of ways) {
    it.live(`becomes a dead letter after a few ends, and the server stays up: ${what}`, () =>
      Effect.flatMap(terminal({ "systole.config.ts": config, "enzymes/taker.ts": modules[what] ?? enzymes }), ({ root, serveBy }) =>
        Effect.promise(async () => {
          const serve = serveBy(what === "allocate" ? { more: { NODE_OPTIONS: "--max-old-space-size=150" } } : {})
          const first = await serve("start")
          await post(first, "good", { wait: 60 })
          const { id } = await (await post(first, what, { at: { ms: 300 } })).json() as { readonly id: string }
          const { ends: count, letters, said, server } = await survive(serve, first)
          assert.deepStrictEqual(letters.map(({ code, enzyme, signal }) => [enzyme, code, signal]), [
            ["taker", "run/stuck", `/signals/take/${what}`]
          ])
          assert.strictEqual(letters[0]!.id, id)
          assert.isAtMost(count, ends)
          if (what !== "exit" && what !== "allocate") {
            assert.match(said, new RegExp(`run/stuck shop@\\d+ taker: event ${id.replaceAll(".", "\\.")} is over its limit of 600 ms`))
          }
          await server.stop("SIGTERM")
          assert.isFalse(existsSync(join(root, ".data", "watch", "shop.json")))
          assert.isFalse(existsSync(join(root, ".data", "watch", "begun.log")), "the end was clean")
        })))
  }

  it.live("ends its process even if its output is closed", () =>
    Effect.flatMap(terminal({ "systole.config.ts": config, "enzymes/taker.ts": enzymes }), ({ serve }) =>
      Effect.promise(async () => {
        const server = await serve("start")
        await post(server, "good", { wait: 60 })
        server.closeOutput()
        await post(server, "loop").catch(() => undefined)
        await server.ended
      })))

  it.live("is reported but not ended while a debugger is attached", () =>
    Effect.flatMap(terminal({
      "systole.config.ts": config,
      "enzymes/taker.ts": `${outOfRuns}\n${
        enzymes.replace("limitMs:", "trusted: true, limitMs:")
          .replace("for (;;) continue", "while (!outside.runInAsyncScope(() => existsSync('go'))) continue")
      }`
    }), ({ root, serveBy }) =>
      Effect.promise(async () => {
        const server = await serveBy({ more: { NODE_OPTIONS: "--inspect=127.0.0.1:0" } })("start")
        const held = post(server, "loop", { wait: 60 })
        await server.told("a debugger may hold it, so nothing is ended")
        writeFileSync(join(root, "go"), "")
        assert.strictEqual((await held).status, 200)
        await server.stop("SIGTERM")
      })))
})

/** A computation that never returns for one value, and an effect that demands it. */
const nodes = `import { Computation, Enzyme, Reaction } from "systole"

const spin = Computation.make({
  name: "spin",
  output: "/c/spin",
  run: (tx) => {
    const value = tx.get("/data/in") ?? 0
    while (value === 13) continue
    return value
  }
})

export default [
  spin,
  Reaction.make({ name: "see", read: (tx) => tx.get("/c/spin"), deliver: () => {}, noDebounce: true }),
  Enzyme.make({ name: "set", query: "/signals/take/:n", run: (tx, event) => tx.set("/data/in", Number(event.params.n)) })
]
`

describe("A node that ends its process", () => {
  it.live("is reported, fails without a run after the restart, and runs again when its reads change", () =>
    Effect.flatMap(terminal({ "systole.config.ts": config, "enzymes/nodes.ts": nodes }), ({ serve }) =>
      Effect.promise(async () => {
        const read = async (server: Server, path: string) => (await fetch(`${server.url}${space}/cells${path}`)).json()
        const first = await serve("start")
        await post(first, "1", { wait: 60 })
        assert.strictEqual((await post(first, "13", { at: { ms: 300 } })).status, 202)
        assert.match((await first.ended).stderr, /run\/stuck shop@\d+ spin: node spin is noted, and the process ends/)
        const second = await serve("start")
        while (await read(second, "/data/in") !== 13) continue
        assert.strictEqual(await read(second, "/c/spin"), 1, "it derives nothing new")
        assert.strictEqual((await post(second, "14", { wait: 60 })).status, 200)
        assert.strictEqual(await read(second, "/c/spin"), 14)
        await second.stop("SIGTERM")
      })))
})

/** A channel that holds the thread after an await, once there is a file. */
const holding = `import { existsSync } from "node:fs"
import { Plugin } from "systole"

const execute = async () => {
  while (!existsSync("hold")) await new Promise((resolve) => setTimeout(resolve, 10))
  for (;;) continue
}

const channel = { provider: "holding", hosts: ["node", "deno", "bun"], opcodes: { hold: {} }, execute }

export default Plugin.make({ name: "holding", version: "1.0.0", provides: { channels: { holding: () => channel } } })
`

/** A request to the channel, and a run that waits beside it. */
const beside = `import { writeFileSync } from "node:fs"
import { Enzyme } from "systole"

// A run writes no file, so it is told outside of it.
const begun = Promise.withResolvers()
begun.promise.then(() => writeFileSync("begun", ""))

const hold = (tx) => tx.io.request({ channel: "holding", opcode: "hold", signal: "/signals/take/ask" })

export default [
  Enzyme.make({ name: "asks", query: "/signals/take/ask", trusted: true, run: hold }),
  Enzyme.make({
    name: "waits", query: "/signals/take/wait", limitMs: 3000, trusted: true,
    run: () => {
      begun.resolve()
      return new Promise(() => {})
    }
  })
]
`

describe("A channel that holds the thread", () => {
  it.live("is named, and no run that waits meanwhile is noted", () =>
    Effect.flatMap(terminal({
      "systole.config.ts": config.replace("tempo: 1,", `tempo: 1, channels: { holding: "holding" },`),
      "plugins/holding.ts": holding,
      "enzymes/beside.ts": beside
    }), ({ root, serve }) =>
      Effect.promise(async () => {
        const server = await serve("start")
        await post(server, "ask", { name: "other" })
        await post(server, "wait")
        while (!existsSync(join(root, "begun"))) await new Promise((resolve) => setTimeout(resolve, 10))
        writeFileSync(join(root, "hold"), "")
        const { stderr } = await server.ended
        assert.include(stderr, "thread/held: for 2000 ms, code outside of runs holds the thread; channels with jobs in progress: holding")
        assert.include(stderr, "of which none is noted, and the process ends")
        assert.isFalse(existsSync(join(root, ".data", "watch", "shop.json")))
      })))
})

/** A host that ends soon after it was asked to, whatever runs. */
const impatient = config.replace("stopMillis: 3000", "stopMillis: 500")

describe("SIGTERM", () => {
  it.live("ends a process although a run waits for an hour", () =>
    Effect.flatMap(terminal({
      "systole.config.ts": impatient,
      "enzymes/taker.ts":
        enzymes.replace("for (;;) continue", "return new Promise(() => {})").replace("limitMs: 600", "limitMs: 3_600_000")
    }), ({ serve }) =>
      Effect.promise(async () => {
        const server = await serve("start")
        assert.strictEqual((await post(server, "loop")).status, 202)
        await server.stop("SIGTERM")
      })))

  it.live("ends a process during a run that never returns", () =>
    Effect.flatMap(terminal({
      "systole.config.ts": impatient,
      "enzymes/taker.ts": `${outOfRuns}\n${
        enzymes.replace("limitMs:", "trusted: true, limitMs:")
          .replace("for (;;)", "outside.runInAsyncScope(() => writeFileSync('begun', '')); for (;;)")
      }`
    }), ({ root, serve }) =>
      Effect.promise(async () => {
        const server = await serve("start")
        void post(server, "loop").catch(() => undefined)
        while (!existsSync(join(root, "begun"))) await new Promise((resolve) => setTimeout(resolve, 10))
        await server.stop("SIGTERM")
      })))
})

