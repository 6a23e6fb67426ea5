import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Hono } from "hono"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Channel, Enzyme, Kernel, Persistence, Plugin } from "systole"
import * as Embed from "systole/embed"
import agent from "systole/plugins/agent"
import { command, type Host, hosts } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"

const greet = Enzyme.make({
  name: "greet",
  query: "/signals/greet/:name",
  writes: ["/data/greetings/*"],
  run: (tx, event) => {
    tx.increment(`/data/greetings/${event.params.name}`)
    return tx.get(`/data/greetings/${event.params.name}`)
  }
})

class Word extends Context.Service<Word, string>()("test/Word") {}
class Mark extends Context.Service<Mark, string>()("test/Mark") {}

const welcome = Enzyme.make({
  name: "welcome",
  query: "/signals/welcome/:name",
  services: [Word, Mark],
  run: (tx, { params: { name } }) => Effect.gen(function*() {
    tx.set(`/data/welcomes/${name}`, `${yield* Word}${name}${yield* Mark}`)
  })
})

const TOKEN = "a-token-of-this-test"

/** A folder that is removed after its use. */
const inFolder = async (body: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "systole-embed-"))
  try {
    await body(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const config = (data: string) => ({ data, token: TOKEN, tempo: 1, spaces: { create: "on-demand" } }) as const

const authorization = `Bearer ${TOKEN}`

/** Channels of plugins whose options have no types. */
const channels = (use: string) => ({ channels: { ask: use } }) as object

/** An application with a route of its own beside those of the runtime. */
const appOf = ({ fetch }: Pick<Embed.Embedded, "fetch">) =>
  new Hono().get("/", (c) => c.text("own")).all("/v1/*", ({ req }) => fetch(req.raw))

const post = async (app: Hono, name: string): Promise<Response> =>
  app.request("/v1/spaces/home/signals", {
    method: "POST",
    headers: { authorization, "content-type": "application/json", prefer: "wait=30" },
    body: JSON.stringify({ signal: `/signals/greet/${name}` })
  })

const valueAt = async (app: Hono, cell: string): Promise<unknown> =>
  (await app.request(`/v1/spaces/home/cells${cell}`, { headers: { authorization } })).json()

const failure = async (options: Embed.Options<unknown>): Promise<Embed.Failure> => {
  const started = await Embed.open(options).catch((error: unknown) => error)
  if (started instanceof Error) return started as Embed.Failure
  await (started as Embed.Embedded).close()
  return assert.fail("it started")
}

/** A channel that counts its ends. */
const counted = (seen: { closed: number }): Plugin.Plugin => Plugin.make({
  name: "counted",
  version: "0.1.0",
  provides: {
    channels: {
      counted: (): Channel.Definition => ({
        provider: "counted",
        hosts: ["node", "deno", "bun"],
        opcodes: { ask: {} },
        execute: async () => ({ value: 1 }),
        close: async () => void seen.closed++
      })
    }
  },
  enzymes: [greet]
})

describe("An embedded runtime", () => {
  it("serves /v1 below an application of the program, and keeps its data in SQLite", () =>
    inFolder(async (data) => {
      const first = await Embed.open({ modules: [greet], config: config(data) })
      const app = appOf(first)
      assert.strictEqual(await (await app.request("/")).text(), "own")
      const sent = await post(app, "ada")
      assert.deepStrictEqual([sent.status, (await sent.json() as { readonly status: string }).status], [200, "handled"])
      assert.strictEqual(await valueAt(app, "/data/greetings/ada"), 1)
      await first.close()
      assert.isTrue(existsSync(join(data, "home.sqlite")))
      assert.isFalse(existsSync(join(data, "home.sqlite-wal")), "a clean close empties the log")
      await using second = await Embed.open({ modules: [greet], config: config(data) })
      const space = await Effect.runPromise(second.kernel.space("home"))
      assert.strictEqual(await Effect.runPromise(space.get("/data/greetings/ada")), 1)
    }))

  it("lets in a request with its token alone", () =>
    inFolder(async (data) => {
      await using systole = await Embed.open({ modules: [greet], config: config(data) })
      const refused = await appOf(systole).request("http://shop.example/v1/spaces")
      assert.deepStrictEqual([refused.status, (await refused.json() as { readonly code: string }).code], [401, "auth/missing"])
      const allowed = await appOf(systole).request("http://shop.example/v1/spaces", { headers: { authorization } })
      assert.strictEqual(allowed.status, 200)
    }))

  it("does not start without a token, unless it is public", async () => {
    const refused = await failure({ modules: [], config: { persistence: "memory" } })
    assert.strictEqual(refused.code, "config/invalid")
    assert.include(refused.message, "public: true")
    assert.match(refused.message, /See to the field config of the options of systole\/embed$/)
    await using systole = await Embed.open({ modules: [], config: { persistence: "memory" }, public: true })
    assert.strictEqual((await appOf(systole).request("http://shop.example/v1/spaces")).status, 200)
  })

  it("refuses fields of a configuration that the program decides", async () => {
    for (const field of ["enzymes", "environments", "host", "plugins", "port"]) {
      const refused = await failure({ modules: [], config: { [field]: {} } as object, public: true })
      assert.deepStrictEqual([refused.code, refused.message.includes(`the field ${field} `)], ["config/invalid", true])
    }
  })

  it("takes the settings of its plugins, and refuses those of others", () =>
    inFolder(async (data) => {
      const settings = { ...config(data), agent: { space: "home", attempts: 2 } }
      await using systole = await Embed.open({ modules: [greet, agent], config: settings })
      assert.strictEqual((await post(appOf(systole), "ada")).status, 200)
      const wrong = await failure({ modules: [agent], config: { ...settings, agent: { attempts: 0 } } })
      assert.deepStrictEqual([wrong.code, wrong.message.includes("attempts")], ["config/invalid", true], wrong.message)
      const none = await failure({ modules: [greet], config: settings })
      assert.deepStrictEqual([none.code, none.message.includes("agent")], ["config/invalid", true], none.message)
    }))

  it("gives enzymes the services of the program and of its plugins, and names those that it cannot build", () =>
    inFolder(async (data) => {
      const plugin = Plugin.make({ name: "words", version: "1.0.0", services: Layer.succeed(Word, "Hello, "), enzymes: [welcome] })
      const memory = { config: { persistence: "memory" }, public: true } as const
      const hasty = { ...memory, config: { ...memory.config, limits: { serviceMillis: 20 } } }
      await using systole = await Embed.open({ modules: [plugin], services: Layer.succeed(Mark, "!"), config: config(data) })
      const space = await Effect.runPromise(systole.kernel.space("home", { create: true }))
      await Effect.runPromise(space.handled({ signal: "/signals/welcome/ada" }))
      assert.strictEqual(await Effect.runPromise(space.get("/data/welcomes/ada")), "Hello, ada!")
      const cases: ReadonlyArray<readonly [Embed.Options<unknown>, text: string]> = [
        [{ ...memory, modules: [plugin] }, "no plugin provides \"test/Mark\""],
        [{ ...memory, modules: [], services: Layer.effect(Mark, Effect.fail(new Error("no ink"))) }, "its layer fails: no ink"],
        [{ ...memory, modules: [], services: Layer.effect(Mark, Effect.sync(() => String(Date.now()))) }, "Date.now()"],
        [{ ...hasty, modules: [], services: Layer.effect(Mark, Effect.never) }, "its layer is not built within 20 ms"]
      ]
      for (const [options, text] of cases) {
        const refused = await failure(options)
        assert.deepStrictEqual([refused.code, refused.message.includes(text)], ["embed/layer", true], refused.message)
      }
    }))

  it("names the layer that fails: a store, a slow store, a module, a channel", async () => {
    const memory = { config: { persistence: "memory" }, public: true } as const
    const broken = Layer.effect(Persistence, Effect.fail(new Error("no disk")))
    const hanging = Layer.effect(Persistence, Effect.never)
    const cases: ReadonlyArray<readonly [Embed.Options<unknown>, code: string, text: string]> = [
      [{ ...memory, modules: [], persistence: broken }, "embed/layer", `The layer "persistence" of the embedded runtime fails: no disk`],
      [
        { ...memory, config: { ...memory.config, limits: { moduleMillis: 20 } }, modules: [], persistence: hanging },
        "embed/layer", `The layer "persistence" of the embedded runtime fails: it is not built within 20 ms`
      ],
      [{ ...memory, modules: [greet, () => 1] as never }, "embed/layer", "modules[1] is no enzyme, no node and no plugin"],
      [{ ...memory, modules: [greet, { ...greet, writes: ["/rt/receipts/*"] }] }, "embed/layer", `The layer "modules" of the embedded`],
      [{ ...memory, config: { ...memory.config, ...channels("smtp") }, modules: [] }, "config/invalid", `channel "ask"`]
    ]
    for (const [options, code, text] of cases) {
      const refused = await failure(options)
      assert.deepStrictEqual([refused.code, refused.message.includes(text)], [code, true], refused.message)
    }
  })

  it("names the data folder that it cannot use", () =>
    inFolder(async (folder) => {
      writeFileSync(join(folder, "data"), "a file")
      const options = { modules: [greet], config: config(join(folder, "data")) }
      const started = await Embed.open(options).catch((error: unknown) => error as Error)
      if (started instanceof Error) return assert.include(started.message, join(folder, "data"))
      const sent = await post(appOf(started), "ada")
      assert.strictEqual(sent.status, 503)
      await started.close()
    }))

  it("ends its streams, closes its channels and answers no more when its scope ends", () =>
    inFolder(async (data) => {
      const seen = { closed: 0 }
      const options = { modules: [counted(seen)], config: { ...config(data), ...channels("counted") } }
      const end = await Effect.runPromise(Effect.scoped(Effect.gen(function*() {
        const { fetch } = yield* Embed.Routes
        const app = appOf({ fetch })
        assert.strictEqual((yield* Effect.promise(() => post(app, "ada"))).status, 200)
        const headers = { authorization, accept: "text/event-stream" }
        const stream = yield* Effect.promise(async () => app.request("/v1/spaces/home/cells/data/greetings/ada", { headers }))
        assert.strictEqual(stream.status, 200)
        const reader = stream.body!.getReader()
        yield* Effect.promise(() => reader.read())
        assert.strictEqual(seen.closed, 0)
        return async () => {
          for (let part = await reader.read(); !part.done; part = await reader.read());
          return "ended"
        }
      }).pipe(Effect.provide(Embed.layer(options)))))
      assert.deepStrictEqual([await end(), seen.closed], ["ended", 1])
      const again = await Effect.runPromise(Effect.provide(Effect.flatMap(Kernel, (kernel) => kernel.space("home")), Embed.layer(options)))
      assert.strictEqual(again.name, "home")
    }))

  it("is closed once, and by the end of its block", () =>
    inFolder(async (data) => {
      const seen = { closed: 0 }
      {
        await using systole = await Embed.open({ modules: [counted(seen)], config: { ...config(data), ...channels("counted") } })
        await Promise.all([systole.close(), systole.close()])
      }
      assert.strictEqual(seen.closed, 1)
    }))

  it("answers a request after its end with 503", () =>
    inFolder(async (data) => {
      const { close, fetch } = await Embed.open({ modules: [greet], config: config(data) })
      await close()
      const answer = await fetch(new Request("http://localhost/v1/spaces/home/cells/data/a", { headers: { authorization } }))
      assert.deepStrictEqual([answer.status, (await answer.json() as { readonly code: string }).code], [503, "runtime/closed"])
    }))

  it("ends a request in progress whose client sends nothing more with 503", () =>
    inFolder(async (data) => {
      const { close, fetch } = await Embed.open({ modules: [greet], config: config(data) })
      let begun = (): void => {}
      const reading = new Promise<void>((resolve) => begun = resolve)
      const body = new ReadableStream({ pull: () => new Promise<void>(begun) }, { highWaterMark: 0 })
      const init = { method: "PUT", headers: { authorization }, body, duplex: "half" }
      const asked = fetch(new Request("http://localhost/v1/spaces/home/blobs", init))
      await reading
      await close()
      const answer = await asked
      assert.deepStrictEqual([answer.status, (await answer.json() as { readonly code: string }).code], [503, "runtime/closed"])
    }))

  it("counts callers without an address as one", () =>
    inFolder(async (data) => {
      const access = { public: ["GET /v1/spaces/home/cells/data/menu/**"], rates: { address: { requests: 3, seconds: 60 } } }
      await using systole = await Embed.open({ modules: [greet], config: { ...config(data), access } })
      const statuses: Array<number> = []
      for (let n = 0; n < 4; n++) {
        statuses.push((await systole.fetch(new Request("http://localhost/v1/spaces/home/cells/data/menu/tea"))).status)
      }
      assert.deepStrictEqual(statuses.slice(-1), [429])
      const known = await systole.fetch(new Request("http://localhost/v1/spaces/home/cells/data/menu/tea"), () => "1.1.1.1")
      assert.notStrictEqual(known.status, 429)
    }))

  it("takes the report of each worker, however many are refused, where no address and no rate is told", () =>
    inFolder(async (data) => {
      await using systole = await Embed.open({ modules: [greet], config: config(data) })
      const report = async (address?: () => string) => {
        const headers = { authorization: `Rendezvous ${"ab".repeat(16)}`, "content-type": "application/json" }
        const request = new Request("http://localhost/v1/spaces/home/rv/k/report", { method: "POST", headers, body: "{}" })
        return (await systole.fetch(request, address)).status
      }
      for (let n = 0; n <= 60; n++) assert.strictEqual(await report(), 403)
      for (let n = 0; n <= 60; n++) assert.strictEqual(await report(() => "192.0.2.1"), n < 60 ? 403 : 429)
    }))

  it.each(hosts)("ends with its program, whose plugin has its logs and spans, and keeps no timer and no thread: %s", (host: Host) =>
    inFolder(async (data) => {
      const [tool, ...args] = command(host, "test/main/embedded.ts")
      const { code, output } = await run([tool, ...args, data])
      assert.deepStrictEqual([code, output.trim()], [0, "handled 1\ngreets,http.server GET,http.server POST,systole.group"])
    }))
})
