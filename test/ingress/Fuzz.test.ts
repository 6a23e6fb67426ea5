import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import process from "node:process"
import { TestReactor } from "systole/testing"
import { channels, enzymes, nodes } from "../recorded/HttpModules.ts"
import * as Random from "../support/Random.ts"
import * as EndpointFuzz from "./EndpointFuzz.ts"
import * as FuzzRecords from "./FuzzRecords.ts"
import { serve } from "./TestIngress.ts"

const config = { spaces: { create: "on-demand" }, system: ["rv_init"] } as const

/** The seed, and the requests to each endpoint: `npm run fuzz` gives others. */
const SEED = Number(process.env["FUZZ_SEED"] ?? 1)
const REQUESTS = Number(process.env["FUZZ_REQUESTS"] ?? 25)

/** Endpoints whose requests stop or end the space of the others, the worst last. A held space answers no command. */
const LATER = [/\/control(?:\/|$)/, /\/control\/pause$/, /\/control\/shutdown$/, /\/debug|\/hold$/, /^DELETE \/v1\/spaces\/:space$/]

describe("Each endpoint", () => {
  it.live("answers random requests of its own schemas as its contract says", () =>
    Effect.flatMap(serve({ enzymes, nodes, reactor: new TestReactor(channels).layer, debug: true, config }), (served) =>
      Effect.promise(async () => {
        const { accidents, app, fetch, post } = served
        await post("/v1/spaces/shop/signals", { signal: "/CEP:sig_sys/init" }, { prefer: "wait=10" })
        const draw = Random.make(SEED)
        const faults: Array<string> = []
        const taken = new Set<string>()
        const all = app.table.endpoints
        const turn = ({ method, path }: (typeof all)[number]): number => LATER.findLastIndex((each) => each.test(`${method} ${path}`))
        let known = await FuzzRecords.make(served, 0)
        for (const [i, endpoint] of all.toSorted((a, b) => turn(a) - turn(b)).entries()) {
          // A request may end the record that it names.
          if (turn(endpoint) < 0 && endpoint.method === "POST" && endpoint.path.split(":").length > 2) {
            known = await FuzzRecords.make(served, i + 1)
          }
          for (let n = 0; n < REQUESTS; n++) {
            const drawn = EndpointFuzz.request(endpoint, { draw, known })
            const response = await fetch(drawn.path, drawn.init)
            const fault = EndpointFuzz.faultOf(drawn, response, await response.text())
            if (response.status < 400) taken.add(`${endpoint.method} ${endpoint.path}`)
            if (fault !== undefined) faults.push(`${endpoint.method} ${drawn.path} ${JSON.stringify(drawn.init)}: ${fault}`)
          }
        }
        assert.deepStrictEqual(faults, [])
        assert.deepStrictEqual(accidents, [])
        // The others take a record in one of its states.
        assert.isAtLeast(taken.size, 0.85 * all.length, `of ${all.length}: ${[...taken].join(", ")}`)
      })), 120_000 + REQUESTS * 1000)
})
