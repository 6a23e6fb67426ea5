import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import process from "node:process"
import * as Random from "../support/Random.ts"
import * as EndpointFuzz from "./EndpointFuzz.ts"
import { enzymes, serve, signal, signals } from "./TestIngress.ts"

/** The seed, and the requests to each endpoint: `npm run fuzz` gives others. */
const SEED = Number(process.env["FUZZ_SEED"] ?? 1)
const REQUESTS = Number(process.env["FUZZ_REQUESTS"] ?? 25)

/** Endpoints whose requests end the space of the others. */
const LATER = ["DELETE /v1/spaces/:space", "POST /v1/spaces/:space/control/shutdown"]

describe("Each endpoint", () => {
  it.live("answers random requests of its own schemas as its contract says", () =>
    Effect.flatMap(serve({ enzymes, debug: true }), ({ accidents, app, fetch, post }) =>
      Effect.promise(async () => {
        await post(signals, signal, { prefer: "wait=10" })
        const draw = Random.make(SEED)
        const faults: Array<string> = []
        const taken = new Set<string>()
        const all = app.table.endpoints
        const isLater = ({ method, path }: (typeof all)[number]): boolean => LATER.includes(`${method} ${path}`)
        for (const endpoint of [...all.filter((each) => !isLater(each)), ...all.filter(isLater)]) {
          for (let n = 0; n < REQUESTS; n++) {
            const drawn = EndpointFuzz.request(endpoint, draw)
            const response = await fetch(drawn.path, drawn.init)
            const fault = EndpointFuzz.faultOf(drawn, response, await response.text())
            if (response.status < 400) taken.add(`${endpoint.method} ${endpoint.path}`)
            if (fault !== undefined) faults.push(`${endpoint.method} ${drawn.path} ${JSON.stringify(drawn.init)}: ${fault}`)
          }
        }
        assert.deepStrictEqual(faults, [])
        assert.deepStrictEqual(accidents, [])
        // Requests at random name few records, and are seldom those of a rendezvous or a flow that is there.
        assert.isAbove(taken.size, all.length / 2, `of ${all.length}: ${[...taken].join(", ")}`)
      })), 120_000 + REQUESTS * 1000)
})
