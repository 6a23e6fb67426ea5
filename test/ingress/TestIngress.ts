/**
 * The ingress over a real kernel with a memory store, for tests of its routes.
 *
 * @module
 */
import { Reactor } from "../../src/reactor/Reactor.ts"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { type ContentStore, Enzyme, MemoryStore, type NodeDefinition, Slices } from "systole"
import { Reporter } from "../../src/diagnostic/Reporter.ts"
import * as App from "../../src/ingress/App.ts"
import type { Slice } from "../../src/ingress/route/Slice.ts"
import * as Webhooks from "../../src/ingress/Webhooks.ts"
import { Kernel } from "../../src/kernel/space/Kernel.ts"
import * as Config from "../../src/loader/Config.ts"
import * as Page from "../../src/loader/Page.ts"
import * as HostHash from "../../src/main/host/HostHash.ts"
import * as HostPacemaker from "../../src/main/host/HostPacemaker.ts"
import * as Runtime from "../../src/main/composition/Runtime.ts"
import { CurrentContentStore } from "../../src/persistence/LargeContent.ts"
import { Hash } from "../../src/persistence/Hash.ts"

/** A response with its parsed body. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** The settings of the runtime under test. */
export interface Settings {
  readonly config?: Config.Definition
  readonly enzymes?: ReadonlyArray<Enzyme.Enzyme>
  readonly nodes?: ReadonlyArray<NodeDefinition>
  readonly reactor?: Layer.Layer<Reactor>
  readonly slices?: ReadonlyArray<Slice>
  readonly contents?: ContentStore
  /** The beginnings of signals that plugins reserve. */
  readonly reserved?: ReadonlyArray<string>
  /** Loads the reference, on a host that has it. */
  readonly reference?: App.Options["reference"]
  /** The tokens of the host. */
  readonly tokens?: App.Options["tokens"]
  /** Decides on JSON Web Tokens. */
  readonly bearer?: App.Options["bearer"]
  /** The limits of the rate of requests. */
  readonly rates?: App.Options["rates"]
  /** Whether this is a development server. */
  readonly debug?: boolean
  /** The digests of the host, unless its own. */
  readonly hash?: Layer.Layer<Hash>
  /** The clocks of the host, unless its own. */
  readonly clocks?: HostPacemaker.HostClocks
  /** Holds the fibers of requests, as a runtime does. */
  readonly hold?: App.Options["hold"]
  /** Replaces parts of the kernel. */
  readonly kernel?: (kernel: Kernel["Service"]) => Kernel["Service"]
}

/** Starts the ingress over a real kernel with a memory store, until the scope closes. */
export const serve = (setting: Settings = {}) =>
  Effect.gen(function*() {
    const decoded = yield* Config.decode(setting.config ?? { spaces: { create: "on-demand" } })
    // Without a boot, so that tests can count beats from 0.
    const config = { ...decoded, kernel: { ...decoded.kernel, boot: false, reserved: setting.reserved } }
    const pacemaker = HostPacemaker.layer((run) => void setImmediate(run), setting.clocks)
    const { reactor = Reactor.none, slices = Slices.all } = setting
    const contents = Layer.succeed(CurrentContentStore, setting.contents)
    const runtime = Runtime.layer(config, { slices, persistence: MemoryStore.layer, reactor, pacemaker })
    const hash = setting.hash ?? HostHash.layer
    const context = yield* Layer.build(Layer.fresh(runtime.pipe(Layer.provideMerge(hash), Layer.provide(contents))))
    const kernel = Context.get(context, Kernel)
    for (const enzyme of setting.enzymes ?? []) yield* kernel.register(enzyme, { hash: "f".repeat(64) })
    for (const node of setting.nodes ?? []) yield* kernel.register(node)
    const accidents: Array<unknown> = []
    const closing = new AbortController()
    const services = { slices, kernel: setting.kernel?.(kernel) ?? kernel, hash: Context.get(context, Hash) }
    const app = App.make(services, { token: config.token, loopback: true, reporter: new Reporter(
      ({ cause }) => accidents.push(cause)
    ), closing: closing.signal, pages: Page.withTexts(config.pages, String), webhooks: (parts) => Webhooks.make(config.ingress, parts),
      readers: config.readers, debug: setting.debug, tokens: setting.tokens, bearer: setting.bearer, rates: setting.rates,
      hold: setting.hold, origins: config.origins, public: config.access.public,
      reference: setting.reference })
    const fetch = async (path: string, init?: RequestInit): Promise<Response> => app.fetch(new Request(`http://localhost${path}`, init))
    const ask = async (path: string, init?: RequestInit): Promise<Answer> => {
      const response = await fetch(path, init)
      const text = await response.text()
      const isJson = response.headers.get("content-type")?.includes("json") === true
      return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
    }
    const send = (method: string) => (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
      ask(path, { method, body: JSON.stringify(body), headers: { "content-type": "application/json", ...headers } })
    return { kernel, accidents, close: () => closing.abort(), app, fetch, ask, post: send("POST"), put: send("PUT") }
  })

/** A running ingress. */
export type TestIngress = Effect.Success<ReturnType<typeof serve>>

const count = Enzyme.make({
  name: "count",
  query: "/signals/count",
  run: (tx, event) => {
    tx.increment("/data/count")
    return { seen: event.payload ?? null }
  }
})
const broken = Enzyme.make({
  name: "broken",
  query: "/signals/broken",
  run: () => {
    throw new Error("no luck")
  }
})

/** An enzyme that counts its signals, and one that fails. */
export const enzymes = [count, broken]

/** The path to post signals to. */
export const signals = "/v1/spaces/shop/signals"

/** A signal for the counting enzyme. */
export const signal = { signal: "/signals/count", payload: 1 }

/** Asserts that an answer is a problem, and returns its status and code. */
export const problem = (answer: Answer) => {
  const { code, status } = answer.body as { readonly code: string; readonly status: number }
  assert.strictEqual(answer.headers.get("content-type"), "application/problem+json")
  assert.strictEqual(answer.status, status)
  return [status, code]
}

/** Defines a test over a running ingress. */
export const test = (name: string, run: (app: TestIngress) => Promise<void>) =>
  it.live(name, () => Effect.flatMap(serve({ enzymes }), (app) => Effect.promise(() => run(app))))
