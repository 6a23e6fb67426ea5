import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { type Host, hosts } from "../scripts/Host.ts"
import { terminal } from "./Terminal.ts"

const TOKEN = "the-operators-own-token"

/** A payload that must stay in its space. */
const PAYLOAD = "a-payload-of-this-test"

/** A project with a plugin that sends its telemetry to a collector, and another one that gives a service to the enzyme. */
const projectOf = (collector: string) => ({
  "systole.config.ts": `export default { token: "${TOKEN}", spaces: { create: "on-demand" } }\n`,
  "plugins/otlp.ts": `import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Otlp from "effect/observability/Otlp"
import { Plugin } from "systole"

const collector = Otlp.layerJson({
  baseUrl: "${collector}", resource: { serviceName: "shop" }, loggerMergeWithExisting: false,
  tracerExportInterval: 50, loggerExportInterval: 50, metricsExportInterval: 50
})

export default Plugin.make({
  name: "otlp", version: "1.0.0", provides: {}, telemetry: collector.pipe(Layer.provide(FetchHttpClient.layer))
})
`,
  "lib/Orders.ts": `import * as Context from "effect/Context"
export class Orders extends Context.Service<Orders, { readonly word: string }>()("shop/Orders") {}
`,
  "plugins/orders.ts": `import * as Layer from "effect/Layer"
import { Plugin } from "systole"
import { Orders } from "../lib/Orders.ts"
export default Plugin.make({ name: "orders", version: "1.0.0", services: Layer.succeed(Orders, { word: "places" }) })
`,
  "enzymes/place.ts": `import * as Effect from "effect/Effect"
import { Enzyme } from "systole"
import { Orders } from "../lib/Orders.ts"
export default Enzyme.make({ name: "place", query: "/signals/place", services: [Orders], run: (tx, { payload }) => Effect.gen(function*() {
  yield* Effect.log((yield* Orders).word).pipe(Effect.withSpan("inside"))
  tx.set("/data/placed", payload)
  return yield* Effect.fail(new Error("no luck"))
}) })
`
})

/** A collector of OpenTelemetry, which keeps the bodies of its requests by their paths. */
const collector = Effect.gen(function*() {
  const bodies = new Map<string, string>()
  let changed = (): void => {}
  const server = createServer((request, response) => {
    const { url = "" } = request
    request.setEncoding("utf8").on("data", (part: string) => void bodies.set(url, at(url) + part)).on("end", () => {
      response.end("{}")
      changed()
    })
  })
  const at = (path: string): string => bodies.get(path) ?? ""
  /** Waits for requests until a condition holds. */
  const until = async (ready: () => boolean): Promise<void> => {
    while (!ready()) await new Promise<void>((resolve) => changed = resolve)
  }
  yield* Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
  yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, at, until }
})

describe("A project with plugins for telemetry and services", () => {
  const title = "sends the logs, spans and metrics of its server to a collector, and none of its secrets, on %s"
  it.live.each(hosts)(title, (host: Host) => Effect.gen(function*() {
    const { at, until, url } = yield* collector
    const { serveBy } = yield* terminal(projectOf(url))
    yield* Effect.promise(async () => {
      const server = await serveBy({ host })("start")
      const answer = await fetch(`${server.url}/v1/spaces/shop/signals`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", prefer: "wait=30" },
        body: JSON.stringify({ signal: "/signals/place", payload: PAYLOAD })
      })
      assert.strictEqual(answer.status, 422)
      const spans = ["systole.group", "http.server POST", "inside"]
      await until(() => spans.every((name) => at("/v1/traces").includes(`"name":"${name}"`)))
      await until(() => ["places", "gave up"].every((text) => at("/v1/logs").includes(text)))
      await until(() => ["systole.beats", "systole.dead_letters", "http.server.request.duration"].every((name) =>
        at("/v1/metrics").includes(`"name":"${name}"`)))
      assert.include(at("/v1/logs"), "systole.space")
      for (const path of ["/v1/traces", "/v1/logs", "/v1/metrics"]) {
        for (const secret of [TOKEN, PAYLOAD]) assert.notInclude(at(path), secret, path)
      }
    })
  }))
})
