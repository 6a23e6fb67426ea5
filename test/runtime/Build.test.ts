import { assert, describe, it } from "@effect/vitest"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Webhook as Oracle } from "standardwebhooks"
import { vi } from "vitest"
import * as Inside from "../cli/Inside.ts"
import * as Command from "../scripts/Command.ts"
import { node, root } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"
import * as Edge from "./Edge.ts"

const shop = join(root, "examples", "shop")

/** A copy of the example, and its builds for Workers, which return what they print. */
interface Project {
  readonly folder: string
  readonly build: () => Promise<string>
  /** By the bundled command, in a process of its own. */
  readonly buildByCommand: () => Promise<string>
}

const line = ["build", "--target", "workers", "--out", "out"] as const

/** Uses a copy of the example. */
const built = async (use: (project: Project) => Promise<void>) => {
  await Command.ensure()
  const folder = mkdtempSync(join(tmpdir(), "systole-workers-"))
  try {
    cpSync(shop, folder, { recursive: true, filter: (file) => !/[\\/]\.(?:data|systole)$/.test(file) })
    const succeeded = (code: number | null | undefined, output: string): string => {
      assert.strictEqual(code, 0, output)
      return output
    }
    await use({
      folder,
      build: async () => {
        const { code, stderr, stdout } = await Inside.run(folder, line)
        return succeeded(code, stdout + stderr)
      },
      buildByCommand: async () => {
        const { code, output } = await run([node(), Command.file, ...line], { cwd: folder })
        return succeeded(code, output)
      }
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface BuildFile {
  readonly slices: ReadonlyArray<string>
  readonly modules: Readonly<Record<string, string>>
}

describe("systole build --target workers", () => {
  it("writes a Worker that sells in workerd, by the names and digests of the sources", () =>
    built(async ({ buildByCommand, folder }) => {
      await buildByCommand()
      const out = join(folder, "out")
      const { modules } = JSON.parse(readFileSync(join(out, "build.json"), "utf8")) as BuildFile
      await Edge.running({ folder: out }, async ({ fetch, json, signal }) => {
        const received = { signal: "/signals/goods/receive", target: "/data/products/tea", payload: { price: 4, count: 5 } }
        assert.deepInclude((await signal("shop", received)).body, { status: "handled" })
        assert.deepStrictEqual(await json("/v1/spaces/shop/cells/data/stock?pull"), { tea: 5 })
        const code = await json("/v1/spaces/shop/cells/sys/code/receive_goods")
        assert.deepStrictEqual(code, [`/cas/${modules["enzymes/receive_goods.ts"]}`])
        assert.include(await (await fetch("/")).text(), "<html")
        const refused = await fetch("/v1/spaces/shop/signals", { method: "DELETE" })
        assert.deepStrictEqual([refused.status, refused.headers.get("allow")], [405, "POST"])
        assert.strictEqual((await fetch("/v1/spaces/shop/nothing")).status, 404)
        assert.deepInclude(await json("/v1/spaces/shop/journal/verification"), { first: 0 })
        assert.deepInclude(await json("/v1/spaces/shop/graph"), { next: null })
        assert.deepStrictEqual(await json("/v1/spaces"), { spaces: ["shop"], next: null })
      })
    }))

  it("has the services of its plugins, under the digest of their module, and replays them; a plugin has its logs and spans", () =>
    built(async ({ build, folder }) => {
      const write = (file: string, ...lines: ReadonlyArray<string>) => {
        mkdirSync(dirname(join(folder, file)), { recursive: true })
        writeFileSync(join(folder, file), lines.join("\n"))
      }
      write(
        "lib/Greeting.ts",
        `import * as Context from "effect/Context"`,
        `export class Greeting extends Context.Service<Greeting, { readonly of: (name: string) => string }>()("shop/Greeting") {}`
      )
      write(
        "plugins/greeting.ts",
        `import * as Layer from "effect/Layer"`,
        `import { Plugin } from "systole"`,
        `import { Greeting } from "../lib/Greeting.ts"`,
        "const services = Layer.succeed(Greeting, { of: (name) => `Hello, ${name}` })",
        `export default Plugin.make({ name: "greeting", version: "1.0.0", services })`
      )
      write(
        "enzymes/greet.ts",
        `import * as Effect from "effect/Effect"`,
        `import { Enzyme, Event, Transaction } from "systole"`,
        `import { Greeting } from "../lib/Greeting.ts"`,
        "const greet = (name: string) => Effect.gen(function*() {",
        "  yield* Effect.yieldNow",
        "  const tx = yield* Transaction",
        "  yield* Effect.log(`greets ${name}`)",
        "  tx.set(`/data/greetings/${name}`, [(yield* Greeting).of(name), (yield* Event).signal])",
        "})",
        "const run: Enzyme.Definition[\"run\"] = (_, { params }) => greet(String(params[\"name\"]))",
        `export default Enzyme.make({ name: "greet", query: "/signals/greet/:name", services: [Greeting], run })`
      )
      write(
        "plugins/listener.ts",
        `import * as Layer from "effect/Layer"`,
        `import * as Logger from "effect/Logger"`,
        `import * as Tracer from "effect/Tracer"`,
        `import { Plugin } from "systole"`,
        "const span = (options) => {",
        "  const made = new Tracer.NativeSpan(options)",
        "  const end = made.end.bind(made)",
        "  return Object.assign(made, { end: (time, exit) => { end(time, exit); console.log(`span ${made.name}.`) } })",
        "}",
        "const logger = Logger.make(({ message }) => console.log(`log ${message}.`))",
        "const telemetry = Layer.merge(Layer.succeed(Tracer.Tracer, Tracer.make({ span })), Logger.layer([logger]))",
        `export default Plugin.make({ name: "listener", version: "1.0.0", provides: {}, telemetry })`
      )
      await build()
      const out = join(folder, "out")
      const { modules } = JSON.parse(readFileSync(join(out, "build.json"), "utf8")) as BuildFile
      let output = ""
      const printed = (text: string): void => {
        output += text
      }
      await Edge.running({ folder: out }, async ({ json, signal }) => {
        assert.deepInclude((await signal("shop", { signal: "/signals/greet/ann", payload: {} })).body, { status: "handled" })
        const heard = ["log greets ann.", "span systole.group.", "span http.server POST."]
        await vi.waitUntil(() => heard.every((text) => output.includes(text)), { timeout: 60_000, interval: 20 })
        assert.deepStrictEqual(await json("/v1/spaces/shop/cells/data/greetings/ann"), ["Hello, ann", "/signals/greet/ann"])
        const code = await json("/v1/spaces/shop/cells/sys/code/services/greeting")
        assert.deepStrictEqual(code, [`/cas/${modules["plugins/greeting.ts"]}`])
        const replayed = await json("/v1/spaces/shop/replay") as { readonly difference?: unknown; readonly changed: unknown }
        assert.deepStrictEqual([replayed.difference, replayed.changed], [undefined, []])
      }, { printed })
    }))

  it("has its reference as files beside the Worker, for callers with a token", () =>
    built(async ({ build, folder }) => {
      const config = join(folder, "systole.config.ts")
      const readers = "{ web: { token: [\"a-reader\", \"of-the-web\"].join(\"-\"), clearance: [] } }"
      const fields = `without: ["flows"], labels: { cells: {}, readers: ${readers} },`
      writeFileSync(config, readFileSync(config, "utf8").replace("defineConfig({", `defineConfig({ ${fields}`))
      await build()
      const out = join(folder, "out")
      const bindings = { SYSTOLE_TOKEN_WEB: "a-reader-of-the-web" }
      await Edge.running({ folder: out }, async ({ fetch, miniflare }) => {
        for (const path of ["/openapi.json", "/docs", "/docs.html", "/_headers"]) {
          assert.strictEqual((await miniflare.dispatchFetch(`http://worker${path}`)).status, 401, path)
          const reader = { headers: { authorization: "Bearer a-reader-of-the-web" } }
          assert.strictEqual((await miniflare.dispatchFetch(`http://worker${path}`, reader)).status, 403, path)
        }
        for (const path of ["/docs.html", "/_headers"]) assert.strictEqual((await fetch(path)).status, 404, path)
        const document = await fetch("/openapi.json")
        assert.strictEqual(document.headers.get("cache-control"), "no-cache")
        const { openapi, paths } = await document.json() as { readonly openapi: string; readonly paths: object }
        assert.strictEqual(openapi, "3.1.0")
        assert.property(paths, "/v1/spaces/{space}/rv")
        assert.notProperty(paths, "/v1/spaces/{space}/flows")
        const page = await fetch("/docs")
        assert.strictEqual(page.headers.get("content-type"), "text/html; charset=utf-8")
        assert.include(page.headers.get("content-security-policy"), "default-src 'none'")
        assert.include(await page.text(), "signal/no-match")
      }, { bindings })
      // A build by an earlier version has no such binding.
      rmSync(join(out, "assets"), { recursive: true })
      await Edge.running({ folder: out }, async ({ fetch, json }) => {
        assert.strictEqual((await fetch("/docs")).status, 404)
        assert.include(((await json("/openapi.json")) as { readonly detail: string }).detail, "the folder assets")
      }, { bindings })
    }))

  it("is without the slices that the configuration leaves out, and says how to get them", () =>
    built(async ({ build, folder }) => {
      const config = join(folder, "systole.config.ts")
      const without = "without: [\"rendezvous\", \"flows\", \"history\"],"
      writeFileSync(config, readFileSync(config, "utf8").replace("defineConfig({", `defineConfig({ ${without}`))
      await build()
      const { slices } = JSON.parse(readFileSync(join(folder, "out", "build.json"), "utf8")) as BuildFile
      assert.deepStrictEqual(slices, ["requests", "durable", "archive", "graph", "debug"])
      await Edge.running({ folder: join(folder, "out") }, async ({ fetch, json }) => {
        for (const path of ["/v1/flows", "/v1/spaces/shop/flows", "/v1/spaces/shop/flows/a", "/v1/spaces/shop/replay"]) {
          assert.strictEqual((await fetch(path)).status, 404)
          const { code, detail } = await json(path) as { readonly code: string; readonly detail: string }
          assert.strictEqual(code, "slice/absent")
          assert.include(detail, "out of the field without")
        }
      })
    }))

  it("lists its flows and its enzymes without a space", () =>
    built(async ({ build, folder }) => {
      const flow = `import { Flow } from "systole"
export default Flow.make({ name: "approval", steps: { note: { transform: () => {} } } })
`
      writeFileSync(join(folder, "enzymes", "approval.ts"), flow)
      await build()
      await Edge.running({ folder: join(folder, "out") }, async ({ fetch, json }) => {
        const steps = [{ step: "note", kind: "transform", goals: ["done"] }]
        assert.deepStrictEqual(await json("/v1/flows"), { flows: [{ name: "approval", steps }], next: null })
        assert.include((await json("/v1/enzymes")).enzymes.map(({ name }: { readonly name: string }) => name), "approval")
        assert.strictEqual((await fetch("/v1/flows", { method: "POST" })).headers.get("allow"), "GET")
        for (const path of ["/v1/flows/", "/v1/spaces/", "/v1/session/"]) assert.strictEqual((await fetch(path)).status, 404, path)
        assert.deepStrictEqual(await json("/v1/spaces"), { spaces: [], next: null })
      })
    }))

  it("refuses each request without its token, and with an invalid one", () =>
    built(async ({ build, folder }) => {
      await build()
      const status = (bindings: Readonly<Record<string, string>>) =>
        Edge.running({ folder: join(folder, "out") }, async ({ miniflare }) =>
          (await miniflare.dispatchFetch("http://worker/v1/spaces")).status, { bindings })
      assert.strictEqual(await status({ SYSTOLE_TOKEN: "another-token-for-tests" }), 401)
      assert.strictEqual(await status({ SYSTOLE_TOKEN: "too short" }), 500)
    }))

  it("takes the tokens of readers from the secrets of its environment, and contains none", () =>
    built(async ({ build, folder }) => {
      const file = join(folder, "systole.config.ts")
      const own = "of-the-project"
      // A token in a text of the project refuses the build, so these are computed.
      const settings = `token: ["a-token-of", "the-project"].join("-"), labels: { cells: { "/data/orders/**": ["staff"] },
        readers: { web: { token: ["another-token-of", "the-project"].join("-"), clearance: [] } } },`
      writeFileSync(file, readFileSync(file, "utf8").replace("defineConfig({", `defineConfig({ ${settings}`))
      await build()
      const out = join(folder, "out")
      const texts = readdirSync(out, { recursive: true, encoding: "utf8" }).filter((name) => statSync(join(out, name)).isFile())
      assert.include(texts, "worker.js")
      for (const name of texts) assert.notInclude(readFileSync(join(out, name), "utf8"), own, name)
      const secret = "a-secret-of-the-environment"
      const statuses = (token: string) => ({ miniflare }: Edge.Edge) =>
        Promise.all(["products/tea", "orders/1"].map(async (cell) => {
          const headers = { authorization: `Bearer ${token}` }
          return (await miniflare.dispatchFetch(`http://worker/v1/spaces/shop/cells/data/${cell}`, { headers })).status
        }))
      await Edge.running({ folder: out }, async (edge) => {
        const received = { signal: "/signals/goods/receive", target: "/data/products/tea", payload: { price: 4, count: 5 } }
        assert.deepInclude((await edge.signal("shop", received)).body, { status: "handled" })
        assert.deepStrictEqual(await statuses(secret)(edge), [200, 403])
        for (const token of [`a-token-${own}`, `another-token-${own}`]) assert.deepStrictEqual(await statuses(token)(edge), [401, 401])
      }, { bindings: { SYSTOLE_TOKEN_WEB: secret } })
      assert.deepStrictEqual(await Edge.running({ folder: out }, statuses(secret)), [500, 500])
    }))

  it("takes webhooks, whose secrets are variables of the Worker", () =>
    built(async ({ build, folder }) => {
      const file = join(folder, "systole.config.ts")
      const hook = "ingress: { \"/hooks/goods\": webhook({ secret: { env: \"GOODS_SECRET\" }, space: \"shop\", " +
        "signal: \"/signals/goods/receive\", target: ({ product }) => `/data/products/${product}`, payload: ({ goods }) => goods }) },"
      const config = readFileSync(file, "utf8").replace("{ defineConfig }", "{ defineConfig, webhook }")
      writeFileSync(file, config.replace("defineConfig({", `defineConfig({ ${hook}`))
      assert.include(await build(), "GOODS_SECRET")
      const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
      await Edge.running({ folder: join(folder, "out") }, async ({ json, miniflare }) => {
        const body = JSON.stringify({ product: "tea", goods: { price: 4, count: 5 } })
        const sent = async (id: string, key: string) => {
          const at = new Date()
          const headers = {
            "webhook-id": id,
            "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
            "webhook-signature": new Oracle(key).sign(id, at, body)
          }
          return (await miniflare.dispatchFetch("http://worker/hooks/goods", { method: "POST", body, headers })).status
        }
        assert.strictEqual(await sent("a", secret), 202)
        assert.strictEqual(await sent("a", secret), 202)
        assert.strictEqual(await sent("b", "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), 401)
        assert.deepStrictEqual(await json("/v1/spaces/shop/cells/data/stock?pull"), { tea: 5 })
      }, { bindings: { GOODS_SECRET: secret } })
    }))

  it("answers without its modules until a space is asked for", () =>
    built(async ({ build, folder }) => {
      const file = join(folder, "enzymes", "receive_goods.ts")
      const fails = "if (globalThis.navigator?.userAgent === \"Cloudflare-Workers\") throw new Error(\"evaluated\")\n"
      writeFileSync(file, readFileSync(file, "utf8") + fails)
      await build()
      await Edge.running({ folder: join(folder, "out") }, async ({ fetch, miniflare }) => {
        assert.strictEqual((await fetch("/livez")).status, 200)
        assert.strictEqual((await miniflare.dispatchFetch("http://worker/v1/spaces/shop/cells/data/a")).status, 401)
        assert.strictEqual((await fetch("/v1/spaces/shop/cells/data/a")).status, 503)
        assert.strictEqual((await fetch("/v1/spaces")).status, 500)
      })
    }))

  it("leaves an existing wrangler.jsonc as it is, and prints the lines to add", () =>
    built(async ({ build, folder }) => {
      assert.notInclude(await build(), "is there already")
      assert.notInclude(await build(), "is there already")
      const file = join(folder, "out", "wrangler.jsonc")
      assert.include(readFileSync(file, "utf8"), "\"compatibility_flags\": [\"nodejs_als\"]")
      const mine = "{ \"name\": \"mine\", \"main\":\"worker.js\", \"compatibility_flags\": [\"nodejs_compat\"] } // mine"
      writeFileSync(file, mine)
      const output = await build()
      assert.notInclude(output, "nodejs_als")
      assert.include(output, "wrangler.jsonc is there already and stays. Add to it:")
      assert.include(output, "\"new_sqlite_classes\"")
      assert.notInclude(output, "\"main\"")
      assert.strictEqual(readFileSync(file, "utf8"), mine)
    }))

  it("opens no space without the flag that a build writes into its configuration, and asks for it there", () =>
    built(async ({ build, folder }) => {
      await build()
      await Edge.running({ folder: join(folder, "out") }, async ({ fetch }) => {
        const paths = ["/livez", "/readyz", "/v1/spaces/shop/cells/data/stock"]
        const statuses = await Promise.all(paths.map(async (path) => (await fetch(path)).status))
        assert.deepStrictEqual(statuses, [200, 503, 503])
      }, { flags: [] })
      const file = join(folder, "out", "wrangler.jsonc")
      writeFileSync(file, "{}")
      assert.include(await build(), "\"compatibility_flags\": [\"nodejs_als\"]")
    }))

  it("asks for the R2 bucket of the content store", () =>
    built(async ({ build, folder }) => {
      const config = join(folder, "systole.config.ts")
      const content = "content: { use: \"bucket\", options: { binding: \"CONTENT\" } },"
      writeFileSync(config, readFileSync(config, "utf8").replace("defineConfig({", `defineConfig({ ${content}`))
      await build()
      const file = join(folder, "out", "wrangler.jsonc")
      const bucket = /"r2_buckets": \[{ "binding": "CONTENT", "bucket_name": "[a-z0-9-]+-content" }\]/
      assert.match(readFileSync(file, "utf8"), bucket)
      const { modules } = JSON.parse(readFileSync(join(folder, "out", "build.json"), "utf8")) as BuildFile
      assert.property(modules, "systole/plugins/bucket")
      writeFileSync(file, "{}")
      assert.match(await build(), bucket)
    }))
})
