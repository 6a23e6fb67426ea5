import { assert, describe, it } from "@effect/vitest"
import { createAdaptorServer } from "@hono/node-server"
import { Effect } from "effect"
import { Miniflare } from "miniflare"
import { createServer, type RequestListener, type Server } from "node:http"
import type { Place } from "../client/Journey.ts"
import * as Journeys from "../client/Journeys.ts"
import * as Traveled from "../client/Traveled.ts"
import * as TestIngress from "../ingress/TestIngress.ts"
import { tool } from "../scripts/Host.ts"
import { run } from "../scripts/Process.ts"
import { bundle, modulesOf } from "./Bundle.ts"
import type { Addresses, Report } from "./client.ts"
import { COMPATIBILITY_DATE } from "./Edge.ts"
import { listening } from "./Listening.ts"

/** A program that runs the client once and prints its report. */
const program = (addresses: Addresses): string =>
  `import { run } from "./test/runtime/client.ts"; console.log(JSON.stringify(await run(${JSON.stringify(addresses)})))`

const printed = async (line: readonly [string, ...Array<string>]): Promise<Report> => {
  const { code, output } = await run(line)
  assert.strictEqual(code, 0, output)
  return JSON.parse(output) as Report
}

/** The hosts of clients beside Node. */
const hosts: Readonly<Record<string, (addresses: Addresses) => Promise<Report>>> = {
  Deno: (addresses) => printed([tool("deno"), "eval", "--no-check", "--ext=ts", program(addresses)]),
  Bun: (addresses) => printed([tool("bun"), "-e", program(addresses)]),
  Cloudflare: async (addresses) => {
    const entry = `import { run } from "./test/runtime/client.ts"
export default { fetch: async (request) => Response.json(await run(await request.json())) }`
    const { imports, text } = await bundle(entry)
    assert.deepStrictEqual(imports, [])
    const worker = new Miniflare({ ...modulesOf(text), compatibilityDate: COMPATIBILITY_DATE, cf: false })
    try {
      const answer = await worker.dispatchFetch("http://worker/", { method: "POST", body: JSON.stringify(addresses) })
      const told = await answer.text()
      assert.strictEqual(answer.status, 200, told)
      return JSON.parse(told) as Report
    } finally {
      await worker.dispose()
    }
  }
}

/** Tells a client the address of its server, and changes that. */
const controlOf = (place: Place): RequestListener => (request, response) => {
  const asked = { "/url": place.url, "/again": place.again, "/replace": place.replace }[request.url ?? ""]
  void Promise.resolve(asked?.()).then((told) => response.end(String(told)))
}

describe("The client over real HTTP", () => {
  it.live.each(Object.keys(hosts))("reaches each endpoint, and its stream goes on over restarts of the server: %s", (name) =>
    Effect.gen(function*() {
      const app = yield* TestIngress.serve(Traveled.settings())
      const trips = yield* listening(createAdaptorServer({ fetch: (request) => app.app.fetch(request) }) as Server)
      const control = yield* listening(createServer(controlOf(yield* Journeys.place)))
      const report = yield* Effect.promise(() => hosts[name]!({ trips, control }))
      assert.include(report.host, name)
      Traveled.assertAll(report.trips)
      Journeys.assertWhole(report.journey)
    }))
})
